#!/bin/sh
# Runs a command where a SIMULATED GPU stands at the standard paths (/sys/class/drm/...,
# /dev/dri/renderD128, /sys/kernel/debug/dri/1): in a mount namespace of its own, so nothing outside
# sees it and nothing is left behind. Exits with the command's status; 77 (skipped), with the
# reason, where that is not possible.
#
#   with_gpu.sh RIG [RIG OPTIONS] -- COMMAND [ARGUMENTS]
#
# RIG is the gputrace-rig executable. The command finds the rig's folder in $GPUTRACE_RIG.
set -u

skip() {
  echo "with_gpu.sh: skipped: $*" >&2
  exit 77
}

if [ "${GPUTRACE_RIG_INSIDE:-}" != yes ]; then
  [ $# -ge 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
  [ "$(id -u)" = 0 ] || skip "a mount namespace needs root"
  [ -w /dev/fuse ] || skip "/dev/fuse is not there or not writable"
  command -v unshare >/dev/null || skip "unshare (util-linux) is not installed"
  unshare -m true 2>/dev/null || skip "unshare -m is not permitted here"
  GPUTRACE_RIG_INSIDE=yes exec unshare -m --propagation private -- "$0" "$@"
fi
unset GPUTRACE_RIG_INSIDE

rig=$1
shift
options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options="$options $1"
  shift
done
[ $# -ge 2 ] || { echo "with_gpu.sh: no command after --" >&2; exit 2; }
shift

# A tmpfs for the rig's folder: it goes with the namespace, however this script ends.
mount -t tmpfs gputrace-rig /mnt || skip "cannot mount a tmpfs"
mkdir /mnt/rig
mkfifo /mnt/ready
# shellcheck disable=SC2086  # options are words without spaces
"$rig" --mount /mnt/rig --die-with-parent $options >/mnt/ready &
server=$!
trap 'kill $server 2>/dev/null; wait $server' EXIT
read -r word </mnt/ready
[ "$word" = ready ] || skip "the rig did not start"

# Overlays keep the rest of /sys and /dev as it is; mounts below them have to be put back.
overlay() { # /sys or /dev
  mkdir "/mnt$1.old"
  mount --rbind "$1" "/mnt$1.old" || skip "cannot bind $1"
  mount -t overlay gputrace-rig -o "ro,lowerdir=/mnt/rig$1:$1" "$1" ||
    skip "cannot put an overlay on $1"
  for below in $2; do
    if [ -d "/mnt$1.old/$below" ] && [ -d "$1/$below" ]; then
      mount --rbind "/mnt$1.old/$below" "$1/$below" || skip "cannot bind $1/$below"
    fi
  done
}
overlay /sys "fs/cgroup"
overlay /dev "pts shm"
# An overlay passes no driver's ioctl on.
mount --bind /mnt/rig/dev/dri /dev/dri || skip "cannot bind /dev/dri"
mount --bind /mnt/rig/sys/kernel/debug /sys/kernel/debug || skip "cannot bind /sys/kernel/debug"

GPUTRACE_RIG=/mnt/rig "$@"
