// Starts CMD exactly as a shell in gputrace's place would have: same session, process group, signal
// state, descriptors.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/commands/record/signal_gate.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

struct ChildProcess {
  pid_t pid = -1;
  /// Readable when exec has succeeded (end of file) or failed (see take_exec_error()).
  UniqueFd exec_status;
};

/// Forks and executes `command` (found in PATH). `become_user` runs in the child first and returns
/// an errno or 0; empty = nothing to do. A signal that gputrace asked to get when its parent ends
/// (PR_SET_PDEATHSIG, which fork(2) clears) is asked for again: CMD gets it when gputrace ends.
[[nodiscard]] Result<ChildProcess> start_child(const std::vector<std::string>& command,
                                               const SignalGate& signals,
                                               const std::function<int()>& become_user);

/// The errno of the child's exec, 0 when it succeeded. Call when exec_status is readable.
[[nodiscard]] int take_exec_error(const UniqueFd& exec_status);

/// As env(1) and the shells have it: 127 = not found, 126 = found but cannot be executed.
[[nodiscard]] int exit_status_of_exec_error(int error_number);

}  // namespace gputrace::commands
