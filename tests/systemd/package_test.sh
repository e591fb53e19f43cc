#!/usr/bin/env bash
# The .deb: what is in it, lintian's opinion, and that it installs, upgrades and purges cleanly in a
# Debian tree.
# Usage: package_test.sh BUILD_FOLDER SANITIZERS
set -euo pipefail
build=$1
# shellcheck source=tests/systemd/debian_tree.sh
source "$(dirname "$0")/debian_tree.sh"
[[ -z ${2:-} ]] || skip "a package of a build with sanitizers is of no use"
((EUID != 0)) || need_mount_namespace "$@"
work=$(mktemp -d)
trap 'umount -R "$work/tree" "$work/layers" 2> /dev/null || true; rm -rf "$work"' EXIT
fail() {
  echo "package: $*"
  exit 1
}

build_package
contents=$(dpkg-deb -c "$deb" | awk '{ print $1, $2, $6 }')
for entry in '-rwxr-xr-x root/root ./usr/bin/gputrace' '-rwxr-xr-x root/root ./usr/sbin/gputraced' \
  '-rw-r--r-- root/root ./usr/lib/systemd/system/gputraced.service' \
  '-rw-r--r-- root/root ./usr/lib/systemd/system/gputraced.socket' \
  '-rw-r--r-- root/root ./usr/lib/sysusers.d/gputrace.conf' \
  '-rw-r--r-- root/root ./usr/lib/tmpfiles.d/gputrace.conf' \
  '-rw-r--r-- root/root ./etc/gputrace/gputraced.toml' \
  '-rw-r--r-- root/root ./usr/share/bash-completion/completions/gputrace' \
  '-rw-r--r-- root/root ./usr/share/zsh/vendor-completions/_gputrace' \
  '-rw-r--r-- root/root ./usr/share/fish/vendor_completions.d/gputrace.fish'; do
  grep -qxF -- "$entry" <<< "$contents" || fail "the package lacks: $entry"
done
# Nothing but this, and no file of the build or test machinery.
unexpected=$(awk '{ print $3 }' <<< "$contents" | grep -v '/$' |
  grep -vE '^\./(usr/s?bin/gputraced?$|usr/lib/(systemd/system|sysusers\.d|tmpfiles\.d)/gputrace|etc/gputrace/gputraced\.toml$|usr/share/(doc/gputrace/(copyright|changelog\.gz)$|man/man[158]/gputrace|bash-completion/|zsh/|fish/))' || true)
[[ -z $unexpected ]] || fail "unexpected files: $unexpected"
[[ $(dpkg-deb -I "$deb" conffiles) == /etc/gputrace/gputraced.toml ]] || fail "no conffile"
depends=$(dpkg-deb -f "$deb" Depends)
for library in libc6 libcap-ng0 libsystemd0 libsqlite3-0 libdrm-amdgpu1; do
  [[ $depends == *$library* ]] || fail "does not depend on $library: $depends"
done
dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/lib/systemd/system/gputraced.service > "$work/unit"
grep -qxF 'ExecStart=/usr/sbin/gputraced --config /etc/gputrace/gputraced.toml' "$work/unit" ||
  fail "the unit names other paths: $(grep ExecStart "$work/unit")"

if command -v lintian > /dev/null; then
  # A package for a person's own machine closes no bug of Debian, and a build without scdoc has no
  # man pages.
  lintian --no-cfg --allow-root --fail-on error --suppress-tags \
    initial-upload-closes-no-bugs,no-manual-page "$deb" > "$work/lintian" 2>&1 ||
    { cat "$work/lintian"; fail "lintian finds errors"; }
  cat "$work/lintian"
else
  echo "lintian is not installed: not asked"
fi

enter_debian_tree
list() { # every file, but for the books of dpkg and the log
  (cd "$tree" && find . -xdev -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print) |
    grep -vE '^\./(etc/(group|gshadow|passwd|shadow)-?|etc/\.pwd\.lock|etc/\.updated|var/\.updated)$' | sort
}
list > "$work/before"
mkdir -p "$tree/mnt"
cp "$deb" "$tree/tmp/gputrace.deb"
in_tree dpkg -i /tmp/gputrace.deb > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "does not install"; }
[[ $(in_tree dpkg-query -W -f '${db:Status-Abbrev}' gputrace) == 'ii ' ]] || fail "is not installed"
in_tree gputrace --version | grep -q '^gputrace [0-9]' || fail "gputrace does not run"
in_tree getent group gputrace > /dev/null || fail "there is no group gputrace"
[[ $(in_tree stat -c '%a %U %G' /var/lib/gputrace) == '2750 root gputrace' ]] ||
  fail "/var/lib/gputrace: $(in_tree stat -c '%a %U %G' /var/lib/gputrace)"
[[ -L $tree/etc/systemd/system/sockets.target.wants/gputraced.socket ]] || fail "the socket is not enabled"
[[ ! -e $tree/etc/systemd/system/multi-user.target.wants/gputraced.service ]] ||
  fail "the service is enabled, though the socket starts it"

# An upgrade keeps what the administrator changed, and what was recorded.
echo '# changed' >> "$tree/etc/gputrace/gputraced.toml"
mkdir -p "$tree/var/lib/gputrace/sessions/1000"
touch "$tree/var/lib/gputrace/sessions/1000/a.gputrace"
in_tree systemctl disable gputraced.socket > /dev/null 2>&1
in_tree dpkg -i /tmp/gputrace.deb > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "does not upgrade"; }
grep -qx '# changed' "$tree/etc/gputrace/gputraced.toml" || fail "an upgrade lost the configuration"
[[ ! -e $tree/etc/systemd/system/sockets.target.wants/gputraced.socket ]] ||
  fail "an upgrade enabled a socket that was disabled"

in_tree dpkg -r gputrace > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "cannot be removed"; }
[[ -f $tree/var/lib/gputrace/sessions/1000/a.gputrace ]] || fail "removing deleted a recording"
[[ ! -e $tree/usr/sbin/gputraced ]] || fail "removing left the daemon"
in_tree dpkg -P gputrace > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "cannot be purged"; }
if grep -i 'warning' "$work/dpkg.log"; then
  fail "purging warns"
fi
rm "$tree/tmp/gputrace.deb"
list > "$work/after"
diff "$work/before" "$work/after" || fail "purging leaves traces (>) or took too much (<)"
echo "installed, upgraded, removed and purged in a tree of $suite"
