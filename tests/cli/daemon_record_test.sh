#!/bin/bash
# `gputrace record` through the real gputraced, by users who are not root, on the simulated render
# node. Usage: daemon_record_test.sh WITH_GPU RIG GPUTRACE GPUTRACED
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu rx7600 --scenario idle -- "$0" --inside "$3" "$4"
fi
gputrace=$2
gputraced=$3
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$folder"' EXIT
failures=0
export GPUTRACE_SOCKET=$folder/socket

skip() {
  echo "daemon_record_test.sh: skipped: $*" >&2
  exit 77
}
# Any group that nobody needs for anything here.
group=$(getent group games | cut -d: -f3)
[ -n "$group" ] || skip "there is no group 'games'"
command -v setpriv >/dev/null || skip "setpriv (util-linux) is not installed"
setpriv --reuid=1001 --regid=1001 --clear-groups "$gputrace" --version >/dev/null 2>&1 ||
  skip "another user cannot execute $gputrace"

check() { # WHAT WANTED GOT
  if [ "$2" != "$3" ]; then
    echo "FAILED: $1: wanted '$2', got '$3'" >&2
    failures=$((failures + 1))
  fi
}
contains() { # WHAT FILE WORDS
  if ! grep -q -- "$3" "$2"; then
    echo "FAILED: $1: '$3' is not in:" >&2
    cat "$2" >&2
    failures=$((failures + 1))
  fi
}

# as USER [--stranger] COMMAND...: a user with a home, in the group unless a stranger.
as() {
  local user=$1 groups=--groups=$group
  shift
  if [ "$1" = --stranger ]; then
    groups=--clear-groups
    shift
  fi
  HOME=$folder/$user XDG_DATA_HOME=$folder/$user \
    exec setpriv --reuid="$user" --regid="$user" "$groups" "$@"
}
for user in 1001 1002 1003; do
  mkdir "$folder/$user"
  chown "$user:$user" "$folder/$user"
  mkfifo -m 666 "$folder/end$user"
done
export folder gputrace

printf '[daemon]\ngroup = "games"\n' >"$folder/gputraced.toml"
start_daemon() {
  "$gputraced" --foreground --config "$folder/gputraced.toml" --socket "$folder/socket" \
    --data-dir "$folder/data" 2>>"$folder/log" &
  daemon=$!
  until "$gputrace" status >"$folder/status" 2>&1; do
    if ! kill -0 "$daemon" 2>/dev/null; then
      echo "FAILED: gputraced did not start:" >&2
      cat "$folder/log" >&2
      exit 1
    fi
  done
}
until_started() { # USER: until its command runs
  until [ -e "$folder/$1/started" ]; do
    kill -0 "$daemon" || exit 1
  done
  rm "$folder/$1/started"
}
until_recordings() { # COUNT
  until "$gputrace" status --json | grep -q "\"recordings\": $1,"; do
    kill -0 "$daemon" || exit 1
  done
}
start_daemon

# Two users, one GPU, one loop: at the higher rate, each with a file of its own.
(as 1001 "$gputrace" record --rate 100 -o "$folder/1001/a.gputrace" -- \
  sh -c '>$folder/1001/started; read -r line <$folder/end1001; $gputrace mark "boss fight" >$folder/1001/mark; exit 3') \
  2>"$folder/1001.err" &
first=$!
until_started 1001
(as 1002 "$gputrace" record --rate 400 -- sh -c '>$folder/1002/started; read -r line <$folder/end1002; exit 4') \
  2>"$folder/1002.err" &
second=$!
until_started 1002
until "$gputrace" status | grep -q "sampling at 400 Hz for 2 sessions"; do
  kill -0 "$daemon" || exit 1
