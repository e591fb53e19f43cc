#!/usr/bin/env bash
# Plants one fault after the other in a small tree and expects the checks to find each, and nothing
# in the tree without faults.
set -euo pipefail
checks=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# write FILE LINE...
write() {
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "${@:2}" > "$tree/$1"
}

plant_clean_tree() {
  rm -rf "${tree:?}"/*
  write daemon/base/result.h '#include <string>'
  write daemon/base/time.h '#include "daemon/base/result.h"'
  write daemon/os/device.cpp '#include <xf86drm.h>' '#include "daemon/base/time.h"'
  write daemon/sampler/sample_block.h '#include "daemon/base/time.h"' 'int sleep_until(int);'
  write daemon/sampler/loop.h '#include "daemon/sampler/sample_block.h"'
  write daemon/store/writer.cpp '#include <sqlite3.h>' '#include "daemon/sampler/sample_block.h"'
  write cli/report/json.cpp '#include <nlohmann/json.hpp>'
  write cli/commands/report.cpp '#include "cli/report/json.cpp"' '#include "daemon/os/device.cpp"'
  write regdb/map.h '#include "daemon/base/result.h"'
  write tests/rig/rig_test.cpp '#include "daemon/os/device.cpp"'
  write tests/os_test.cpp '#include "daemon/os/device.cpp"' 'run({"sleep", "60"});' \
    'clock.sleep_until(5);' 'fake.sleep(5);'
}

failures=0

# expect_clean CHECK
expect_clean() {
  local output
  if ! output=$("$checks/$1" "$tree" 2>&1); then
    echo "FAILED: $1 finds a fault where there is none:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

# expect_fault CHECK TEXT FILE LINE...: with these lines in the file the check fails and says TEXT.
expect_fault() {
  local check=$1 text=$2 output
  plant_clean_tree
  write "${@:3}"
  if output=$("$checks/$check" "$tree" 2>&1); then
    echo "FAILED: $check does not find: ${*:3}"
    failures=$((failures + 1))
  elif [[ $output != *"$text"* ]]; then
    echo "FAILED: $check finds '${*:3}' but does not say '$text':"
    echo "$output"
    failures=$((failures + 1))
  fi
}

plant_clean_tree
expect_clean check_layers.sh
expect_clean check_files.sh

layers=check_layers.sh
expect_fault $layers 'regdb/x.h:1: regdb must not include daemon/base/time.h' \
  regdb/x.h '#include "daemon/base/time.h"'
expect_fault $layers 'daemon/base must not include regdb/map.h' \
  daemon/base/x.h '#pragma once' '  #  include "regdb/map.h"'
expect_fault $layers 'daemon/store must not include daemon/sampler/loop.h' \
  daemon/store/x.cpp '#include "daemon/sampler/loop.h"'
expect_fault $layers 'daemon/sampler must not include daemon/os/device.cpp' \
  daemon/sampler/x.cpp '#include "daemon/os/device.cpp"'
expect_fault $layers 'cli/report must not include cli/commands/report.cpp' \
  cli/report/x.cpp '#include "cli/commands/report.cpp"'
expect_fault $layers 'tests/rig must not include daemon/os/device.cpp' \
  tests/rig/x.cpp '#include "daemon/os/device.cpp"'
expect_fault $layers 'must not include tests' cli/commands/x.cpp '#include "tests/os_test.cpp"'
expect_fault $layers 'sqlite3.h does not belong here' cli/commands/x.cpp '#include <sqlite3.h>'
expect_fault $layers 'xf86drm.h does not belong here' daemon/sampler/x.cpp '#include <xf86drm.h>'
expect_fault $layers 'amdgpu.h does not belong here' cli/commands/x.cpp '#include <amdgpu.h>'
expect_fault $layers 'nlohmann/json.hpp does not belong here' \
  cli/report/x.h '#include <nlohmann/json.hpp>'
expect_fault $layers 'nlohmann/json.hpp does not belong here' \
  daemon/store/x.cpp '#include <nlohmann/json.hpp>'
expect_fault $layers 'is not named from the root' cli/report/x.cpp '#include "json.cpp"'
expect_fault $layers 'cli/report/gone.h does not exist' cli/report/x.cpp '#include "cli/report/gone.h"'

files=check_files.sh
mapfile -t long < <(seq 501)
expect_fault $files '501 lines' daemon/os/x.cpp "${long[@]}"
expect_fault $files 'notes to self' daemon/os/x.cpp '// TODO: later'
expect_fault $files 'notes to self' regdb/CMakeLists.txt '# FIXME'
expect_fault $files 'a test that sleeps' tests/x_test.cpp 'std::this_thread::sleep_for(1s);'
expect_fault $files 'a test that sleeps' tests/x_test.cpp '  ::usleep(1000);'
expect_fault $files 'a test that sleeps' tests/x_test.cpp '  sleep(1);'
expect_fault $files 'a test that sleeps' tests/x_test.sh 'sleep 0.1'

if command -v clang-format-19 > /dev/null; then
  printf 'BasedOnStyle: Google\n' > "$tree/.clang-format"
  expect_fault check_format.sh 'x.cpp' daemon/os/x.cpp 'int   x ;'
fi

((failures == 0)) && echo "every planted fault was found"
exit "$((failures > 0))"
