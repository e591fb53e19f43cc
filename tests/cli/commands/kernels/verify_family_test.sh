#!/usr/bin/env bash
# Every kernel agrees with its formula on RADV's null device of one GPU family.
# Usage: verify_family_test.sh GPUTRACE FAMILY. Exits with 77 where that cannot be looked at.
set -u
out=$("$1" kernels verify --family "$2")
status=$?
echo "$out"
if ((status == 3)); then
  exit 77  # the output says why: no RADV, or one that does not know the family
fi
exit "$status"
