#include "daemon/os/privileges.h"

#include <cap-ng.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <vector>

namespace gputrace::os {
namespace {

constexpr std::array<unsigned, 2> kKept{CAP_SYS_NICE, CAP_PERFMON};

// A group of a directory service may have thousands of members, whose names share the buffer.
constexpr std::size_t kMaxGroupBytes = std::size_t{16} << 20U;

bool is_kept(unsigned capability) {
  return capability == kKept[0] || capability == kKept[1];
}

std::vector<unsigned> held(capng_type_t set) {
  std::vector<unsigned> capabilities;
  for (unsigned capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (capng_have_capability(set, capability) == 1) {
      capabilities.push_back(capability);
    }
  }
  return capabilities;
}

std::string name_of(unsigned capability) {
  const char* name = capng_capability_to_name(capability);
  return name == nullptr ? fmt::format("capability {}", capability) : fmt::format("cap_{}", name);
}

Status read_capabilities() {
  capng_clear(CAPNG_SELECT_ALL);
  if (capng_get_caps_process() != 0) {
    return fail(ErrorCode::kIo, "cannot read the capabilities of this process (capget(2))");
  }
  return {};
}

// The kernel's word on it, not the library's: what is left is what an attacker would find.
Result<std::string> verify_dropped() {
  if (auto read = read_capabilities(); !read) {
    return tl::unexpected(read.error());
  }
  std::string left;
  for (const unsigned capability : held(CAPNG_PERMITTED)) {
    if (!is_kept(capability)) {
      return fail(ErrorCode::kPermissionDenied,
                  fmt::format("cannot give up {}: still there after capset(2); not starting with "
                              "more privileges than needed",
                              name_of(capability)));
    }
    left += left.empty() ? name_of(capability) : "," + name_of(capability);
  }
  return left;
}

}  // namespace

Result<std::string> drop_capabilities() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fail_errno(errno, "cannot set no_new_privs (prctl(2))");
  }
  if (auto read = read_capabilities(); !read) {
    return tl::unexpected(read.error());
  }
  const std::vector<unsigned> before = held(CAPNG_PERMITTED);
  if (before.empty()) {
    return std::string();
  }
  // The bounding set needs CAP_SETPCAP, which is a separate step so that its absence (under
  // CapabilityBoundingSet= of the unit) leaves the other sets to be dropped all the same.
  const bool may_lower_bounds = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) == 1;
  const std::vector<unsigned> bounds = held(CAPNG_BOUNDING_SET);
  capng_clear(CAPNG_SELECT_BOTH);
  for (const unsigned capability : before) {
    if (is_kept(capability)) {
      capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, capability);
      capng_update(CAPNG_ADD, CAPNG_PERMITTED, capability);
    }
  }
  if (may_lower_bounds) {
    for (const unsigned capability : bounds) {
      if (is_kept(capability)) {
        capng_update(CAPNG_ADD, CAPNG_BOUNDING_SET, capability);
      }
    }
  }
  if (const int failed = capng_apply(may_lower_bounds ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
      failed != 0) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("cannot give up capabilities (capset(2), step {}); not starting with "
                            "more privileges than needed",
                            -failed));
  }
  return verify_dropped();
}

Result<gid_t> find_group(const std::string& name) {
  std::vector<char> buffer(4096);
  while (true) {
    group entry{};
    group* found = nullptr;
    const int error = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) {
      return entry.gr_gid;
    }
    if (error == EINTR) {
      continue;
    }
    if (error == ERANGE && buffer.size() < kMaxGroupBytes) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    // getgrnam(3): other values too mean "not found".
    if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("there is no group '{}'; make it with: systemd-sysusers (or: "
                              "groupadd --system {}), or name another in the configuration",
                              name, name));
    }
    return fail_errno(error, fmt::format("cannot look up the group '{}'", name));
  }
}

}  // namespace gputrace::os
