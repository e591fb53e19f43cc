#!/usr/bin/env bash
# What `gputrace kernels` does with what is not there. Usage: kernels_command_test.sh GPUTRACE
set -u
gputrace=$1
failures=0

# expect STATUS TEXT WORDS...: exit status, and TEXT on stdout or stderr.
expect() {
  local status=$1 text=$2 out got
  shift 2
  out=$("$gputrace" kernels "$@" 2>&1 < /dev/null)
  got=$?
  if [[ $got != "$status" || $out != *"$text"* ]]; then
    echo "gputrace kernels $*: status $got (expected $status), \"$text\" expected: $out"
    failures=$((failures + 1))
  fi
}

expect 2 "verify or list?"
expect 2 "'check' is neither verify nor list" check
expect 2 "exclude each other" verify --family vega10 --device 0
expect 2 "names no family" verify --family 'a b'
expect 2 "takes no --device" list --device 0
expect 1 "no kernel is named nonsense" list nonsense
expect 0 '"schema": "gputrace.kernels/1"' list --json

# Without RADV, and with one that aborts at the name: both are told, neither ends this process.
export VK_DRIVER_FILES=/nonexistent/lvp_icd.json VK_ICD_FILENAMES=/nonexistent/lvp_icd.json
expect 1 "" verify
unset VK_DRIVER_FILES VK_ICD_FILENAMES
known=$("$gputrace" kernels verify --family vega10 latency 2>&1)
case $? in
  3) echo "the family's name is not tried: $known" ;;
  *)
    expect 3 "RADV does not know the family no_such_gpu; it knows names like" \
      verify --family no_such_gpu
    expect 3 '"why": "RADV does not know the family' verify --family no_such_gpu --json
    expect 1 "no kernel is named nonsense" verify --family vega10 nonsense
    # The other name of the same GPU.
    expect 0 "compiled for" verify --family phoenix latency.uniform latency.hops stride
    ;;
esac
lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
if [[ -f $lavapipe ]]; then
  export VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe
  expect 3 "does not show its code" verify
fi
exit $((failures > 0))
