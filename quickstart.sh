#!/usr/bin/env bash
# Builds gputrace, records a few seconds and prints the report.
set -euo pipefail
cd "$(dirname "$0")"
source .ci/setup.sh

usage() {
  cat << 'EOF'
Usage: ./quickstart.sh [--yes] [--simulated]

Installs what the build needs (it asks once), builds gputrace in build/release,
records the GPU while `gputrace bench fill` draws to it for some seconds, and
prints the report. Without an AMD GPU, or with --simulated, it records five
seconds of the simulated Radeon 780M; the output says SIMULATED.

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
pci=
if [[ $simulated == no ]]; then
  pci=$("$gputrace" gpus --json | grep -o '"pci": *"[^"]*"' | head -n 1 | cut -d '"' -f 4 || true)
  [[ -n $pci ]] || echo "No GPU that amdgpu drives was found: recording the simulated Radeon 780M."
fi
[[ -n $pci ]] || gpu=(--gpu sim:780m:demo)

# record OPTION... [-- CMD...]: says what it does.
record() {
  echo "+ gputrace record $*"
  "$gputrace" record --force -o "$session" "$@"
}

fill=("$gputrace" bench fill --device "$pci" --quick --no-save)
if [[ -n $pci ]] && record --gpu "$pci" -- "${fill[@]}"; then
  :
else
  [[ -z $pci ]] || echo "The fill test did not run, see above: recording what runs on $pci anyway."
  record "${gpu[@]}" --duration 5 ||
    die "the recording failed, see above; ./quickstart.sh --simulated shows what a report looks like"
fi
echo "+ gputrace report $session"
"$gputrace" report "$session"
