// Runs what may crash or never return (Vulkan drivers, firmware that has stopped answering) in a
// child process with a deadline.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// What `work` returns, from the child. kIo when the child was ended by a signal, kBusy when it did
/// not answer in time: it is killed, and left behind when it is stuck in the driver and does not
/// die. The child writes nothing to the terminal. Call it while the process has one thread.
[[nodiscard]] Result<std::string> call_isolated(std::chrono::milliseconds deadline,
                                                const std::function<std::string()>& work);

}  // namespace gputrace::commands
