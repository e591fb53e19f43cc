// What the sensors of the simulated GPU show at any time: power, clocks, temperature and memory
// traffic of the same work and the same solved clock that the register words come from. A pure
// function of time, safe from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/simulated_gpu/playback.h"

namespace gputrace::simulated_gpu {

/// The firmware shows averages over so long [A]: the period of the default sensor rate, so that
/// readings follow each other without gaps.
inline constexpr std::int64_t kFirmwareWindowNs = 100'000'000;

/// Averages are over the kFirmwareWindowNs before the instant.
struct SensorValues {
  double package_w = 0;      ///< average; on an APU CPU and GPU together
  double package_now_w = 0;  ///< at the instant
  double gfx_w = 0;          ///< shares of package_w
  double soc_w = 0;          ///< memory, fabric and what never rests
  double cpu_w = 0;
  double package_j = 0;  ///< since the scenario's begin
  double temperature_c = 0;
  double junction_c = 0;  ///< of the hottest place
  double fan_rpm = 0;
  double gfx_clock_mhz = 0;          ///< at the instant
  double gfx_clock_average_mhz = 0;  ///< average
  double memory_clock_mhz = 0;
  double gfx_v = 0;
  double soc_v = 0;
  double gfx_activity = 0;              ///< average of GUI_ACTIVE, 0 to 1
  double memory_activity = 0;           ///< average share of the DRAM's peak rate
  double dram_read_bytes = 0;           ///< of the GPU, since the scenario's begin
  double dram_written_bytes = 0;        ///< the same
  double cpu_dram_bytes = 0;            ///< that the CPU read meanwhile, and as many that it wrote
  double dram_read_bytes_per_s = 0;     ///< average
  double dram_written_bytes_per_s = 0;  ///< average
  double vram_used_bytes = 0;
  double gtt_used_bytes = 0;
};

/// Times are nanoseconds since the scenario's begin. Before it the GPU is idle.
class SimulatedSensors {
 public:
  explicit SimulatedSensors(std::shared_ptr<const Playback> playback);
  /// Of a scenario alone.
  explicit SimulatedSensors(std::shared_ptr<const Simulation> simulation);

  [[nodiscard]] const SimulatedModel& model() const { return playback_->simulation().model(); }
  [[nodiscard]] double power_limit_w() const {
    return playback_->simulation().scenario().power_limit_w;
  }

  [[nodiscard]] SensorValues at(std::int64_t time_ns) const;

  // The exact truth of [begin_ns, end_ns), for tests.
  [[nodiscard]] double energy_j(std::int64_t begin_ns, std::int64_t end_ns) const;
  [[nodiscard]] double dram_read_bytes(std::int64_t begin_ns, std::int64_t end_ns) const;
  [[nodiscard]] double dram_written_bytes(std::int64_t begin_ns, std::int64_t end_ns) const;
  /// 0 to 1.
  [[nodiscard]] double gfx_activity(std::int64_t begin_ns, std::int64_t end_ns) const;
  [[nodiscard]] double mean_gfx_clock_mhz(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  std::shared_ptr<const Playback> playback_;
};

}  // namespace gputrace::simulated_gpu
