// A sensor reader that a test prepares: values, failures, a read that hangs until the test lets it
// go. What it shares with the test outlives a read that is left behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sampler/sensor_reader.h"

namespace gputrace::test {

/// Prepared before the loop begins; the counters may be read at any time.
struct FakeSensor {
  explicit FakeSensor(std::string its_name, std::vector<std::string> series = {"package_power"})
      : name(std::move(its_name)) {
    for (std::string& one : series) {
      sensors.push_back({std::move(one), name, "", "W", sampler::SensorKind::kGauge, "", ""});
    }
  }

  std::string name;
  std::vector<sampler::SensorDescription> sensors;
  /// The read that finds them; absent: they are known before any.
  std::optional<std::uint64_t> found_at = std::nullopt;
  bool needs_gpu_awake = true;
  double max_rate_hz = 1000;
  /// By the number of the read, from 0.
  std::function<sampler::SensorOutcome(std::uint64_t)> outcome = [](std::uint64_t) {
    return sampler::SensorOutcome::kRead;
  };
  std::function<std::optional<double>(std::uint64_t, std::size_t)> value =
      [](std::uint64_t, std::size_t) { return std::optional(15.0); };
  /// Runs at the start of each read: to move a clock.
  std::function<void(std::uint64_t)> on_read;
  /// This read hangs until let_go.count_down().
  std::uint64_t hangs_at = std::numeric_limits<std::uint64_t>::max();

  std::latch hangs{1};
  std::latch let_go{1};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> releases{0};
  std::atomic<bool> is_open{false};
  std::atomic<bool> is_gone{false};  ///< the reader was destroyed
};

class FakeSensorReader final : public sampler::SensorReader {
 public:
  explicit FakeSensorReader(std::shared_ptr<FakeSensor> sensor) : sensor_(std::move(sensor)) {}
  FakeSensorReader(const FakeSensorReader&) = delete;
  FakeSensorReader& operator=(const FakeSensorReader&) = delete;
  ~FakeSensorReader() override { sensor_->is_gone = true; }

  [[nodiscard]] std::string_view name() const noexcept override { return sensor_->name; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    const std::uint64_t found_at = sensor_->found_at.value_or(0);
    return sensor_->found_at && sensor_->reads <= found_at
               ? std::span<const sampler::SensorDescription>()
               : sensor_->sensors;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return sensor_->needs_gpu_awake; }
  [[nodiscard]] double max_rate_hz() const noexcept override { return sensor_->max_rate_hz; }

  [[nodiscard]] sampler::SensorOutcome read(
      std::span<std::optional<double>> values) noexcept override {
    const std::uint64_t index = sensor_->reads++;
    sensor_->is_open = true;
    if (sensor_->on_read) {
      sensor_->on_read(index);
    }
    if (index == sensor_->hangs_at) {
      sensor_->hangs.count_down();
      sensor_->let_go.wait();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = sensor_->value(index, i);
    }
    return sensor_->outcome(index);
  }
  void release() noexcept override {
    ++sensor_->releases;
    sensor_->is_open = false;
  }
  [[nodiscard]] std::string last_error() const override { return "EIO of the test"; }

 private:
  std::shared_ptr<FakeSensor> sensor_;
};

}  // namespace gputrace::test
