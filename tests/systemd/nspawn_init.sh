#!/bin/sh
# The first program of the container: puts the SIMULATED GPU of /mnt/rig (tests/rig) at the standard
# paths, then becomes systemd.
set -eu
# An overlay keeps the rest of /sys; mounts below it have to be put back.
mkdir -p /mnt/sys
mount --rbind /sys /mnt/sys
mount -t overlay gputrace-rig -o ro,lowerdir=/mnt/rig/sys:/mnt/sys /sys
mount --rbind /mnt/sys/fs/cgroup /sys/fs/cgroup
umount -lR /mnt/sys  # systemd does not start where the control groups are mounted twice
mkdir -p /dev/dri
mount --bind /mnt/rig/dev/dri /dev/dri
exec /lib/systemd/systemd
