# What the tests of gputrace on the rig share: a folder of their own and checks that count failures.
# Sourced inside with_gpu.sh. A test ends with `exit "$failures"`.
control=$GPUTRACE_RIG/control
counters=$(dirname "$0")/counters.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export control counters folder
. "$counters"

check() { # WHAT WANTED GOT
  if [ "$2" != "$3" ]; then
    echo "FAILED: $1: wanted '$2', got '$3'" >&2
    failures=$((failures + 1))
  fi
}

holds() { # WHAT CONDITION of awk
  if ! awk "BEGIN { exit !($2) }"; then
    echo "FAILED: $1: $2" >&2
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

lacks() { # WHAT FILE WORDS
  if grep -q -- "$3" "$2"; then
    echo "FAILED: $1: '$3' is in:" >&2
    cat "$2" >&2
    failures=$((failures + 1))
  fi
}
