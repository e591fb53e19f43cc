// Who typed `sudo gputrace ...`: CMD and the session file are theirs, not root's.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/base/result.h"

namespace gputrace::commands {

struct InvokingUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;                           ///< empty when passwd does not know the uid
  std::optional<std::filesystem::path> home;  ///< from passwd
};

/// Absent unless this process is root through sudo by somebody else. kInvalidArgument when sudo's
/// variables are damaged: CMD must then not run as root by mistake.
[[nodiscard]] Result<std::optional<InvokingUser>> find_invoking_user();

/// "alice", or "user 1000".
[[nodiscard]] std::string describe(const InvokingUser& user);

/// Makes the calling process, which has one thread, that user for good: groups, ids, no
/// capabilities.
[[nodiscard]] Status become(const InvokingUser& user);

/// HOME, USER and LOGNAME of the calling process where they are still root's, as sudo has set them:
/// a program that runs as the user cannot keep its files in root's home. Other values were chosen
/// by the user (sudo -E, env) and stay.
[[nodiscard]] Status take_environment(const InvokingUser& user);

}  // namespace gputrace::commands
