#!/bin/sh
# All benchmarks, one after the other; prints figures, judges nothing, needs a quiet machine.
# Usage: run_bench.sh BIN_DIR RIG GPUTRACE    (BIN_DIR has the bench_* executables)
# `cmake --build DIR --target run-bench` calls it. Those that need root or FUSE say so and are left
# out without them.
set -u
bin=$1
rig=$2
gputrace=$3
here=$(dirname "$0")
with_gpu="$here/../rig/with_gpu.sh"
seconds=${BENCH_SECONDS:-60}
rounds=${BENCH_ROUNDS:-5}
last_cpu=$(($(nproc) - 1))

echo "== sampling rate, simulated GPU in process (SIMULATED)"
"$bin/bench_rate" "$gputrace" "10 kHz in process" sim:780m:game 10000 "$seconds" 9950
"$bin/bench_rate" "$gputrace" "20 kHz in process" sim:780m:game 20000 "$seconds" 19800

echo "== sampling rate through the FUSE render node, client and server on one CPU (SIMULATED)"
"$with_gpu" "$rig" --gpu rx7600 --scenario slots --pin "$last_cpu" --fifo 10 -- \
  taskset -c "$last_cpu" "$bin/bench_rate" "$gputrace" "10 kHz FUSE, one CPU" renderD128 10000 \
  "$seconds" 9950

echo "== CPU a tick, gputrace and radeontop (SIMULATED)"
if command -v radeontop >/dev/null; then
  # Where the FUSE server runs decides most of a read's cost, and the scheduler's choice differs from
  # run to run. On hardware there is no server. So both programs get the same place, one after the
  # other.
  echo "-- client and server on one CPU"
  "$with_gpu" "$rig" --gpu rx7600 --scenario slots --pin "$last_cpu" --fifo 10 -- \
    taskset -c "$last_cpu" "$bin/bench_client_cost" "$gputrace" "$rounds" 12
  if [ "$last_cpu" -gt 0 ]; then
    echo "-- client and server on two CPUs"
    "$with_gpu" "$rig" --gpu rx7600 --scenario slots --pin "$last_cpu" -- \
      taskset -c 0 "$bin/bench_client_cost" "$gputrace" "$rounds" 12
  fi
else
  echo "left out: radeontop is not installed"
fi

echo "== the slow loop of sensors (SIMULATED)"
"$with_gpu" "$rig" --gpu 780m --scenario slots -- "$bin/bench_sensors" "$seconds"

echo "== what recording costs the workload (SIMULATED)"
fast=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
"$bin/bench_record_overhead" "$gputrace" "$fast"
"$with_gpu" "$rig" --gpu rx7600 --scenario slots -- \
  "$bin/bench_record_overhead" "$gputrace" "$fast" renderD128
rm -rf "$fast"

echo "== size of a session file, 10 minutes at 1 kHz"
"$bin/bench_store_size"

echo "== import and report of an hour at 1 kHz"
"$bin/bench_import" "$gputrace"

echo "== phases of a report: an hour and a day at 1 kHz"
"$bin/bench_report"
