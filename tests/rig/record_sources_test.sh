#!/bin/sh
# `gputrace record` as root, with debugfs and the register BAR at their standard paths: what the
# kernel's ioctl refuses is recorded, and where it cannot be the reason is told.
# Usage: record_sources_test.sh WITH_GPU RIG GPUTRACE
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu rx7600 --scenario idle -- "$0" --inside "$3"
fi
gputrace=$2
. "$(dirname "$0")/checks.sh"

counter() { # NAME
  sed -n "s/^$1=//p" "$control"
}

# NAME ROUNDS OPTIONS...: records until the rig has seen so many reads more through the ioctl.
record() {
  name=$1
  rounds=$2
  shift 2
  "$gputrace" record --no-daemon -o "$folder/$name" "$@" -- sh -c '
    reads() { sed -n "s/^register_reads=//p" "$0"; }
    end=$(($(reads) + $1)); until [ "$(reads)" -gt "$end" ]; do :; done' "$control" "$rounds" \
    2>"$folder/$name.err"
  check "exit status of $name" 0 $?
  "$gputrace" report "$folder/$name" --json >"$folder/$name.json" 2>>"$folder/$name.err"
}

source_of() { # NAME REGISTER
  sed -n "/\"name\": \"$2\"/{n;s/.*\"source\": \"\([^\"]*\)\".*/\1/p}" "$folder/$1.json"
}

record auto 200 --source auto
check "source of GRBM_STATUS3" "debugfs regs2" "$(source_of auto GRBM_STATUS3)"
check "source of GRBM_STATUS" "drm ioctl" "$(source_of auto GRBM_STATUS)"

record drm 200 --source drm
check "GRBM_STATUS3 through the ioctl" "" "$(source_of drm GRBM_STATUS3)"

record debugfs 200 --source debugfs
check "source of GRBM_STATUS" "debugfs regs2" "$(source_of debugfs GRBM_STATUS)"

record bar 200 --source bar
check "source of GRBM_STATUS3" "bar" "$(source_of bar GRBM_STATUS3)"

# GFX loses its power between any two ticks.
echo gfx_off=1 >"$control"
downs=$(counter power_downs)
record idle 12 --source auto --rate 4
check "source of GRBM_STATUS3 with GFXOFF" "debugfs regs2" "$(source_of idle GRBM_STATUS3)"
check "reads without their guard" 0 "$(counter unguarded_reads)"
[ "$(counter power_downs)" -gt "$downs" ]
check "GFX lost its power" 0 $?
echo gfx_off=0 >"$control"

echo debugfs_errno=1 >"$control"
record locked 200 --source auto
check "source of GRBM_STATUS3 under lockdown" "bar" "$(source_of locked GRBM_STATUS3)"

echo bar_all_ones=1 >"$control"
record nothing 200 --source auto
check "GRBM_STATUS3 without a way to it" "" "$(source_of nothing GRBM_STATUS3)"
contains "what is lost" "$folder/nothing.err" "GRBM_STATUS3"
contains "why it is lost" "$folder/nothing.err" "Operation not permitted"
"$gputrace" record --no-daemon -o "$folder/explicit" --source debugfs -- true \
  2>"$folder/explicit.err"
check "exit status when an explicit source cannot be had" 1 $?
contains "an explicit source" "$folder/explicit.err" "source debugfs"

check "writes to registers" 0 "$(counter writes_attempted)"
check "wakes" 0 "$(counter touched_while_suspended)"

exit "$failures"
