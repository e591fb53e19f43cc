#!/usr/bin/env bash
# `cmake --install` under two prefixes, with DESTDIR and without.
# Usage: install_test.sh BUILD_FOLDER
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
expect_file() {
  [[ -f $1 ]] || { echo "not installed: ${1#"$work"}"; failed=1; }
}
expect_line() { # FILE LINE
  grep -qxF -- "$2" "$1" || { echo "${1#"$work"} does not say: $2"; failed=1; }
}
# check ROOT PREFIX SYSCONFDIR: files are below ROOT, and name each other without it.
check() {
  local root=$1 prefix=$2 etc=$3 page unit=$1$2/lib/systemd/system/gputraced.service
  expect_file "$root$prefix/bin/gputrace"
  expect_file "$root$prefix/sbin/gputraced"
  expect_file "$root$prefix/lib/systemd/system/gputraced.socket"
  expect_file "$root$prefix/lib/sysusers.d/gputrace.conf"
  expect_file "$root$prefix/lib/tmpfiles.d/gputrace.conf"
  expect_file "$root$etc/gputrace/gputraced.toml"
  expect_file "$root$prefix/share/bash-completion/completions/gputrace"
  expect_file "$root$prefix/share/zsh/vendor-completions/_gputrace"
  expect_file "$root$prefix/share/fish/vendor_completions.d/gputrace.fish"
  if command -v scdoc > /dev/null && [[ -d $build/docs/man ]]; then
    for page in man1/gputrace.1 man1/gputrace-record.1 man1/gputrace-report.1 man1/gputrace-roofline.1 man5/gputraced.toml.5 \
      man8/gputraced.8; do
      expect_file "$root$prefix/share/man/$page.gz"
    done
  fi
  expect_line "$unit" "ExecStart=$prefix/sbin/gputraced --config $etc/gputrace/gputraced.toml"
  expect_line "$unit" "BindReadOnlyPaths=$etc/gputrace"
  ! grep -n '@[A-Z_]*@' "$unit" || failed=1
  # Nothing beside the root: all files that were installed are below it.
  [[ -z $(find "$work" -newer "$work/start" -type f -not -path "$root$prefix/*" \
    -not -path "$root$etc/*" -not -name output -not -name start) ]] ||
    { echo "files outside $prefix and $etc"; failed=1; }
}
install_at() { # PREFIX [DESTDIR]
  touch "$work/start"
  DESTDIR=${2:-} cmake --install "$build" --prefix "$1" > "$work/output" || { cat "$work/output"; exit 1; }
}

install_at /usr "$work/package"
check "$work/package" /usr /etc
rm -r "$work/package"

install_at /opt/gputrace "$work/other"
check "$work/other" /opt/gputrace /opt/gputrace/etc
# A configuration that was changed stays.
echo '# changed' > "$work/other/opt/gputrace/etc/gputrace/gputraced.toml"
install_at /opt/gputrace "$work/other"
expect_line "$work/other/opt/gputrace/etc/gputrace/gputraced.toml" '# changed'
rm -r "$work/other"

install_at "$work/home"
check "" "$work/home" "$work/home/etc"
"$work/home/bin/gputrace" --version
exit "$failed"
