#include "cli/commands/report/report_evidence.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/report/report_energy.h"
#include "cli/commands/report/report_processes.h"
#include "cli/commands/report/report_throttling.h"
#include "cli/commands/report/sensor_set.h"
#include "cli/commands/report/sensor_warnings.h"

namespace gputrace::commands {
namespace {

/// Sensors that only a card of its own has (docs of amdgpu's hwmon): it may suspend.
constexpr std::array<std::string_view, 4> kCardSensors{"junction_temperature", "mem_temperature",
                                                       "fan_speed", "fan_pwm"};

/// An ioctl marks the device as in use each time, so one that suspends does not. Absent where
/// neither sleep nor a sensor tells whether it would.
std::optional<bool> kept_device_awake(const report::Report& report) {
  if (report.session.imported || report.gpu.simulated || report.units.empty()) {
    return std::nullopt;
  }
  if (report.sampling.asleep_share.value_or(0) > 0) {
    return true;
  }
  const std::vector<report::Sensor>& sensors = report.sensors;
  const report::Sensor* power =
      find_sensor(sensors, "package_power", report::SensorKind::kGauge, false);
  if (power != nullptr && covers_cpu(*power)) {
    return false;
  }
  const bool card = std::any_of(sensors.begin(), sensors.end(), [](const report::Sensor& sensor) {
    return !sensor.of_machine && sensor.samples > 0 &&
           std::find(kCardSensors.begin(), kCardSensors.end(), sensor.name) != kCardSensors.end();
  });
  return card ? std::optional(true) : std::nullopt;
}

}  // namespace

Status add_evidence(const store::SessionReader& session, const SensorSet& set,
                    const Timeline& timeline, const sampler::GpuIdentity& gpu,
                    std::int64_t session_start_ns, report::Report& report) {
  report.sensors = set.sensors();
  report.sensor_sources = set.sources();
  report.energy = energy_of(report.sensors);
  report.dram = dram_traffic_of(report.sensors);
  const bool activity_stuck =
      std::any_of(report.sensors.begin(), report.sensors.end(), [&](const report::Sensor& sensor) {
        return sensor.name == "gfx_activity" && is_activity_stuck(sensor, report);
      });
  Result<std::optional<report::Throttling>> throttling =
      throttling_of(set, gpu.gc, !activity_stuck);
  if (!throttling) {
    return tl::unexpected<Error>(throttling.error());
  }
  report.throttling = std::move(*throttling);
  Result<std::vector<report::Process>> processes =
      processes_of(session, set.shown(), session_start_ns);
  if (!processes) {
    return tl::unexpected<Error>(processes.error());
  }
  report.processes = std::move(*processes);
  const Result<std::vector<store::Frame>> frames = session.frames(timeline.selection);
  if (!frames) {
    return tl::unexpected<Error>(frames.error());
  }
  report.frames = frames_of(*frames);
  report.sampling.kept_device_awake = kept_device_awake(report);
  return {};
}

}  // namespace gputrace::commands
