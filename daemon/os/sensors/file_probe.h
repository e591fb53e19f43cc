// Asks sensor files once, when they are found: does each work, and if not, why.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/os/sensors/sensor_file.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

/// What one read of a file gave.
struct FileAnswer {
  int error_number = 0;  ///< 0 = text
  std::string text;
};

/// Reads files with a deadline. After the first that does not answer the others are not asked: what
/// holds one holds them all.
class FileProbe {
 public:
  explicit FileProbe(std::chrono::milliseconds deadline) : deadline_(deadline) {}

  /// Absent when the file was not asked or did not answer in time.
  [[nodiscard]] std::optional<FileAnswer> ask(const SensorFile& file);
  /// Why later files are not asked; empty = they are.
  [[nodiscard]] const std::string& stuck() const { return stuck_; }
  void set_stuck(const std::string& source);

 private:
  std::chrono::milliseconds deadline_;
  std::string stuck_;
};

/// amdgpu prints all power of one GPU in one form. One value that 8.8 fixed point cannot give shows
/// that it is plain microwatts; otherwise it is 8.8, the form of all kernels known. Sets format and
/// `decision` of the power files. answers[i] belongs to files[i].
void decide_power_form(std::vector<SensorFile>& files,
                       const std::vector<std::optional<FileAnswer>>& answers);

/// Adds the finding about `file` and, unless it can never give a value, its reader.
void add_file(SensorFile file, const std::optional<FileAnswer>& answer, const std::string& stuck,
              OpenedSensors& opened);

/// "gfx clock" for the series gfx_clock.
[[nodiscard]] std::string series_words(const std::string& series);

}  // namespace gputrace::os
