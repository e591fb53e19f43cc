#include "cli/commands/record/invoking_user.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace gputrace::commands {

namespace {

Result<unsigned> id_from_environment(const char* name) {
  const char* value = std::getenv(name);
  const std::string_view text = value == nullptr ? std::string_view() : value;
  unsigned id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  // (uid_t)-1 means "leave as it is" to setresuid.
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() ||
      id == static_cast<unsigned>(-1)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is '{}', not a number: cannot tell which user called sudo; unset "
                            "SUDO_UID and SUDO_GID to record as root",
                            name, text));
  }
  return id;
}

InvokingUser look_up(uid_t uid, gid_t gid) {
  InvokingUser user{uid, gid, {}, std::nullopt};
  std::vector<char> text(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, text.data(), text.size(), &found) == 0 && found != nullptr) {
    user.name = found->pw_name;
    user.home = found->pw_dir;
  }
  return user;
}

/// Absent or `of_root`: `of_user`; with nothing known of the user, unset.
Status replace_variable(const char* name, const std::string& of_root, const std::string& of_user) {
  const char* value = std::getenv(name);
  if (value != nullptr && value != of_root) {
    return {};
  }
  if ((of_user.empty() ? ::unsetenv(name) : ::setenv(name, of_user.c_str(), 1)) != 0) {
    return fail_errno(errno, fmt::format("cannot set {}", name));
  }
  return {};
}

Status drop_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) {
    return fail_errno(errno, "cannot drop capabilities");
  }
  return {};
}

}  // namespace

Result<std::optional<InvokingUser>> find_invoking_user() {
  if (::geteuid() != 0 || std::getenv("SUDO_UID") == nullptr) {
    return std::optional<InvokingUser>();
  }
  const Result<unsigned> uid = id_from_environment("SUDO_UID");
  if (!uid) {
    return tl::unexpected(uid.error());
  }
  if (*uid == 0) {
    return std::optional<InvokingUser>();
  }
  const Result<unsigned> gid = id_from_environment("SUDO_GID");
  if (!gid) {
    return tl::unexpected(gid.error());
  }
  return std::optional(look_up(*uid, *gid));
}

std::string describe(const InvokingUser& user) {
  return user.name.empty() ? fmt::format("user {}", user.uid) : user.name;
}

Status become(const InvokingUser& user) {
  const int groups =
      user.name.empty() ? ::setgroups(1, &user.gid) : ::initgroups(user.name.c_str(), user.gid);
  if (groups != 0 || ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0) {
    return fail_errno(errno, fmt::format("cannot become user {}", user.uid));
  }
  if (const Status status = drop_capabilities(); !status) {
    return status;
  }
  if (::setuid(0) == 0) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("user {} can still become root", user.uid));
  }
  return {};
}

Status take_environment(const InvokingUser& user) {
  const InvokingUser root = look_up(0, 0);
  const std::string home_of_root = root.home.value_or("/root").string();
  if (const Status status = replace_variable("HOME", home_of_root, user.home.value_or("").string());
      !status) {
    return status;
  }
  for (const char* name : {"USER", "LOGNAME"}) {
    if (const Status status = replace_variable(name, root.name, user.name); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::commands
