#!/bin/bash
# `gputrace bench` with a recorder beside it: one of its own for a user who called sudo, the real
# gputraced, and one that is killed meanwhile. Kernels run on lavapipe, busy bits come from the
# simulated render node. Usage: daemon_bench_test.sh WITH_GPU RIG GPUTRACE GPUTRACED
set -u
if [ "${1:-}" != --inside ]; then
  exec "$1" "$2" --gpu 780m --scenario idle -- "$0" --inside "$3" "$4"
fi
gputrace=$2
gputraced=$3
skip() {
  echo "daemon_bench_test.sh: skipped: $*" >&2
  exit 77
}
driver=$(ls /usr/share/vulkan/icd.d/lvp_icd.*.json /etc/vulkan/icd.d/lvp_icd.*.json 2>/dev/null | head -1)
[ -n "$driver" ] || skip "lavapipe is not installed"
export VK_ICD_FILENAMES=$driver VK_DRIVER_FILES=$driver

folder=$(mktemp -d)
chmod 755 "$folder"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$folder"' EXIT
export GPUTRACE_SOCKET=$folder/socket XDG_DATA_HOME=$folder/root XDG_CACHE_HOME=$folder/cache
failures=0
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
value() { # FILE QUERY
  "$gputrace" sql --csv "$1" "$2" | tail -1 | tr -d '\r'
}
bench() { # runs the shortest bench
  "$gputrace" bench atomics --quick --gpu 0 >"$folder/out" 2>"$folder/err"
}

# A user who called sudo: all but the recorder runs as they, and the file is theirs.
user=54321
mkdir "$folder/home"
chown $user:$user "$folder/home"
(
  cat /etc/passwd
  echo "benchuser:x:$user:$user::$folder/home:/bin/sh"
) >"$folder/passwd"
mount --bind "$folder/passwd" /etc/passwd || skip "cannot add a user for this test"
SUDO_UID=$user SUDO_GID=$user bench
check "status under sudo" 0 $?
file=$(ls "$folder"/home/.local/share/gputrace/machine/bench-llvmpipe-*.gputrace)
check "its owner and mode" "$user 600" "$(stat -c '%u %a' "$file")"
check "its kind" bench "$(value "$file" "SELECT kind FROM session")"
check "points that begin and end" 1 "$(value "$file" "SELECT count(*) > 0 AND
  sum(kind = 'point_begin') = sum(kind = 'point_end') FROM events WHERE kind LIKE 'point%'")"
check "root's registers" 1 "$(value "$file" "SELECT count(*) FROM registers WHERE name = 'GRBM_STATUS3'")"
check "every point of the results lies in a marked one" 0 "$(value "$file" "SELECT count(*)
  FROM bench_points AS p WHERE p.start_ns IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events AS e
  WHERE e.kind = 'point_begin' AND e.time_ns <= p.start_ns AND NOT EXISTS (SELECT 1 FROM events AS f
  WHERE f.kind = 'point_end' AND f.time_ns > e.time_ns AND f.time_ns < p.start_ns))")"
[ ! -e "$folder/root" ] || check "files of root" none some

# Through gputraced.
printf '[daemon]\ngroup = "games"\n' >"$folder/gputraced.toml"
"$gputraced" --foreground --config "$folder/gputraced.toml" --socket "$folder/socket" \
  --data-dir "$folder/data" 2>"$folder/log" &
daemon=$!
until "$gputrace" status >/dev/null 2>&1; do
  if ! kill -0 "$daemon" 2>/dev/null; then
    echo "FAILED: gputraced did not start:" >&2
    cat "$folder/log" >&2
    exit 1
  fi
done
bench
check "status through gputraced" 0 $?
contains "the daemon's log" "$folder/log" "records AMD Radeon 780M"
contains "whose busy bits" "$folder/err" "busy bits are those of AMD Radeon 780M"
file=$(ls "$folder"/root/gputrace/machine/bench-llvmpipe-*.gputrace)
check "kind of a file from gputraced" bench "$(value "$file" "SELECT kind FROM session")"
check "points through gputraced" 1 "$(value "$file" "SELECT count(*) > 0 FROM events WHERE kind = 'point_begin'")"
check "tests in the file" 5 "$(value "$file" "SELECT count(*) FROM bench_tests")"
check "what gputraced keeps" "" "$(ls "$folder"/data/sessions/0)"
"$gputrace" report "$file" >"$folder/report"
contains "results in the report" "$folder/report" "atomics"
contains "busy bits in the report" "$folder/report" "GUI_ACTIVE"
check "what list shows" "" "$("$gputrace" list 2>/dev/null)"
"$gputrace" list --all >"$folder/list"
contains "what list --all shows" "$folder/list" "5 tests"

# A daemon that dies costs the busy bits and no result.
bench &
running=$!
until [ "$(value "$folder"/data/sessions/0/*.gputrace \
  "SELECT count(*) > 0 FROM events WHERE kind = 'point_end'" 2>/dev/null)" = 1 ]; do
  kill -0 $running || exit 1
done
kill -9 "$daemon"
wait $running
check "status with a dying gputraced" 0 $?
contains "what is missing" "$folder/err" "no busy bits beside the results"
check "files" 2 "$(ls "$folder"/root/gputrace/machine | wc -l)"
file=$(ls -t "$folder"/root/gputrace/machine/*.gputrace | head -1)
check "tests without busy bits" "0 5" "$(value "$file" "SELECT (SELECT count(*) FROM segments) || ' ' ||
  (SELECT count(*) FROM bench_tests)")"
[ $failures = 0 ]