done
echo >"$folder/end1002"
wait $second
check "status of the second user's command" 4 $?
echo >"$folder/end1001"
wait $first
check "status of the first user's command" 3 $?
contains "what is told at once" "$folder/1001.err" "recording through gputraced"
contains "what the daemon adds" "$folder/1001.err" "through gputraced: GRBM_STATUS3 too"
contains "the rate got" "$folder/1001.err" "sampled at 400 Hz instead of 100"
contains "a mark" "$folder/1001/mark" "marked 1 recording"
(as 1001 "$gputrace" sql "$folder/1001/a.gputrace" "SELECT kind, text FROM events") >"$folder/events"
contains "the mark in the file" "$folder/events" "boss fight"
check "owner and mode of the file" "1001 600" "$(stat -c '%u %a' "$folder/1001/a.gputrace")"
(as 1001 "$gputrace" report --json "$folder/1001/a.gputrace") >"$folder/report.json"
contains "report" "$folder/report.json" '"GL2CC_BUSY"'
contains "report" "$folder/report.json" '"exit_code": 3'
# Without a name the newest session is the user's own.
(as 1002 "$gputrace" report --json) >"$folder/report.json"
contains "report of the second user" "$folder/report.json" '"exit_code": 4'
check "what the daemon keeps" "" "$(find "$folder/data/sessions" -name '*.gputrace')"

# Not in the group: one line says so, and the recording is without the daemon.
(as 1003 --stranger "$gputrace" record -o "$folder/1003/a.gputrace" -- sh -c 'exit 5') \
  2>"$folder/1003.err"
check "status of a stranger's command" 5 $?
contains "a stranger" "$folder/1003.err" "it serves the group 'games'"
contains "a stranger" "$folder/1003.err" "written to $folder/1003/a.gputrace"
(as 1003 --stranger "$gputrace" mark x) 2>"$folder/1003.err"
check "status of a stranger's mark" 1 $?
(as 1002 "$gputrace" mark x) 2>"$folder/1002.err"
check "status of a mark without a recording" 1 $?

# The daemon is killed in mid-recording: the command goes on, and the file ends there.
(as 1001 "$gputrace" record -o "$folder/1001/cut.gputrace" -- \
  sh -c '>$folder/1001/started; read -r line <$folder/end1001; exit 6') 2>"$folder/1001.err" &
first=$!
until_started 1001
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
start_daemon
echo >"$folder/end1001"
wait $first
check "status when the daemon was killed" 6 $?
contains "the killed daemon" "$folder/1001.err" "gputraced ended while it recorded"
contains "the killed daemon" "$folder/1001.err" "written to $folder/1001/cut.gputrace"
(as 1001 "$gputrace" report --json "$folder/1001/cut.gputrace") >"$folder/report.json"
check "status of the report of what was cut" 0 $?

# gputrace itself is killed: the daemon finishes the file and keeps it until it is fetched.
(as 1002 "$gputrace" record -- sh -c '>$folder/1002/started; read -r line <$folder/end1002') 2>"$folder/1002.err" &
second=$!
until_started 1002
kill -KILL $second
wait $second 2>/dev/null
until_recordings 0
echo >"$folder/end1002"
(as 1002 "$gputrace" list) >"$folder/list"
contains "list of what is kept" "$folder/list" "kept by gputraced; get it with: gputrace fetch sh-"
(as 1001 "$gputrace" list) >"$folder/list"
check "another user's list" "" "$(grep "kept by" "$folder/list")"
(as 1002 "$gputrace" fetch) >"$folder/fetched"
check "status of fetch" 0 $?
contains "fetch" "$folder/fetched" "^$folder/1002/gputrace/sessions/sh-.*gputrace$"
(as 1002 "$gputrace" report "$(cat "$folder/fetched")") >"$folder/report"
check "status of the report of what was fetched" 0 $?
check "what the daemon keeps at the end" "" "$(find "$folder/data/sessions" -name '*.gputrace')"

kill "$daemon"
wait "$daemon"
check "status of the daemon" 0 $?
[ "$failures" = 0 ] || cat "$folder/log" >&2
exit "$failures"
