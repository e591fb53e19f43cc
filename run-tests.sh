#!/usr/bin/env bash
# Builds gputrace with its tests and runs them.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/setup.sh

usage() {
  cat << 'EOF'
Usage: ./run-tests.sh [--yes] [--ci] [--long]

Installs what the build and the tests need (it asks once), builds in
build/release and runs every test through ctest. A test that this machine
cannot run is skipped and says why.

  --yes   install without asking
  --ci    the same with warnings as errors and more kills of the daemon, two minutes of
          tests/soak.sh, then all tests again in asan-ubsan and tsan builds, then
          clang-tidy-19 on the changed files; implies --yes
  --long  with the slow tests and a minute of fuzzing for each parser
  --help  this text

clang-tidy looks at what differs from $GPUTRACE_TIDY_BASE, by default the branch
point from origin/main, or the last six hours' commits when HEAD is origin/main.
EOF
}

assume_yes=no
ci=no
long=no
for argument in "$@"; do
  case $argument in
    --yes | -y) assume_yes=yes ;;
    --ci) ci=yes assume_yes=yes ;;
    --long) long=yes ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

packages=("${build_packages[@]}" "${test_packages[@]}")
[[ $ci == no ]] || packages+=("${ci_packages[@]}")
[[ $long == no ]] || packages+=("${long_packages[@]}")
ensure_packages "$assume_yes" "${packages[@]}"

jobs=$(nproc)
without_long=(-LE long)
[[ $long == no ]] || without_long=()

# build_and_test PRESET [CMAKE OPTION...]
build_and_test() {
  local preset=$1 wrapper=()
  shift
  echo "== $preset: build and test"
  cmake --preset "$preset" -DGPUTRACE_TESTS=ON "$@" > /dev/null
  cmake --build --preset "$preset"
  # The thread sanitizer of GCC 12 cannot start where mmap is randomised over more than 28 bits.
  [[ $preset != tsan ]] || wrapper=(setarch --addr-no-randomize)
  "${wrapper[@]}" ctest --preset "$preset" -j "$jobs" "${without_long[@]}"
}

changed_sources() {
  local base=${GPUTRACE_TIDY_BASE:-}
  [[ -n $base ]] || base=$(git merge-base origin/main HEAD 2> /dev/null || true)
  if [[ -z $base || $(git rev-parse "$base") == $(git rev-parse HEAD) ]]; then
    base=$(git rev-list -1 --before='6 hours ago' HEAD)
  fi
  if [[ -n $base ]]; then
    git diff --name-only --diff-filter=d "$base" -- '*.cpp'
  else
    git ls-files '*.cpp'
  fi
}

tidy() {
  local files
  mapfile -t files < <(changed_sources | grep -v '^tests/fuzz/' || true)
  echo "== clang-tidy-19: ${#files[@]} changed files"
  ((${#files[@]} == 0)) || printf '%s\0' "${files[@]}" |
    xargs -0 -n 2 -P "$jobs" clang-tidy-19 --quiet -p build/release
}

soak() {
  echo "== soak"
  local status=0
  tests/soak.sh --minutes 2 || status=$?
  ((status == 0 || status == 77)) || exit "$status"
}

fuzz() {
  echo "== fuzzing"
  CC=clang-19 CXX=clang++-19 cmake --preset release -B build/fuzz -DGPUTRACE_FUZZ=ON > /dev/null
  cmake --build build/fuzz --target fuzzers
  local fuzzer
  for fuzzer in build/fuzz/tests/fuzz/fuzz_*; do
    [[ -x $fuzzer && -f $fuzzer ]] || continue
    mkdir -p "build/fuzz/corpus/$(basename "$fuzzer")"
    "$fuzzer" -max_total_time=60 -rss_limit_mb=2048 "build/fuzz/corpus/$(basename "$fuzzer")"
  done
}

if [[ $ci == yes ]]; then
  GPUTRACE_KILLS=60 build_and_test release -DGPUTRACE_WERROR=ON
  soak
  # Clang needs two thirds of GCC's time here, and is the other compiler that the code is written for.
  CC=clang-19 CXX=clang++-19 build_and_test asan-ubsan
  build_and_test tsan
  tidy
else
  build_and_test release
fi
[[ $long == no ]] || fuzz
echo "All tests passed."
