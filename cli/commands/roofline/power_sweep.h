// The roofline at several power limits: set, wait until the package follows, measure, go on; and
// never leave without setting the limit back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bench_result.h"
#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

inline constexpr double kDefaultMaxTemperatureC = 95;

struct PowerLevel {
  std::uint32_t watts = 0;
  std::optional<double> package_w;  ///< under load; absent = no sensor: not verified
  std::optional<analysis::DerivedValue> copy;
  std::optional<analysis::DerivedValue> peak;
  std::optional<double> temperature_c;  ///< the highest
  std::optional<double> fan_rpm;        ///< likewise
  std::string note;
};

/// What one level is measured with.
struct LevelResult {
  std::optional<analysis::DerivedValue> copy;  ///< DRAM copy, GB/s
  std::optional<analysis::DerivedValue> peak;  ///< fp32, GFLOPS
  std::optional<Error> error;                  ///< a lost device, a wrong result
  std::string note;                            ///< why one of the two is missing
};

/// What the sweep works with. The sensors may have no value.
struct PowerSweepSteps {
  std::function<Status(std::uint32_t watts)> set;
  std::function<Status()> restore;
  /// Keeps the GPU busy for some tens of milliseconds.
  std::function<Status()> load;
  /// Ends early, with what it has, when stop() is true.
  std::function<LevelResult(const std::function<bool()>& stop)> measure;
  std::function<std::optional<double>()> power_w;
  std::function<std::optional<double>()> temperature_c;
  std::function<std::optional<double>()> fan_rpm;
  std::function<bool()> cancelled;
};

struct PowerSweep {
  std::vector<PowerLevel> levels;       ///< those that were measured
  std::optional<Error> stopped;         ///< why levels are missing; not for Ctrl-C
  std::optional<Error> restore_failed;  ///< the limit is not what it was
};

/// `log` gets what is being done, a line each.
[[nodiscard]] PowerSweep run_power_sweep(const std::vector<std::uint32_t>& levels,
                                         double max_temperature_c, const PowerSweepSteps& steps,
                                         Clock& clock, const LogSink& log);

/// "power.copy", "power.peak", "power.package", "power.temperature", "power.fan" over the limit in
/// W, with a ridge a level; those without any value are left out.
[[nodiscard]] std::vector<analysis::TestResult> power_results(const PowerSweep& sweep);

/// The table: limit, package, DRAM copy, fp32 peak, ridge, temperature, fan; and notes.
[[nodiscard]] std::string power_table(const std::vector<PowerLevel>& levels);

}  // namespace gputrace::commands
