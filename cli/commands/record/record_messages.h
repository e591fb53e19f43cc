// What `gputrace record` says when it has ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/record/recorder_link.h"
#include "daemon/ipc/message.h"

namespace gputrace::commands {

/// Lines for the terminal; everything that came from files or the command line is escaped.
/// `closed` is absent when the recorder went away before it could say.
[[nodiscard]] std::vector<std::string> summary_lines(const ipc::ReadyAnswer& ready,
                                                     const std::optional<ipc::ClosedAnswer>& closed,
                                                     const Delivery& delivery);
/// What a reader of the recording must know before trusting it.
[[nodiscard]] std::vector<std::string> closing_warnings(const ipc::ClosedAnswer& closed);

}  // namespace gputrace::commands
