#!/usr/bin/env bash
# Checks that clang-format-19 would change nothing. Exit status 77 (skipped) without it: other
# versions format differently.
# Usage: check_format.sh ROOT
set -euo pipefail
cd "$1"
if ! command -v clang-format-19 > /dev/null; then
  echo "skipped: clang-format-19 is not installed"
  exit 77
fi
folders=()
for folder in regdb daemon cli kernels tests; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 -r clang-format-19 --dry-run -Werror
