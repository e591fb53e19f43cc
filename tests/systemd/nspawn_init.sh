#!/bin/sh
# The first program of the container: puts the SIMULATED GPU of /mnt/rig (tests/rig) at the standard
# paths, then becomes systemd.
set -eu
# PrivateNetwork= gives the service a new /sys and takes only what is mounted below along. Overlays
# keep the rest of each folder.
for folder in /mnt/rig/sys/*; do
  name=${folder##*/}
  [ "$name" != kernel ] || continue
  mount -t overlay gputrace-rig -o "ro,lowerdir=$folder:/sys/$name" "/sys/$name"
done
if [ -d /mnt/rig/sys/kernel/debug ]; then
  mount --bind /mnt/rig/sys/kernel/debug /sys/kernel/debug
fi
mkdir -p /dev/dri
mount --bind /mnt/rig/dev/dri /dev/dri
exec /lib/systemd/systemd
