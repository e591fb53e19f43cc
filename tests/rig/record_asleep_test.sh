#!/bin/sh
# `gputrace record` on a GPU that the kernel suspends: its files are closed, nothing touches it, the
# recording goes on when it is awake. Another GPU in the machine is never touched.
# Usage: record_asleep_test.sh WITH_GPU RIG GPUTRACE
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu 780m --scenario idle --second-gpu rx7600 -- "$0" --inside "$3"
fi
gputrace=$2
. "$(dirname "$0")/checks.sh"

# The processor's temperature and energy are read on, so their reads tell that time passes.
cat >"$folder/asleep" <<'END'
. "$counters"
until_more metrics_reads 4
tries=0
while :; do # a read that was on its way when the GPU fell asleep wakes it
  value touched_while_suspended; touched=$found
  echo suspended=1 >"$control"
  until_more sensor_reads 30 # more than are in one tick of a GPU that is awake
  value touched_while_suspended
  [ "$found" = "$touched" ] && break
  tries=$((tries + 1))
  [ $tries -lt 20 ] || break
done
value sensor_reads_while_suspended; before=$found
value ioctls; calls=$found
until_more sensor_reads 20
value touched_while_suspended; echo "touched $((found - touched))"
value sensor_reads_while_suspended; echo "read $((found - before))"
value ioctls; echo "calls $((found - calls))"
value open_sensor_files; echo "open $((found - 2))"
value suspended; echo "suspended $found"
echo suspended=0 >"$control"
until_more metrics_reads 4
until_more register_reads 4
END

# The kernel suspends no GPU that was read some milliseconds ago, so the rate is low: between a look at
# runtime_status and the read after it there is no time to fall asleep in.
"$gputrace" record --no-daemon -o "$folder/session" --rate 4 --gpu 0000:c4:00.0 -- sh "$folder/asleep" \
  >"$folder/seen" 2>"$folder/err"
check "exit status" 0 $?
check "what touched a sleeping GPU" "touched 0 read 0 calls 0 open 0 suspended 1" \
  "$(tr '\n' ' ' <"$folder/seen" | sed 's/ $//')"
"$gputrace" report "$folder/session" --json >"$folder/json" 2>>"$folder/err"
asleep=$(sed -n 's/^    "asleep_s": \([^,]*\),*/\1/p' "$folder/json")
holds "seconds asleep" "${asleep:-0} > 0.5"
grep -v 'takes .* ms a read' "$folder/err" >"$folder/told" # that is so on a busy machine
lacks "warnings about a sleeping GPU" "$folder/told" "gpu_metrics"
check "calls on the other GPU" 0 "$(sed -n 's/^opens=//p' "${control}2")"
check "sensors of the other GPU" 0 "$(sed -n 's/^sensor_reads=//p' "${control}2")"

# Asleep from the start, and woken by somebody else: nothing touches it before, all is read after.
cat >"$folder/wakes" <<'END'
. "$counters"
kinds() { "$gputrace" sql "$folder/from_start.gputrace" "SELECT kind FROM events"; }
until kinds | grep -q runtime_suspend; do :; done
until_more sensor_reads 20 # of the processor
value touched_while_suspended; echo "touched $((found - touched))"
value sensor_reads_while_suspended; echo "read $((found - read))"
value ioctls; echo "calls $((found - calls))"
value opens; echo "opens $((found - opens))"
value suspended; echo "suspended $found"
echo suspended=0 >"$control"
until_more metrics_reads 4
until_more register_reads 4
END
echo suspended=1 >"$control"
value touched_while_suspended; touched=$found
value sensor_reads_while_suspended; read=$found
value ioctls; calls=$found
value opens; opens=$found
export gputrace touched read calls opens
"$gputrace" record --no-daemon -o "$folder/from_start.gputrace" --gpu 0000:c4:00.0 -- \
  sh "$folder/wakes" >"$folder/seen" 2>"$folder/err"
check "exit status, asleep from the start" 0 $?
check "what touched a GPU asleep from the start" "touched 0 read 0 calls 0 opens 0 suspended 1" \
  "$(tr '\n' ' ' <"$folder/seen" | sed 's/ $//')"
lacks "waking" "$folder/err" "lost\|gone\|cannot"
contains "a note of the sleep" "$folder/err" "slept when the recording began"
query() { # SQL: the values of its one column
  "$gputrace" sql "$folder/from_start.gputrace" "$1" | sed '1d; s/ *$//; /^-*$/d; /^([0-9]* rows*)$/d' |
    tr '\n' ' ' | sed 's/ $//'
}
check "segments" "start the GPU woke up" "$(query 'SELECT reason FROM segments ORDER BY start_ns')"
check "events of the sleep" "runtime_suspend runtime_resume" \
  "$(query "SELECT kind FROM events WHERE kind LIKE 'runtime%' ORDER BY time_ns")"
check "series of gpu_metrics" gpu_metrics \
  "$(query "SELECT name FROM sensor_sources WHERE name = 'gpu_metrics' AND reads > 0")"
"$gputrace" report "$folder/from_start.gputrace" --json >"$folder/json" 2>>"$folder/err"
asleep=$(sed -n 's/^    "asleep_s": \([^,]*\),*/\1/p' "$folder/json")
holds "seconds asleep from the start" "${asleep:-0} > 0.05"

reads=$(sed -n 's/^register_reads=//p' "$control")

# Asked for the card: its sensors. Its busy percentage contradicts the registers, as Raven's does.
echo stuck_busy=1 >"${control}2"
"$gputrace" record --no-daemon -o "$folder/card" --gpu 0000:03:00.0 -- \
  sh -c 'control=${control}2; . "$counters"; until_more metrics_reads 35' 2>"$folder/err"
check "exit status on the card" 0 $?
"$gputrace" report "$folder/card" --json >"$folder/json"
contains "the card's fan" "$folder/json" '"hwmon fan1_input"'
contains "a busy percentage that is stuck" "$folder/json" '"activity_stuck"'
contains "the card's power" "$folder/json" '"hwmon power1_cap"'
check "registers of the first GPU" 0 "$(($(sed -n 's/^register_reads=//p' "$control") - reads))"

exit "$failures"
