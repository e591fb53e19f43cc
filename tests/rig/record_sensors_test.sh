#!/bin/sh
# `gputrace record` and the sensors of a GPU: what is stored is what the model says, a source that
# fails or hangs costs nothing else, a GPU that sleeps is left alone.
# Usage: record_sensors_test.sh WITH_GPU RIG GPUTRACE
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu 780m --scenario chase --second-gpu rx7600 -- "$0" --inside "$3"
fi
gputrace=$2
. "$(dirname "$0")/checks.sh"
device=/sys/class/drm/card1/device
hwmon=$device/hwmon/hwmon90
export device

record() { # NAME COMMAND OPTIONS...
  name=$1
  command=$2
  shift 2
  # By ioctl alone: guarded reads may come too late on a busy machine, which makes words unknown.
  "$gputrace" record --no-daemon --source drm -o "$folder/$name" "$@" -- \
    sh -c ". \"\$counters\"; $command" 2>"$folder/$name.err"
  check "exit status of $name" 0 $?
  "$gputrace" report "$folder/$name" --json >"$folder/$name.json" 2>>"$folder/$name.err"
}

sensor() { # RECORDING SOURCE KEY: of the series with that source
  awk -v source="\"$2\"," -v key="\"$3\":" '
    $1 == "\"source\":" { $1 = ""; here = substr($0, 2) == source }
    here && $1 == key { sub(/,$/, "", $2); print $2; exit }' "$folder/$1.json"
}

source_of() { # RECORDING SOURCE KEY: of the source with that name
  awk -v name="\"$2\"," -v key="\"$3\":" '
    /"sensor_sources"/ { inside = 1 }
    inside && $1 == "\"name\":" { line = $0; sub(/.*"name": /, "", line); here = line == name }
    inside && here && $1 == key { $1 = ""; sub(/,$/, ""); print substr($0, 2); exit }' \
    "$folder/$1.json"
}

sampling() { # RECORDING KEY
  sed -n "/\"sampling\":/,/^  }/s/^    \"$2\": \([^,]*\),*/\1/p" "$folder/$1.json"
}

# The scenario is steady, and so are the files once power has followed the load's first moments.
record settling 'until_more metrics_reads 10'
watts=$(awk '{ print int($1 / 1000000) + $1 % 1000000 / 1000 / 256 }' "$hwmon/power1_average")
celsius=$(awk '{ print $1 / 1000 }' "$hwmon/temp1_input")

record good 'until_more metrics_reads 20'
for source in "hwmon power1_average" "hwmon power1_input" "gpu_metrics average_socket_power"; do
  mean=$(sensor good "$source" mean)
  holds "mean of $source" "${mean:-0} > 0.98 * $watts && ${mean:-0} < 1.02 * $watts"
done
mean=$(sensor good "hwmon temp1_input" mean)
holds "mean temperature" "${mean:-0} > $celsius - 2 && ${mean:-0} < $celsius + 2"
check "lowest clock" 2600 "$(sensor good "hwmon freq1_input" min | sed 's/\.0$//')"
check "highest clock" 2600 "$(sensor good "hwmon freq1_input" max | sed 's/\.0$//')"
holds "readings of the table" "$(source_of good gpu_metrics reads) >= 15"
check "unknown register samples" 0 "$(sampling good unknown)"
contains "energy" "$folder/good.json" '"joules"'
busy=$(sensor good "gpu_metrics average_gfx_activity" mean)
gui=$(awk '/"name": "GUI_ACTIVE"/ { here = 1 } here && $1 == "\"busy\":" {
  sub(/,$/, "", $2); print 100 * $2; exit }' "$folder/good.json")
holds "firmware's activity and GUI_ACTIVE" "${busy:-0} - ${gui:-99} < 3 && ${gui:-99} - ${busy:-0} < 3"

# A table that cannot be true is counted, and nothing of it is stored.
fault=1
while [ $fault -le 5 ]; do
  record "fault$fault" "until_more metrics_reads 4; echo metrics_fault=$fault >\$control
    until_more metrics_reads 2; echo metrics_fault=0 >\$control; until_more metrics_reads 2"
  holds "rejected tables of fault $fault" "$(source_of "fault$fault" gpu_metrics rejected) >= 1"
  low=$(sensor "fault$fault" "gpu_metrics average_socket_power" min)
  high=$(sensor "fault$fault" "gpu_metrics average_socket_power" max)
  holds "power beside fault $fault" "${low:-0} > 0.98 * $watts && ${high:-0} < 1.02 * $watts"
  check "failures of others beside fault $fault" 0 \
    "$(source_of "fault$fault" "hwmon amdgpu power1_average" failed)"
  fault=$((fault + 1))
done

# One file fails: the others go on, and one warning names it.
record failing 'until_more metrics_reads 4
  echo sensor_file=power1_average >$control; echo sensor_errno=22 >$control
  until_more metrics_reads 20; echo sensor_errno=0 >$control'
holds "errors of a failing file" "$(source_of failing "hwmon amdgpu power1_average" failed) >= 1"
holds "others beside a failing file" "$(source_of failing gpu_metrics reads) >= 20"
check "warnings of a failing file" 1 "$(grep -c 'power1_average.*Invalid argument' "$folder/failing.err")"

# A source that takes long is read less often, and named once.
record slow 'until_more metrics_reads 2
  echo sensor_file=gpu_metrics >$control; echo late_sensors=8 >$control
  until_more metrics_reads 15; echo late_sensors=0 >$control'
check "warnings of a slow source" 1 "$(grep -c 'gpu_metrics takes' "$folder/slow.err")"
holds "rate of a slow source" "$(source_of slow gpu_metrics rate_hz) < 10"
holds "rate of others" "$(source_of slow gpu_busy_percent rate_hz) == 10"

# A source hangs for 5 s. Reading the same file meanwhile waits as long, quietly.
record hung 'until_more metrics_reads 4
  echo sensor_file=gpu_metrics >$control; echo late_sensors=5000 >$control
  while value held; [ "$found" = 0 ]; do :; done
  value register_reads; before=$found
  read -r _ <$device/gpu_metrics
  value register_reads; echo $((found - before)) >$folder/reads
  echo late_sensors=0 >$control; until_more metrics_reads 4' --rate 1000
# 10,000 in 5 s on a machine at rest; none if the registers waited for the source.
holds "register reads while a source hangs" "$(cat "$folder/reads") > 1000"
check "unknown register samples beside a hanging source" 0 "$(sampling hung unknown)"
check "late reads of a hanging source" 1 "$(source_of hung gpu_metrics late)"
check "warnings of a hanging source" 1 "$(grep -c 'gpu_metrics does not answer' "$folder/hung.err")"
"$gputrace" sql "$folder/hung" 'SELECT kind FROM events' >"$folder/events"
contains "events of a hanging source" "$folder/events" "sensor_stuck"
contains "events of a hanging source" "$folder/events" "sensor_back"
holds "readings after the hang" "$(source_of hung gpu_metrics reads) >= 6"

exit "$failures"
