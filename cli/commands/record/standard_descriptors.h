// Descriptors 0 to 2 that the caller has closed must not become gputrace's own.
#pragma once

#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

/// Holds those that are free: messages for people would else be written into a socket. CMD finds
/// them closed as it should (close on exec).
[[nodiscard]] Result<std::vector<UniqueFd>> reserve_standard_descriptors();

}  // namespace gputrace::commands
