#include "daemon/sampler/sensor_loop.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "tests/daemon/sampler/sensor_loop_rig.h"

namespace gputrace::sampler {
namespace {

using test::FakeSensor;

std::shared_ptr<FakeSensor> sensor(const std::string& name) {
  return std::make_shared<FakeSensor>(name);
}

bool reads_source(const Deliveries::Delivery& delivery, std::uint32_t source) {
  return std::any_of(delivery.readings.begin(), delivery.readings.end(),
                     [&](const SensorReading& reading) { return reading.source == source; });
}

TEST_CASE("each tick brings a reading of each source, with its values and times") {
  const auto power = std::make_shared<FakeSensor>(
      "gpu_metrics", std::vector<std::string>{"package_power", "gfx_clock"});
  power->value = [](std::uint64_t read, std::size_t series) {
    return series == 0 ? std::optional(static_cast<double>(read)) : std::nullopt;
  };
  LoopRig rig({power, sensor("hwmon k10temp")});
  const std::int64_t start_ns = rig.time->now_ns();
  for (int tick = 0; tick < 5; ++tick) {
    const auto delivery = tick == 0 ? rig.deliveries.wait_for(0) : rig.next();
    REQUIRE(delivery.readings.size() == 2);
    CHECK(delivery.readings[0].begin_ns == start_ns + tick * (100 * kNsPerMs));
    CHECK(delivery.readings[0].values ==
          std::vector<std::optional<double>>{static_cast<double>(tick), std::nullopt});
    CHECK(delivery.readings[1].values == std::vector<std::optional<double>>{15.0});
    CHECK(delivery.states[0].reads == static_cast<std::uint64_t>(tick) + 1);
    CHECK(delivery.notices.empty());
  }
}

TEST_CASE("what a read costs is counted; ticks that it outlasts are skipped") {
  const auto dear = sensor("gpu_metrics");
  LoopRig* running = nullptr;
  std::latch ready{1};
  dear->on_read = [&](std::uint64_t read) {
    ready.wait();
    if (read == 1) {
      running->time->advance(350 * kNsPerMs);
    }
  };
  LoopRig rig({dear});
  running = &rig;
  const std::int64_t start_ns = rig.time->now_ns();
  ready.count_down();
  CHECK(rig.deliveries.wait_for(0).readings.size() == 1);
  const auto long_one = rig.next();
  CHECK(long_one.readings[0].end_ns - long_one.readings[0].begin_ns == 350 * kNsPerMs);
  CHECK(long_one.states[0].cost_ns == 350 * kNsPerMs);
  CHECK(long_one.states[0].worst_ns == 350 * kNsPerMs);
  const auto after = rig.next(50 * kNsPerMs);  // at 500 ms: those of 200 to 400 are gone
  CHECK(after.readings[0].begin_ns == start_ns + 500 * kNsPerMs);
}

TEST_CASE("a read that hangs costs the others one deadline; when it returns it is read again") {
  const auto hanging = sensor("hwmon amdgpu");
  hanging->hangs_at = 2;
  const auto other = sensor("pmu amd_umc");
  LoopRig rig({hanging, other});
  REQUIRE(rig.deliveries.wait_for(0).readings.size() == 2);
  REQUIRE(rig.next().readings.size() == 2);
  const std::size_t index = rig.deliveries.count();
  rig.time->advance(100 * kNsPerMs);
  hanging->hangs.wait();
  CHECK(rig.deliveries.count() == index);
  rig.time->advance(500 * kNsPerMs);  // the deadline
  const auto delivery = rig.deliveries.wait_for(index);
  CHECK_FALSE(reads_source(delivery, 0));
  CHECK(reads_source(delivery, 1));
  REQUIRE(delivery.notices.size() == 1);
  CHECK(delivery.notices[0].kind == "sensor_stuck");
  CHECK(delivery.notices[0].text.find("hwmon amdgpu") != std::string::npos);
  CHECK(delivery.states[0].late == 1);
  for (int tick = 0; tick < 100; ++tick) {
    const auto next = rig.next();
    CHECK_FALSE(reads_source(next, 0));
    CHECK(reads_source(next, 1));
    CHECK(next.notices.empty());
  }
  hanging->let_go.count_down();
  while (!reads_source(rig.next(), 0)) {
  }
  const std::vector<SensorNotice> notices = rig.deliveries.notices();
  REQUIRE(notices.size() == 2);
  CHECK(notices[1].kind == "sensor_back");
  CHECK(reads_source(rig.next(), 0));
}

TEST_CASE("several sources that hang leave the last one readable") {
  const auto first = sensor("a");
  const auto second = sensor("b");
  const auto last = sensor("c");
  first->hangs_at = 0;
  second->hangs_at = 0;
  LoopRig rig({first, second, last});
  first->hangs.wait();
  rig.time->advance(500 * kNsPerMs);
  second->hangs.wait();
  rig.time->advance(500 * kNsPerMs);
  const auto delivery = rig.deliveries.wait_for(0);
  REQUIRE(delivery.readings.size() == 1);
  CHECK(delivery.readings[0].source == 2);
  CHECK(delivery.notices.size() == 2);
  first->let_go.count_down();
  second->let_go.count_down();
}

void wait_until_gone(const test::FakeSensor& sensor) {
  while (!sensor.is_gone) {
    std::this_thread::yield();
  }
}

TEST_CASE("the end of the loop does not wait for a read; its reader lives until it returns") {
  const auto hanging = sensor("hanging");
  const auto other = sensor("other");
  SUBCASE("left alone before the end") {
    hanging->hangs_at = 0;
    LoopRig rig({hanging, other});
    hanging->hangs.wait();
    rig.time->advance(500 * kNsPerMs);
    CHECK(rig.deliveries.wait_for(0).readings.size() == 1);
    rig.end();
    wait_until_gone(*other);  // the next read of it may have been in progress
  }
  SUBCASE("in progress") {
    hanging->hangs_at = 0;
    LoopRig rig({hanging, other});
    hanging->hangs.wait();
    rig.end();
    CHECK(rig.deliveries.count() == 0);
    CHECK(other->is_gone);
  }
  CHECK_FALSE(hanging->is_gone);
  hanging->let_go.count_down();
  wait_until_gone(*hanging);
}

TEST_CASE("a source that fails is one notice, and the others are read on") {
  const auto failing = sensor("failing");
  failing->outcome = [](std::uint64_t read) {
    return read < 3 ? SensorOutcome::kFailed : SensorOutcome::kRead;
  };
  LoopRig rig({failing, sensor("other")});
  const auto first = rig.deliveries.wait_for(0);
  REQUIRE(first.notices.size() == 1);
  CHECK(first.notices[0].kind == "sensor_lost");
  CHECK(first.notices[0].text.find("EIO of the test") != std::string::npos);
  CHECK(first.readings.size() == 1);
  while (!reads_source(rig.next(), 0)) {
  }
  CHECK(failing->reads == 4);
  const std::vector<SensorNotice> notices = rig.deliveries.notices();
  REQUIRE(notices.size() == 2);
  CHECK(notices[1].kind == "sensor_back");
}

TEST_CASE("a source whose sensors only an answer tells has values from its first reading on") {
  const auto late = sensor("gpu_metrics");
  late->found_at = 1;
  late->outcome = [](std::uint64_t read) {
    return read < 1 ? SensorOutcome::kFailed : SensorOutcome::kRead;
  };
  LoopRig rig({late, sensor("other")});
  CHECK(rig.deliveries.wait_for(0).notices.size() == 1);
  auto delivery = rig.next();
  while (!reads_source(delivery, 0)) {
    delivery = rig.next();
  }
  CHECK(delivery.readings[0].source == 0);
  CHECK(delivery.readings[0].values == std::vector<std::optional<double>>{15.0});
  CHECK(delivery.states[0].reads == 1);
  CHECK(delivery.states[0].failed == 1);
}

TEST_CASE("while the GPU sleeps its files are closed once and nothing is read; then it goes on") {
  const auto of_gpu = sensor("gpu_metrics");
  const auto of_machine = sensor("rapl");
  of_machine->needs_gpu_awake = false;
  const auto awake = std::make_shared<std::atomic<bool>>(false);
  SensorLoopOptions options;
  options.gpu_is_awake = [awake] { return awake->load(); };
  LoopRig rig({of_gpu, of_machine}, options);
  REQUIRE(rig.deliveries.wait_for(0).readings.size() == 1);
  CHECK(of_gpu->releases == 1);  // whoever made the reader may have looked
  for (int tick = 0; tick < 20; ++tick) {
    CHECK(rig.next().readings.size() == 1);
  }
  CHECK(of_gpu->reads == 0);
  CHECK(of_gpu->releases == 1);
  *awake = true;
  CHECK(rig.next().readings.size() == 2);
  CHECK(of_gpu->is_open);
  *awake = false;
  CHECK(rig.next().readings.size() == 1);
  CHECK_FALSE(of_gpu->is_open);
  CHECK(of_gpu->reads == 1);
  CHECK(of_machine->releases == 0);
  CHECK(rig.deliveries.notices().empty());
}

TEST_CASE("a read that fails because the GPU fell asleep meanwhile is no failure") {
  const auto of_gpu = sensor("gpu_metrics");
  const auto awake = std::make_shared<std::atomic<bool>>(true);
  of_gpu->on_read = [awake](std::uint64_t) { *awake = false; };
  of_gpu->outcome = [](std::uint64_t) { return SensorOutcome::kFailed; };
  SensorLoopOptions options;
  options.gpu_is_awake = [awake] { return awake->load(); };
  LoopRig rig({of_gpu}, options);
  const auto delivery = rig.deliveries.wait_for(0);
  CHECK(delivery.readings.empty());
  CHECK(delivery.notices.empty());
  CHECK(delivery.states[0].failed == 0);
  CHECK_FALSE(of_gpu->is_open);
}

TEST_CASE("the rate can change while the loop runs; at rest the device's files are closed") {
  const auto source = sensor("gpu_metrics");
  LoopRig rig({source});
  REQUIRE(rig.deliveries.wait_for(0).readings.size() == 1);
  rig.loop->set_rate(50, std::nullopt);
  const std::int64_t changed_ns = rig.deliveries.wait_for(1).readings.at(0).begin_ns;
  CHECK(rig.next(20 * kNsPerMs).readings.at(0).begin_ns == changed_ns + 20 * kNsPerMs);
  rig.loop->set_rate(0, std::nullopt);
  while (source->is_open) {
    std::this_thread::yield();
  }
  const std::size_t then = rig.deliveries.count();
  rig.time->advance(kNsPerSecond);
  rig.loop->set_rate(10, std::nullopt);
  CHECK(rig.deliveries.wait_for(then).readings.size() == 1);
  CHECK(source->releases == 1);
}

TEST_CASE("with bursts nothing is read outside of them, and each has a reading") {
  SensorLoopOptions options;
  options.burst = Burst{100 * kNsPerMs, 500 * kNsPerMs};
  LoopRig rig({sensor("gpu_metrics")}, options);
  const std::int64_t start_ns = rig.time->now_ns();
  REQUIRE(start_ns % (500 * kNsPerMs) == 0);
  CHECK(rig.deliveries.wait_for(0).readings.at(0).begin_ns == start_ns);
  for (int burst = 1; burst < 5; ++burst) {
    rig.time->advance(450 * kNsPerMs);
    CHECK(rig.next(50 * kNsPerMs).readings.at(0).begin_ns == start_ns + burst * (500 * kNsPerMs));
  }
  CHECK(rig.deliveries.count() == 5);
}

}  // namespace
}  // namespace gputrace::sampler
