// Reads one sensor from one sysfs file, which stays open between reads.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/unique_fd.h"
#include "daemon/os/sensors/sensor_file.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::os {

/// sysfs shows at most a page (Documentation/filesystems/sysfs.rst).
inline constexpr std::size_t kMaxFileText = 4096;

/// The bytes of one pread at offset 0, opening the file first if it is not open. -1 = errno; the
/// file is then closed: a device that was removed leaves a descriptor that never works again.
/// sysfs makes the whole content anew for each read at offset 0.
[[nodiscard]] ssize_t read_whole(UniqueFd& fd, const std::filesystem::path& path,
                                 std::span<std::byte> buffer) noexcept;

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
  [[nodiscard]] sampler::SensorEvidence evidence(std::size_t sensor) const override;

 private:
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

  SensorFile file_;
  UniqueFd fd_;
  std::array<char, kMaxFileText> text_{};
  std::size_t size_ = 0;
  int error_number_ = 0;
  std::string_view problem_;
  bool is_form_broken_ = false;
};

}  // namespace gputrace::os
