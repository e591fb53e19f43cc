// What becomes of the samples of one session.
#pragma once

#include <optional>
#include <string>

#include "daemon/ipc/message.h"
#include "daemon/store/session.h"

namespace gputrace::recorder {

class SessionOutput {
 public:
  SessionOutput() = default;
  SessionOutput(const SessionOutput&) = delete;
  SessionOutput& operator=(const SessionOutput&) = delete;
  virtual ~SessionOutput() = default;

  virtual void add_event(store::Event event) = 0;
  virtual void add_processes(ipc::ProcessesOrder processes) = 0;
  /// Goes on with another GPU when that is open; a failure is a warning.
  virtual void switch_gpu(std::string pci) = 0;
  /// Ends the session; what it kept is finished when this returns. The sampling goes on for others.
  [[nodiscard]] virtual ipc::ClosedAnswer finish(std::optional<int> exit_code,
                                                 std::optional<int> signal) = 0;
};

}  // namespace gputrace::recorder
