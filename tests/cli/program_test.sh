#!/usr/bin/env bash
# The program from outside: its own words, and what it does with words it does not know.
# Usage: program_test.sh GPUTRACE
set -u
gputrace=$1
failures=0

# expect STATUS WHERE TEXT WORDS...: exit status, and TEXT on stdout or stderr (the other is empty).
expect() {
  local status=$1 where=$2 text=$3 out err got
  shift 3
  err=$(mktemp)
  out=$("$gputrace" "$@" 2> "$err" < /dev/null)
  got=$?
  local told=$out other
  other=$(cat "$err")
  rm -f "$err"
  if [[ $where == stderr ]]; then
    told=$other
    other=$out
  fi
  if [[ $got != "$status" || $told != *"$text"* || -n $other ]]; then
    echo "gputrace $*: status $got (expected $status); $where: $told; the other: $other"
    failures=$((failures + 1))
  fi
}

expect 0 stdout "Usage: gputrace COMMAND" --help
expect 0 stdout "Usage: gputrace COMMAND" help
expect 2 stdout "Usage: gputrace COMMAND"
expect 0 stdout "gputrace 0." --version
expect 2 stderr "'recrod' is not a command" recrod
expect 2 stderr "is not a command" ""
expect 2 stderr "'\\x1b[31m' is not a command" $'\e[31m'
expect 1 stderr 'no\x1b[31m' report $'no\e[31m'
if [[ -w /dev/full ]]; then
  "$gputrace" bench list > /dev/full 2> /dev/null && {
    echo "bench list into a full device: exit status 0"
    failures=$((failures + 1))
  }
fi
for command in $("$gputrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  expect 0 stdout "gputrace $command" "$command" --help
  expect 2 stderr "Try \`gputrace $command --help\`" "$command" --no-such-option
  if "$gputrace" "$command" --help | awk 'length > 80 { exit 1 }'; then :; else
    echo "gputrace $command --help has a line of more than 80 columns"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
