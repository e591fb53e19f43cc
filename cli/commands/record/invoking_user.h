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

/// Makes the calling process, which has one thread, that user for good: groups, ids, no
/// capabilities.
[[nodiscard]] Status become(const InvokingUser& user);

}  // namespace gputrace::commands
