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
  --ci    the same with warnings as errors and more kills of the daemon, a minute of
          tests/soak.sh, then all tests but those of commands again in an asan-ubsan
          build and the daemon's in a tsan build, then five minutes of clang-tidy-19 on
          the changed files, newest first; implies --yes
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
test_jobs=$((2 * jobs))  # most of a test's time is waiting: for a rig, a daemon, a clock
without_long=(-LE long)
[[ $long == no ]] || without_long=()

# build_and_test PRESET [CMAKE OPTION...]
build_and_test() {
  local preset=$1
  shift
  echo "== $preset: build and test"
  cmake --preset "$preset" -DGPUTRACE_TESTS=ON "$@" > /dev/null
  cmake --build --preset "$preset"
  ctest --preset "$preset" -j "$test_jobs" "${without_long[@]}"
}

# The changed files, those of the newest commits first.
changed_sources() {
  local base=${GPUTRACE_TIDY_BASE:-}
  [[ -n $base ]] || base=$(git merge-base origin/main HEAD 2> /dev/null || true)
  if [[ -z $base || $(git rev-parse "$base") == $(git rev-parse HEAD) ]]; then
    base=$(git rev-list -1 --before='6 hours ago' HEAD)
  fi
  local file
  {
    git diff --name-only HEAD -- '*.cpp'
    git log --format= --name-only "${base:+$base..}HEAD" -- '*.cpp'
  } | awk '!seen[$0]++' | while read -r file; do
    [[ ! -e $file ]] || echo "$file"
  done
}

tidy() {
  local files minutes=5
  mapfile -t files < <(changed_sources | grep -v '^tests/fuzz/' || true)
  echo "== clang-tidy-19: ${#files[@]} changed files, for $minutes minutes"
  ((${#files[@]} == 0)) || printf '%s\0' "${files[@]}" |
    xargs -0 -n 2 -P "$jobs" bash -c '
      if (($(date +%s) > $0)); then
        printf "no time left for %s\n" "$@"
      else
        clang-tidy-19 --quiet -p build/release "$@"
      fi' "$(($(date +%s) + minutes * 60))"
}

soak() {
  echo "== soak"
  local status=0
  tests/soak.sh --minutes 1 || status=$?
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
  GPUTRACE_KILLS=30 build_and_test release -DGPUTRACE_WERROR=ON
  soak
  # With a precompiled standard library, which GCC cannot share between these targets, Clang takes
  # half as long; and it is the other compiler to write for.
  export CC=clang-19 CXX=clang++-19 LDFLAGS=-fuse-ld=lld
  build_and_test asan-ubsan -DGPUTRACE_COMMANDS=OFF
  build_and_test tsan
  tidy
else
  build_and_test release
fi
[[ $long == no ]] || fuzz
echo "All tests passed."
