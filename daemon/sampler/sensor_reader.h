// The wall between the slow loop and whatever reads a sensor: power, clocks, temperatures, memory
// traffic. A reader is one source that is read as a whole: a file, a metrics table, a PMU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gputrace::sampler {

/// Stored in session files as text (docs/database.md).
enum class SensorKind {
  kGauge,    ///< a value now, or the firmware's average over a short time
  kCounter,  ///< a total since the reader was opened; only differences mean something
  kBits,     ///< a bit field of at most 32 bits; never averaged
};

/// One series. The same quantity of two sources is two series: they are never mixed.
struct SensorDescription {
  std::string name;    ///< of the quantity, whatever the source: "package_power", "gfx_clock"
  std::string source;  ///< "hwmon power1_average", "gpu_metrics average_socket_power"
  std::string label;   ///< what the source itself calls it: "PPT", "Tctl"; may be empty
  std::string unit;    ///< "W", "J", "MHz", "C", "V", "%", "RPM", "bytes", "bytes/s", "bits"
  SensorKind kind = SensorKind::kGauge;
  std::string covers;    ///< where it counts more than this GPU: "CPU and GPU together"
  std::string decision;  ///< how a doubtful unit was decided; empty where there was no doubt
};

enum class SensorOutcome {
  kRead,      ///< values that are absent were not provided
  kRejected,  ///< there was an answer, and it cannot be true (torn, all zero, truncated)
  kFailed,    ///< errno
};

/// What the last read() found of one sensor, for people who look into it.
struct SensorEvidence {
  std::string raw;     ///< text of the file or number of the table behind the value; may be empty
  std::string absent;  ///< why there is no value; empty when there is one
};

/// Used by one thread at a time.
class SensorReader {
 public:
  SensorReader() = default;
  SensorReader(const SensorReader&) = delete;
  SensorReader& operator=(const SensorReader&) = delete;
  virtual ~SensorReader() = default;

  /// "gpu_metrics", "hwmon amdgpu power1_average", "pmu amd_umc": for warnings and statistics.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The same for the reader's whole life: whatever was in doubt was decided when it was opened.
  /// Where only an answer tells them, and there was none yet: none until the first kRead.
  [[nodiscard]] virtual std::span<const SensorDescription> sensors() const noexcept = 0;
  /// Reading it would wake a sleeping GPU: the loop does not, and calls release() instead.
  [[nodiscard]] virtual bool needs_gpu_awake() const noexcept = 0;
  /// At most so many reads a second are worth it, whatever the loop's rate; limits change seldom.
  [[nodiscard]] virtual double max_rate_hz() const noexcept { return 1000; }

  /// values[i] belongs to sensors()[i]; each is set on every call. Never allocates on success, but
  /// for the one that finds the sensors; never throws. May block as long as the driver does.
  [[nodiscard]] virtual SensorOutcome read(std::span<std::optional<double>> values) noexcept = 0;
  /// Closes files of the device, so that it may sleep. The next read() opens them again.
  virtual void release() noexcept {}

  /// In words, why the last read() was not kRead; with errno text.
  [[nodiscard]] virtual std::string last_error() const = 0;
  /// Of sensors()[sensor].
  [[nodiscard]] virtual SensorEvidence evidence(std::size_t /*sensor*/) const {
    return {.raw = {}, .absent = last_error()};
  }
};

}  // namespace gputrace::sampler
