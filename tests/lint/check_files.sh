#!/usr/bin/env bash
# Checks what a compiler does not see: long files, notes to self, tests that sleep.
# Usage: check_files.sh ROOT
set -euo pipefail
cd "$1"
failed=0

folders=()
for folder in regdb daemon cli kernels tests; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
mapfile -t sources < <(find "${folders[@]}" -type f \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.sh' -o -name '*.sql' -o -name CMakeLists.txt \) | sort)

for file in "${sources[@]}"; do
  lines=$(wc -l < "$file")
  if ((lines > 500)); then
    echo "$file: $lines lines; 500 is the limit, 400 the aim"
    failed=1
  elif ((lines > 400)); then
    echo "$file: $lines lines (a warning: the aim is 400)"
  fi
done

# reject PATTERN TEXT FILE...: no line of the files may match.
reject() {
  local pattern=$1 text=$2
  shift 2
  if (($# > 0)) && grep -nEH "$pattern" "$@"; then
    echo "^ $text"
    failed=1
  fi
}

mapfile -t without_lint < <(printf '%s\n' "${sources[@]}" | grep -v '^tests/lint/' || true)
reject '\b(TODO|FIXME)\b' 'notes to self are issues, not comments' "${without_lint[@]}"

# The rig imitates a driver that hangs and the benchmarks pace themselves; a test waits for events.
mapfile -t tests < <(printf '%s\n' "${sources[@]}" | grep '^tests/' |
  grep -vE '^tests/(lint|rig|bench)/' || true)
reject '(\b(sleep_for|usleep|nanosleep)|(^|[^_[:alnum:].>])sleep) *\(|^ *sleep +[0-9]' \
  'a test that sleeps is slow and fails on a busy machine; wait for the event' "${tests[@]}"

exit "$failed"
