#!/usr/bin/env bash
# The .deb in a booted container, against a SIMULATED GPU behind FUSE: nspawn_steps.sh says what is
# tried there.
# Usage: nspawn_test.sh BUILD_FOLDER RIG SANITIZERS
set -euo pipefail
build=$1
rig=$2
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/systemd/debian_tree.sh
source "$folder/debian_tree.sh"
[[ -z ${3:-} ]] || skip "a package of a build with sanitizers is of no use"
command -v systemd-nspawn > /dev/null || skip "systemd-nspawn (systemd-container) is not installed"
[[ -w /dev/fuse ]] || skip "/dev/fuse is not there or not writable"
need_mount_namespace "$@"
work=$(mktemp -d)
server=
cleanup() {
  [[ -z $server ]] || { kill "$server" && wait "$server"; } 2> /dev/null || true
  umount -R "$work/rig" 2> /dev/null || true
  umount -R "$work/tree" "$work/layers" 2> /dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

build_package
enter_debian_tree
# --register=no, --keep-unit: the machine need not be run by systemd itself.
nspawn=(timeout --kill-after=5 180 systemd-nspawn --quiet --register=no --keep-unit --console=pipe
  --directory="$tree")
"${nspawn[@]}" --boot -- --unit=exit.target < /dev/null > "$work/console" 2>&1 || {
  tail -n 20 "$work/console"
  skip "systemd does not boot in a container here"
}
cp "$deb" "$tree/root/gputrace.deb"
in_tree dpkg -i /root/gputrace.deb > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; exit 1; }
in_tree useradd --create-home --groups gputrace alice
in_tree useradd --create-home bob
umount "$tree/proc"
install -m 755 "$folder/nspawn_init.sh" "$folder/nspawn_steps.sh" "$tree/root"
: > "$tree/etc/machine-id"
cat > "$tree/etc/systemd/system/gputrace-steps.service" << 'UNIT'
[Unit]
After=multi-user.target
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/root/nspawn_steps.sh
StandardOutput=file:/root/result
StandardError=file:/root/result
TimeoutStartSec=120
[Install]
WantedBy=default.target
UNIT
in_tree systemctl enable gputrace-steps.service > /dev/null 2>&1

mkdir "$work/rig"
mkfifo "$work/ready"
"$rig" --mount "$work/rig" --die-with-parent > "$work/ready" &
server=$!
read -r word < "$work/ready" || true
[[ $word == ready ]] || skip "the rig did not start"

"${nspawn[@]}" --bind="$work/rig:/mnt/rig" /root/nspawn_init.sh < /dev/null > "$work/console" 2>&1 ||
  true
[[ -s $tree/root/result ]] || { tail -n 20 "$work/console"; echo "no step was run"; exit 1; }
cat "$tree/root/result"
[[ $(tail -n 1 "$tree/root/result") == "all steps passed" ]]
