// The recorder beside a bench: it takes each point, and its file takes the results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/record/recorder_link.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

class BenchRecorder {
 public:
  /// Waits until `link`, which has its order, is ready. Errors are those of the recorder; kBusy: it
  /// did not answer by then, or `cancelled` said so.
  [[nodiscard]] static Result<BenchRecorder> wait_until_ready(
      std::unique_ptr<RecorderLink> link, std::int64_t patience_ns,
      const std::function<bool()>& cancelled);

  [[nodiscard]] const ipc::ReadyAnswer& ready() const { return ready_; }

  /// Sends a point; await_point() returns when the recorder has it. An error: it records no more
  /// points.
  [[nodiscard]] Status send_point(const ipc::PointOrder& order);
  [[nodiscard]] Status await_point();
  /// Ends the recording. The file; an error when there is none that could be finished.
  [[nodiscard]] Result<std::filesystem::path> stop();

  /// Ends it without a file.
  void discard();

  /// What the recorder told meanwhile, once.
  [[nodiscard]] std::vector<std::string> take_warnings();

 private:
  explicit BenchRecorder(std::unique_ptr<RecorderLink> link) : link_(std::move(link)) {}

  /// The next answer of this kind; warnings before it are kept.
  template <class Kind>
  [[nodiscard]] Result<Kind> await(std::int64_t patience_ns,
                                   const std::function<bool()>& cancelled);

  std::unique_ptr<RecorderLink> link_;
  ipc::ReadyAnswer ready_;
  bool open_ = true;
  bool stopped_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace gputrace::commands
