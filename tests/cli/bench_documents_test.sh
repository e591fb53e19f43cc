#!/usr/bin/env bash
# Drawings, pages and comparisons of the bench, by the program itself on the simulated GPU.
# Usage: bench_documents_test.sh GPUTRACE
set -u
gputrace=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work/data
cd "$work" || exit 1
failed=0
check() { # WHAT COMMAND...
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; failed=1; }
}
exits() { # STATUS COMMAND...
  local wanted=$1 status
  shift
  "$@" > out.txt 2> err.txt
  status=$?
  ((status == wanted)) || { echo "exit status $status, not $wanted: $*"; cat err.txt; return 1; }
}

bench=("$gputrace" bench atomics --gpu sim:780m --quick)
check "a bench with documents" exits 0 "${bench[@]}" --svg drawings --html page.html --color never
cp out.txt first.txt
session=$(echo data/gputrace/machine/*.gputrace)
check "a drawing of each test" test -s drawings/atomics.global.svg
check "drawings are SVG" grep -q '^<svg' drawings/atomics.global.svg
check "drawings say what is simulated" grep -q SIMULATED drawings/atomics.global.svg
check "the page is one" grep -q '^<!DOCTYPE html>' page.html
check "the page fits" test "$(stat -c %s page.html)" -lt 1000000

check "report makes the same page" exits 0 "$gputrace" report --html again.html "$session"
check "both pages are equal" cmp page.html again.html
check "report prints the same text" exits 0 "$gputrace" report --color never "$session"
check "report begins with what bench printed" cmp -n "$(stat -c %s first.txt)" first.txt out.txt

echo "my notes" > notes.html
check "a page replaces no notes" exits 1 "${bench[@]}" --no-save --html notes.html
check "the notes are there" grep -q '^my notes$' notes.html
check "a file is no folder for drawings" exits 1 "${bench[@]}" --no-save --svg notes.html
check "list makes no drawings" exits 2 "$gputrace" bench list --svg drawings

check "nothing earlier to compare with" exits 1 "$gputrace" bench compare "$session"
check "a second run" exits 0 "${bench[@]}" --json
cp out.txt second.json
second=$(ls data/gputrace/machine | tail -n 1)
check "one run alone, by name" exits 0 "$gputrace" bench compare "$second"
check "the same device" grep -q 'are the same' out.txt
check "a session and JSON" exits 0 "$gputrace" bench compare "$session" second.json --json
check "its schema" grep -q '"schema": "gputrace.bench-compare/1"' out.txt
check "no condition holds" exits 0 "$gputrace" bench compare "$session" second.json \
  --fail-on 'slower>50%'
check "a condition holds" exits 3 "$gputrace" bench compare "$session" second.json \
  --fail-on 'atomics.global/add, one word>-50%'
check "a condition about nothing" exits 1 "$gputrace" bench compare "$session" second.json \
  --fail-on 'nothing>5%'
check "a condition without %" exits 2 "$gputrace" bench compare "$session" second.json \
  --fail-on 'atomics.global>5'
check "published figures" exits 0 "$gputrace" bench compare "$session" published:adreno-x2
check "published without intervals" grep -q 'without intervals' out.txt
check "nobody published this" exits 1 "$gputrace" bench compare "$session" published:voodoo
exit "$failed"
