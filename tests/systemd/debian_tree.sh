# Sourced by tests that install the package: build_package, then enter_debian_tree. They skip (77)
# with a reason where the machine cannot. Expects $build (the build folder) and $work (a folder of
# the test's own).

skip() {
  echo "skipped: $*"
  exit 77
}

# Packs build/ into $work/*.deb; sets $deb.
build_package() {
  local tool
  for tool in cpack dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" > /dev/null || skip "$tool is not installed"
  done
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/pack" > "$work/cpack.log" 2>&1 ||
    { cat "$work/cpack.log"; exit 1; }
  deb=$(echo "$work"/pack/*.deb)
  [[ -f $deb ]] || { echo "cpack made no package"; cat "$work/cpack.log"; exit 1; }
}

# Names of the packages that $deb depends on, the first of each set of alternatives.
dependencies() {
  dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g'
}

# Sets $mirror, $components and $suite to what this machine's apt uses for its own release.
find_mirror() {
  command -v apt-get > /dev/null || skip "no apt here, so no Debian mirror is known"
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite { print $1; exit }')
  components=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$1 == suite { print $2 }' | sort -u | paste -s -d ,)
  [[ -n $mirror ]] || skip "apt has no source for its own release, $suite"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  if [[ -n ${http_proxy:-} ]]; then
    export http_proxy
  fi
}

# Makes a Debian tree with what the package needs, once, in the build folder; then stacks a layer
# on it that takes all changes. Sets $tree. The caller is in a mount namespace of its own.
enter_debian_tree() {
  local cache=$build/tests/systemd/tree packages
  ((EUID == 0)) || skip "debootstrap needs root"
  command -v debootstrap > /dev/null || skip "debootstrap is not installed"
  find_mirror
  packages=systemd,systemd-sysv,$(dependencies | sort | paste -s -d ,)
  exec 9> "$cache.lock"
  flock 9
  if [[ $(cat "$cache.packages" 2> /dev/null) != "$suite $packages" ]]; then
    rm -rf "$cache" "$cache.packages"
    if ! debootstrap --variant=minbase --components="$components" --include="$packages" \
      "$suite" "$cache" "$mirror" > "$work/debootstrap.log" 2>&1; then
      tail -n 5 "$work/debootstrap.log"
      rm -rf "$cache"
      skip "debootstrap cannot make a Debian tree here (no network?)"
    fi
    rm -f "$cache"/var/cache/apt/archives/*.deb
    echo "$suite $packages" > "$cache.packages"
  fi
  flock -u 9
  exec 9>&-
  mkdir "$work/layers"
  # A file system of its own: the one of $work may be an overlay, which cannot be the upper layer.
  mount -t tmpfs -o size=4G gputrace-test "$work/layers" || skip "cannot mount a tmpfs"
  mkdir "$work/layers/upper" "$work/layers/work" "$work/tree"
  mount -t overlay gputrace-test "$work/tree" \
    -o "lowerdir=$cache,upperdir=$work/layers/upper,workdir=$work/layers/work" ||
    skip "cannot mount an overlay"
  tree=$work/tree
  mount -t proc proc "$tree/proc" || skip "cannot mount /proc in the tree"  # systemd-tmpfiles
}

# Runs dpkg in the tree.
in_tree() {
  DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$tree" "$@"
}

# Starts the script again in a mount namespace of its own, which takes its mounts along at the end.
need_mount_namespace() {
  [[ ${GPUTRACE_TEST_INSIDE:-} != yes ]] || return 0
  ((EUID == 0)) || skip "a mount namespace needs root"
  unshare -m true 2> /dev/null || skip "unshare -m is not permitted here"
  GPUTRACE_TEST_INSIDE=yes exec unshare -m --propagation private -- bash "$0" "$@"
}
