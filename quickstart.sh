#!/usr/bin/env bash
# Builds gputrace, records a few seconds and prints the report.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/setup.sh

usage() {
  cat << 'EOF'
Usage: ./quickstart.sh [--yes] [--simulated]

Installs what the build needs (it asks once), builds gputrace in build/release,
records five seconds and prints the report. Without an AMD GPU, or with
--simulated, it records the simulated Radeon 780M; the output says SIMULATED.

  --yes        install without asking
  --simulated  record the simulated GPU even if there is a real one
  --help       this text
EOF
}

assume_yes=no
simulated=no
for argument in "$@"; do
  case $argument in
    --yes | -y) assume_yes=yes ;;
    --simulated) simulated=yes ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

ensure_packages "$assume_yes" "${build_packages[@]}"
cmake --preset release -DGPUTRACE_TESTS=OFF > /dev/null
cmake --build --preset release

gputrace=build/release/cli/gputrace
session=build/quickstart.gputrace
gpu=()
if [[ $simulated == yes ]]; then
  gpu=(--gpu sim:780m:demo)
elif [[ $("$gputrace" gpus --json) != *'"pci"'* ]]; then
  echo "No GPU that amdgpu drives was found: recording the simulated Radeon 780M."
  gpu=(--gpu sim:780m:demo)
fi

echo "+ gputrace record ${gpu[*]} --duration 5 -o $session"
if ! "$gputrace" record "${gpu[@]}" --duration 5 --force -o "$session"; then
  die "the recording failed, see above; ./quickstart.sh --simulated shows what a report looks like"
fi
echo "+ gputrace report $session"
"$gputrace" report "$session"
