#!/bin/sh
# with_gpu.sh and gputrace-rig: the GPU stands at the standard paths inside, nothing is left outside,
# and the command's exit status comes through. Usage: with_gpu_test.sh WITH_GPU RIG
set -u
with_gpu=$1
rig=$2
failures=0

check() { # WHAT WANTED GOT
  if [ "$2" != "$3" ]; then
    echo "FAILED: $1: wanted '$2', got '$3'" >&2
    failures=$((failures + 1))
  fi
}

out=$("$with_gpu" "$rig" --gpu rx7600 --scenario idle -- sh -c '
  echo $(basename "$(readlink /sys/class/drm/card1/device/driver)")
  cat /sys/class/drm/card1/device/vendor /sys/class/drm/card1/device/power/runtime_status
  echo suspended=1 > "$GPUTRACE_RIG/control"
  cat /sys/class/drm/card1/device/power/runtime_status
  exec 3<>/dev/dri/renderD128 && echo opened
  grep touched "$GPUTRACE_RIG/control"
  echo x > /dev/null && [ -e /sys/kernel ] && [ -c /dev/tty ] && echo rest-is-there
  exit 23')
status=$?
[ "$status" = 77 ] && exit 77
check "exit status" 23 "$status"
check "what the command saw" "amdgpu
0x1002
active
suspended
opened
touched_while_suspended=1
rest-is-there" "$out"
check "mounts left" 0 "$(grep -cE ' (/mnt|/sys|/dev) .*gputrace-rig|^gputrace-rig (/mnt|/sys|/dev) ' /proc/self/mounts)"

"$rig" --mount /nowhere/at/all >/dev/null 2>&1
check "a folder that is not there" 1 "$?"
"$rig" --gpu no-such-gpu --mount /tmp >/dev/null 2>&1
check "a GPU that is not there" 2 "$?"
"$rig" >/dev/null 2>&1
check "no folder" 2 "$?"
check "help names the switch for faults" 1 "$("$rig" --help | grep -c 'SWITCH=NUMBER')"

exit "$failures"
