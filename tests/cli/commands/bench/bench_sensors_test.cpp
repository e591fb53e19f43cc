#include "cli/commands/bench/bench_sensors.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gputrace::commands {
namespace {

using sampler::SensorOutcome;

/// Tells its sensors when it is opened, or with its first answer.
class FakeReader final : public sampler::SensorReader {
 public:
  FakeReader(std::vector<sampler::SensorDescription> sensors, bool at_once)
      : all_(std::move(sensors)), sensors_(at_once ? all_ : decltype(all_){}) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "fake"; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return sensors_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return true; }
  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    CHECK(values.size() == sensors_.size());
    sensors_ = all_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 10.0 * static_cast<double>(i + 1);
    }
    return SensorOutcome::kRead;
  }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  std::vector<sampler::SensorDescription> all_;
  std::vector<sampler::SensorDescription> sensors_;
};

BenchSensors sensors_of(bool at_once) {
  std::vector<sampler::SensorDescription> told(2);
  told[0].name = "fan_speed";
  told[1].name = "gfx_clock";
  std::vector<std::unique_ptr<sampler::SensorReader>> readers;
  readers.push_back(std::make_unique<FakeReader>(std::move(told), at_once));
  return BenchSensors(std::move(readers));
}

/// Never answers until it is released.
class HangingReader final : public sampler::SensorReader {
 public:
  explicit HangingReader(std::shared_future<void> released) : released_(std::move(released)) {
    sensors_[0].name = "gfx_clock";
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "hanging"; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return sensors_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return true; }
  [[nodiscard]] SensorOutcome read(std::span<std::optional<double>> values) noexcept override {
    released_.wait();
    values[0] = 1;
    return SensorOutcome::kRead;
  }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  std::shared_future<void> released_;
  std::vector<sampler::SensorDescription> sensors_{1};
};

TEST_CASE("a quantity is that of the first of its names that a sensor has, or absent") {
  BenchSensors sensors = sensors_of(/*at_once=*/true);
  CHECK(sensors.read({"gfx_clock"}) == 20);
  CHECK(sensors.read({"package_power", "fan_speed"}) == 10);
  CHECK_FALSE(sensors.read({"package_power"}).has_value());
}

TEST_CASE("a reader that tells its sensors with its first answer has a value at once") {
  BenchSensors sensors = sensors_of(/*at_once=*/false);
  CHECK(sensors.read({"gfx_clock"}) == 20);
}

TEST_CASE("a reader that hangs is left behind, and others answer in its place") {
  std::promise<void> release;
  std::vector<sampler::SensorDescription> told(1);
  told[0].name = "gfx_clock";
  std::vector<std::unique_ptr<sampler::SensorReader>> readers;
  readers.push_back(std::make_unique<HangingReader>(release.get_future().share()));
  readers.push_back(std::make_unique<FakeReader>(std::move(told), true));
  BenchSensors sensors(std::move(readers), std::chrono::milliseconds(1));
  // On a loaded machine the other reader may miss so short a deadline as well.
  const std::optional<double> value = sensors.read({"gfx_clock"});
  CHECK(value.value_or(10) == 10);
  release.set_value();
}

}  // namespace
}  // namespace gputrace::commands
