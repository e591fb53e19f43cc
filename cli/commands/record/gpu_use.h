// Which GPUs the workload uses, as far as fdinfo tells: passes the readings on to the recorder,
// lets it go on with another GPU when the workload turns out to use that one, and says so at the
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/commands/record/gpu_choice.h"
#include "cli/commands/record/process_watch.h"
#include "cli/commands/record/recorder_link.h"
#include "daemon/ipc/message.h"
#include "daemon/os/gpu_device.h"

namespace gputrace::commands {

class GpuUse {
 public:
  /// `gpu_was_named`: by --gpu, so that it is not changed.
  GpuUse(os::SystemRoots roots, bool gpu_was_named)
      : roots_(std::move(roots)), gpu_was_named_(gpu_was_named) {}

  /// The recording has begun. Watches the processes of the workload, if there is one; returns the
  /// process that does.
  [[nodiscard]] std::optional<pid_t> begin(const ipc::ReadyAnswer& ready,
                                           const std::optional<TreeRoots>& tree);
  /// For poll(2); -1 when nobody is watched.
  [[nodiscard]] int fd() const { return watch_ ? watch_->fd() : -1; }
  /// Call it when fd() is readable.
  void take(RecorderLink& recorder);

  [[nodiscard]] const os::SystemRoots& roots() const { return roots_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void take_reading(const ipc::ProcessesOrder& reading, RecorderLink& recorder);
  void found_elsewhere(const std::string& pdev, std::int64_t time_ns, GpuChoice& choice,
                       RecorderLink& recorder);
  void note_sleep(const std::string& pci);
  [[nodiscard]] std::string describe(const std::string& pdev) const;

  os::SystemRoots roots_;
  bool gpu_was_named_;
  std::optional<ProcessWatch> watch_;
  std::optional<GpuChoice> choice_;  ///< absent for a simulated GPU
  std::int64_t begin_ns_ = 0;
  bool switched_ = false;
  std::set<std::string> told_;  ///< GPUs and drivers that a note or warning names
  std::vector<std::string> notes_;
  std::vector<std::string> warnings_;
};

}  // namespace gputrace::commands
