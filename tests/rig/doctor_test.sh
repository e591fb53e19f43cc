#!/bin/sh
# `gputrace doctor` on a simulated render node: awake, asleep, refused and hanging.
# Usage: doctor_test.sh WITH_GPU RIG GPUTRACE
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --scenario idle -- "$0" --inside "$3"
fi
gputrace=$2
. "$(dirname "$0")/checks.sh"

contains() { # WORDS: in the last output
  if ! grep -q -- "$1" "$folder/out"; then
    echo "FAILED: '$1' is not in:" >&2
    cat "$folder/out" >&2
    failures=$((failures + 1))
  fi
}

doctor() { # WHAT STATUS OPTIONS...
  what=$1
  status=$2
  shift 2
  "$gputrace" doctor "$@" >"$folder/out" 2>&1
  check "exit status of doctor, $what" "$status" $?
}

ioctls() {
  sed -n 's/^ioctls=//p' "$control"
}

doctor awake 0
contains "^The GPU can be recorded, with registers"
contains "^  ok  *drm ioctl  *GRBM_STATUS, GRBM_STATUS2"
contains "^  ok  *debugfs regs2  *GRBM_STATUS3"
contains "^  ok  *bar  *GRBM_STATUS3"
contains "^  ok  *gpu_metrics "
contains "^  ok  *hwmon amdgpu power1_average  *package_power [0-9]"
doctor "awake, as JSON" 0 --json --gpu renderD128
contains '"schema": "gputrace.doctor/1"'
contains '"can_record": true'

echo suspended=1 >"$control"
touched=$(ioctls)
doctor asleep 0
contains "^The GPU can be recorded, with registers. GPU 0 sleeps"
contains "^  asleep  *power  *suspended: nothing of the device was"
contains "Vulkan opens every GPU, and$"
check "calls on a sleeping GPU" "$touched" "$(ioctls)"
echo suspended=0 >"$control"

echo open_errno=13 >"$control"
doctor "without permission" 1
contains "cannot open /dev/dri/renderD128:$"
echo open_errno=0 >"$control"

echo hold_reads=1 >"$control"
doctor "of a driver that hangs" 1
contains "^  broken  *examination  *no answer within 10 s"
contains "^Vulkan"
echo hold_reads=0 >"$control"

doctor "afterwards" 0
exit $((failures > 0))
