#!/bin/sh
# `gputrace record` on a render node that fails: the command's exit status always comes through, and
# the session says what happened. Usage: record_faults_test.sh WITH_GPU RIG GPUTRACE
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu rx7600 --scenario idle -- "$0" --inside "$3"
fi
gputrace=$2
. "$(dirname "$0")/checks.sh"

record() { # NAME COMMAND: records `sh -c COMMAND` with the control file as $0
  "$gputrace" record -o "$folder/$1" -- sh -c "$2" "$control" 2>"$folder/$1.err"
}

report() { # NAME
  "$gputrace" report "$folder/$1" --json >"$folder/$1.json" 2>>"$folder/$1.err"
}

# Loops until the rig has seen what it shall: the command sleeps for no fixed time.
until_above='above() { [ "$(sed -n "s/^$1=//p" "$0")" -gt "$2" ]; };'

record good "$until_above until above register_reads 200; do :; done; exit 3"
check "status beside a healthy GPU" 3 $?
report good
# On a busy machine a guarded read may come too late: guard_late.
lacks "healthy GPU" "$folder/good.json" '"\(all_ones\|reset\|read_error\|lost\)":'

record reset "$until_above echo read_errno=2 >\$0; until above failed_register_reads 100; do :; done
  echo read_errno=0 >\$0; exit 4"
check "status during a reset" 4 $?
report reset
contains "reset" "$folder/reset.json" '"reset":'

record hung "$until_above echo hold_reads=1 >\$0; until above held 0; do :; done; exit 7"
check "status while a read hangs" 7 $?
# It never returns by itself: that gputrace has ended means that it did not wait.
check "the read that hangs when gputrace has ended" 1 "$(sed -n 's/^hold_reads=//p' "$control")"
lacks "the file beside a read that hangs" "$folder/hung.err" "has not closed"
echo hold_reads=0 >"$control"
report hung
contains "session beside a read that hangs" "$folder/hung.json" '"exit_code": 7'

# The event is in the file at most 2 s later.
export gputrace
record gone "echo unplugged=1 >\$0
  until \$gputrace sql \$folder/gone 'SELECT kind FROM events' | grep -q lost; do :; done; exit 5"
check "status after an unplug" 5 $?
echo unplugged=0 >"$control"
report gone
contains "session of an unplugged GPU" "$folder/gone.json" '"exit_code": 5'
contains "an unplugged GPU" "$folder/gone.err" "was unplugged"
check "times that an unplug is told" 1 "$(grep -o 'was unplugged' "$folder/gone.err" | wc -l)"

# The node cannot be opened when the GPU wakes; then it can.
touched=$(sed -n 's/^ioctls=//p' "$control")
opened=$(sed -n 's/^opens=//p' "$control")
echo suspended=1 >"$control"
echo open_errno=13 >"$control"
record woken "
  kinds() { \$gputrace sql \$folder/woken 'SELECT kind FROM events'; }
  until kinds | grep -q runtime_suspend; do :; done
  grep '^ioctls=\|^opens=' \$0 >\$folder/slept
  echo suspended=0 >\$0
  until kinds | grep -q device_gone; do :; done
  echo open_errno=0 >\$0
  until kinds | grep -q device_back; do :; done; exit 6"
check "status when the GPU sleeps" 6 $?
check "calls on a sleeping GPU" "ioctls=$touched" "$(grep ioctls "$folder/slept")"
check "opens of a sleeping GPU" "opens=$opened" "$(grep opens "$folder/slept")"
contains "a GPU that woke and cannot be opened" "$folder/woken.err" "the GPU woke up and cannot be recorded"

echo open_errno=13 >"$control"
record denied "exit 6"
check "status without permission" 1 $?
contains "no permission" "$folder/denied.err" "/dev/dri/renderD128"
contains "no permission" "$folder/denied.err" "group"
echo open_errno=0 >"$control"

exit "$failures"
