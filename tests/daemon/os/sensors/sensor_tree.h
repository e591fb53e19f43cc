// A GPU's device folder that a test fills, and a look at what was found in it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/sensors.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

class SensorTree {
 public:
  SensorTree() {
    write("power/runtime_status", "active\n");
    write("hwmon/hwmon3/name", "amdgpu\n");
  }
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  /// Of the hwmon folder.
  void hwmon(const std::string& file, const std::string& text) const {
    write("hwmon/hwmon3/" + file, text);
  }
  /// A read of it fails with EISDIR.
  void break_file(const std::string& file) const {
    remove(file);
    std::filesystem::create_directories(folder_.path() / file);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(folder_.path() / file); }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] os::OpenedSensors open() const {
    os::GpuDevice gpu;
    gpu.device_dir = path();
    return os::open_gpu_sensors(gpu, std::nullopt);
  }

 private:
  TempDir folder_;
};

/// The reader whose only series has this source; null = there is none.
inline sampler::SensorReader* find_reader(const os::OpenedSensors& opened,
                                          std::string_view source) {
  for (const auto& reader : opened.readers) {
    if (reader->sensors().size() == 1 && reader->sensors()[0].source == source) {
      return reader.get();
    }
  }
  return nullptr;
}

inline sampler::SensorReader& reader_of(const os::OpenedSensors& opened, std::string_view source) {
  sampler::SensorReader* reader = find_reader(opened, source);
  REQUIRE_MESSAGE(reader != nullptr, source);
  return *reader;
}

/// One read that must not fail; absent values are no failure.
inline std::optional<double> read_value(sampler::SensorReader& reader) {
  std::optional<double> value = -1;
  const sampler::SensorOutcome outcome = reader.read({&value, 1});
  CHECK_MESSAGE(outcome == sampler::SensorOutcome::kRead, reader.last_error());
  return value;
}

inline std::optional<double> read_value(const os::OpenedSensors& opened, std::string_view source) {
  return read_value(reader_of(opened, source));
}

inline os::SourceFinding finding_of(const os::OpenedSensors& opened, std::string_view source) {
  const auto fits = [&](const os::SourceFinding& finding) { return finding.source == source; };
  const auto found = std::find_if(opened.findings.begin(), opened.findings.end(), fits);
  REQUIRE_MESSAGE(found != opened.findings.end(), source);
  CHECK_MESSAGE(std::count_if(opened.findings.begin(), opened.findings.end(), fits) == 1, source);
  return *found;
}

inline bool has_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace gputrace::test
