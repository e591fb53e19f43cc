#!/usr/bin/env bash
# systemd's exposure level of the service (2.0 or less), and docs/security.md names every setting.
# Usage: security_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1
source_folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component service --prefix "$work" > /dev/null
unit=$work/lib/systemd/system/gputraced.service

# Each key of [Service] and [Socket] stands in the document as `Key=` or `Key=value`.
missing=0
undocumented() { # FILE SECTION DOCUMENT
  sed -n "/^\[$2\]/,/^\[/s/^\([A-Za-z]*\)=.*/\1/p" "$1" | sort -u | while read -r key; do
    grep -q "\`$key=" "$3" || echo "$key"
  done
}
for pair in "gputraced.service Service" "gputraced.socket Socket"; do
  read -r file section <<< "$pair"
  for key in $(undocumented "$work/lib/systemd/system/$file" "$section" "$source_folder/docs/security.md"); do
    echo "docs/security.md does not explain $key= of $file"
    missing=1
  done
done
((missing == 0)) || exit 1
# The check can fail.
grep -v 'WatchdogSec=' "$source_folder/docs/security.md" > "$work/document.md"
[[ $(undocumented "$unit" Service "$work/document.md") == *WatchdogSec* ]] ||
  { echo "the check did not miss WatchdogSec="; exit 1; }

# What must never be lost, whatever the score says.
for line in NoNewPrivileges=yes ProtectSystem=strict PrivateNetwork=yes MemoryDenyWriteExecute=yes \
  'SystemCallFilter=@system-service perf_event_open' DevicePolicy=closed \
  'CapabilityBoundingSet=CAP_SYS_NICE CAP_PERFMON' 'RestrictAddressFamilies=AF_UNIX AF_NETLINK' \
  StartLimitIntervalSec=0 RestartSec=100ms Type=notify Restart=on-failure; do
  grep -qxF "$line" "$unit" || { echo "gputraced.service has lost: $line"; exit 1; }
done

command -v systemd-analyze > /dev/null || { echo "skipped: systemd-analyze is not installed"; exit 77; }
score() { systemd-analyze security --offline=yes --no-pager --threshold=20 "$1" > "$work/out" 2>&1; }
score "$unit" || { cat "$work/out"; exit 1; }
tail -n 1 "$work/out"
# The threshold bites.
mkdir "$work/open"
grep -v '^\(Protect\|Private\|Restrict\|SystemCall\)' "$unit" > "$work/open/gputraced.service"
if score "$work/open/gputraced.service"; then
  echo "systemd-analyze security passes a service without a sandbox"
  exit 1
fi
