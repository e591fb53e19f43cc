// Tells the recorder, and the simulated GPU of this process, of each point; reads sensors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/bench/bench_recorder.h"
#include "cli/commands/bench/bench_sensors.h"
#include "kernels/bench/runner.h"

namespace gputrace::commands {

class SessionObserver final : public bench::PointObserver {
 public:
  using Play = std::function<Status(std::string_view stimulus)>;

  /// `recorder` may be null, and must outlive this. `play`: of the simulated GPU whose sensors
  /// these are; else empty. `notes` takes what a person should know of; the same only once.
  SessionObserver(BenchSensors sensors, Play play, BenchRecorder* recorder,
                  std::function<void(const std::string&)> note);

  void begin_point(const std::string& label, const bench::Stimulus& stimulus) override;
  void end_point(const std::string& label) override;
  [[nodiscard]] std::optional<double> clock_mhz() override;
  [[nodiscard]] std::optional<double> power_w() override;
  [[nodiscard]] std::optional<double> temperature_c() override;
  [[nodiscard]] std::optional<double> fan_rpm() override;

 private:
  void tell(const std::string& label, const std::optional<std::string>& stimulus);

  BenchSensors sensors_;
  Play play_;
  BenchRecorder* recorder_;  ///< null once it takes no more points
  std::function<void(const std::string&)> note_;
};

}  // namespace gputrace::commands
