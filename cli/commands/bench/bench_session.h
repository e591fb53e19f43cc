// What `roofline`, `bench` and `calibrate` share: the device or the simulated GPU that the kernels
// run on, a recorder beside it where a GPU can be sampled, Ctrl-C, and the file of the results.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "cli/commands/bench/progress_line.h"
#include "daemon/base/result.h"
#include "daemon/store/session.h"
#include "kernels/bench/measurement.h"
#include "kernels/bench/runner.h"

namespace gputrace::commands {

struct BenchRequest {
  std::string device;  ///< --device: index, name or PCI address; empty = the default
  std::string gpu;     ///< --gpu: "sim:780m" = no Vulkan at all; else the GPU that is sampled
  bool quick = false;
  bool save = true;
  /// The samples are what it is for: a recorder that cannot start is an error, and with `save`
  /// false the file is there until the session ends, in a temporary folder of its own.
  bool needs_recording = false;
  store::SessionKind kind = store::SessionKind::kBench;
  std::vector<std::string> command;  ///< as typed, for the file
};

class BenchSession {
 public:
  /// Opens the device first: without one nothing is created. A recorder that cannot start is a
  /// note, not an error; with `gpu` given it is an error. Call it while the process has one thread.
  [[nodiscard]] static Result<std::unique_ptr<BenchSession>> open(const BenchRequest& request);
  virtual ~BenchSession() = default;

  [[nodiscard]] virtual bench::Runner& runner() = 0;
  /// Tells the recorder of each point where there is one, and reads sensors. Never null.
  [[nodiscard]] virtual bench::PointObserver* observer() = 0;
  /// Run lengths of --quick or of a full run; cancelled() is true after SIGINT or SIGTERM; progress
  /// goes to stderr if that is a terminal.
  [[nodiscard]] virtual bench::MeasurementOptions options() = 0;
  [[nodiscard]] virtual analysis::BenchDevice device() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& notes() const = 0;
  /// Names it in the progress; `seconds_left` are those of this test and all after it.
  virtual void begin_test(RunningTest test, double seconds_left) = 0;
  /// True after SIGINT or SIGTERM.
  [[nodiscard]] virtual bool cancelled() const = 0;
  /// Ends the recording and stores the results with it in one file of the machine folder. The path,
  /// or nothing with --no-save (unless the recording is needed).
  [[nodiscard]] virtual Result<std::optional<std::filesystem::path>> finish(
      const analysis::BenchRun& results) = 0;
};

/// On stderr, those from the one of number `printed` on, which grows: finish() may have more.
void print_notes(const BenchSession& session, std::size_t& printed);

}  // namespace gputrace::commands
