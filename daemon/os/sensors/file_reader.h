// Reads one sensor from one sysfs file, which stays open between reads.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/sensor_file.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::os {

/// sysfs shows at most a page (Documentation/filesystems/sysfs.rst).
inline constexpr std::size_t kMaxFileText = 4096;

/// The bytes of one pread at offset 0, opening the file first if it is not open. -1 = errno.
/// sysfs makes the whole text anew for each read at offset 0.
[[nodiscard]] ssize_t read_whole(UniqueFd& fd, const std::filesystem::path& path,
                                 std::array<char, kMaxFileText>& text) noexcept;

class FileReader final : public sampler::SensorReader {
 public:
  /// Opens nothing.
  explicit FileReader(SensorFile file);

  [[nodiscard]] std::string_view name() const noexcept override;
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override;
  [[nodiscard]] bool needs_gpu_awake() const noexcept override;
  [[nodiscard]] double max_rate_hz() const noexcept override;
  /// After a power that contradicts the form in which the earlier ones were read, all are rejected:
  /// a series never changes its unit.
  [[nodiscard]] sampler::SensorOutcome read(
      std::span<std::optional<double>> values) noexcept override;
  void release() noexcept override;
  [[nodiscard]] std::string last_error() const override;

 private:
  SensorFile file_;
  UniqueFd fd_;
  int error_number_ = 0;
  std::string_view problem_;
  bool is_form_broken_ = false;
};

}  // namespace gputrace::os
