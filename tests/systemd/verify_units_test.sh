#!/usr/bin/env bash
# systemd's own check of the installed units, and of sysusers.d and tmpfiles.d.
# Usage: verify_units_test.sh BUILD_FOLDER
set -euo pipefail
build=$1
for tool in systemd-analyze systemd-sysusers systemd-tmpfiles; do
  command -v "$tool" > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is checked is what would be installed. The unit names its program, which must be there.
cmake --install "$build" --component service --prefix "$work" > /dev/null
mkdir "$work/sbin"
printf '#!/bin/sh\n' > "$work/sbin/gputraced"
chmod +x "$work/sbin/gputraced"
units=$work/lib/systemd/system

verify() {
  # The folder of these units first, then those of the machine for what they refer to. --man=no:
  # the man pages are not installed here.
  SYSTEMD_UNIT_PATH=$units: systemd-analyze verify --recursive-errors=yes --man=no "$@" 2>&1
}
if ! output=$(verify "$units/gputraced.service" "$units/gputraced.socket") || [[ -n $output ]]; then
  echo "systemd-analyze verify: $output"
  exit 1
fi

# The check can fail: a misspelt setting.
mkdir "$work/bad"
sed 's/^ProtectHome=/ProtectHomes=/' "$units/gputraced.service" > "$work/bad/gputraced.service"
cp "$units/gputraced.socket" "$work/bad"
units=$work/bad
if output=$(verify "$work/bad/gputraced.service") && [[ -z $output ]]; then
  echo "systemd-analyze verify did not see a misspelt setting"
  exit 1
fi

# sysusers.d and tmpfiles.d: into an empty root.
root=$work/root
mkdir -p "$root/etc" "$root/usr/lib"
cp -r "$work/lib/sysusers.d" "$work/lib/tmpfiles.d" "$root/usr/lib"
cp "$root/usr/lib/sysusers.d/gputrace.conf" "$work/sysusers.conf"
if ((EUID == 0)); then
  systemd-sysusers --root="$root" gputrace.conf
  grep -q '^gputrace:' "$root/etc/group" || { echo "sysusers.d made no group"; exit 1; }
  echo "root:x:0:0::/:/bin/sh" >> "$root/etc/passwd"
  echo "root:x:0:" >> "$root/etc/group"
  systemd-tmpfiles --root="$root" --create "$root/usr/lib/tmpfiles.d/gputrace.conf"
  gid=$(sed -n 's/^gputrace:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/group")
  found=$(stat -c '%a %u %g' "$root/var/lib/gputrace")
  [[ $found == "2750 0 $gid" ]] || { echo "/var/lib/gputrace is $found"; exit 1; }
  found=$(stat -c '%a %u' "$root/run/gputrace")
  [[ $found == "755 0" ]] || { echo "/run/gputrace is $found"; exit 1; }
else
  echo "not root: sysusers.d is checked dry, tmpfiles.d not at all"
  output=$(systemd-sysusers --dry-run --root="$root" gputrace.conf 2>&1)
  [[ $output == *gputrace* ]] || { echo "sysusers.d makes no group: $output"; exit 1; }
fi
