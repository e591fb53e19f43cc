// What `gputrace record` says when it has ended.
#pragma once

#include <string>
#include <vector>

#include "daemon/ipc/message.h"

namespace gputrace::commands {

/// Lines for the terminal; everything that came from files or the command line is escaped.
[[nodiscard]] std::vector<std::string> summary_lines(const ipc::ReadyAnswer& ready,
                                                     const ipc::ClosedAnswer& closed);
/// What a reader of the recording must know before trusting it.
[[nodiscard]] std::vector<std::string> closing_warnings(const ipc::ClosedAnswer& closed);

}  // namespace gputrace::commands
