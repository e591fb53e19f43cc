# Sourced by quickstart.sh and run-tests.sh: what they need installed, and how it gets there.

build_packages=(cmake g++ glslang-tools libcap-ng-dev libcxxopts-dev libdrm-dev libexpected-dev
  libfmt-dev libpci-dev libsqlite3-dev libsystemd-dev libtomlplusplus-dev libvulkan-dev
  libvulkan-volk-dev libzstd-dev ninja-build nlohmann-json3-dev pkg-config)
test_packages=(doctest-dev fuse3 libfuse3-dev mesa-vulkan-drivers)
ci_packages=(clang-19 clang-format-19 clang-tidy-19 fish git libclang-rt-19-dev lld-19 radeontop scdoc sqlite3 systemd
  vulkan-validationlayers zsh)
# Node's own packages bring npm along and conflict with Debian's. Without npm pages have no time line.
command -v npm > /dev/null || ci_packages+=(npm)
command -v chromium > /dev/null || ci_packages+=(chromium)
long_packages=(clang-19 debootstrap dpkg-dev file libclang-rt-19-dev lintian scdoc systemd-container)

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# ensure_packages ASSUME_YES PACKAGE...: asks once, then installs what is missing with apt.
ensure_packages() {
  local assume_yes=$1 answer missing=() package
  shift
  if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    echo "This script installs packages on Debian and Ubuntu only. Elsewhere, install what these" >&2
    echo "Debian packages contain, then build with: cmake --preset release && cmake --build --preset release" >&2
    printf '  %s\n' "$@" >&2
    exit 1
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo > /dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "These packages are needed and not installed:"
  printf '  %s\n' "${missing[@]}"
  if [[ $assume_yes != yes ]]; then
    [[ -t 0 ]] || die "cannot ask without a terminal; run it again with --yes"
    read -r -p "Install them with apt? [y/N] " answer
    [[ $answer == [yY]* ]] || die "nothing was installed"
  fi
  "${as_root[@]}" apt-get update -qq || echo "apt-get update failed; going on with the package lists at hand" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" || die "apt could not install: ${missing[*]}"
}
