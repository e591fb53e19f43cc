// Sensor files of a driver that refuses, hangs or goes away: served through FUSE.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "tests/daemon/os/sensors/sensor_tree.h"
#include "tests/rig/start_or_skip.h"
#include "tests/support/read_sample.h"

namespace gputrace::rig {
namespace {

using os::OpenedSensors;
using os::SourceState;
using sampler::SensorOutcome;
using test::finding_of;
using test::has_text;

constexpr const char* kPower = "hwmon power1_average";

OpenedSensors open_on(const Rig& rig) {
  return os::open_gpu_sensors(only_gpu(rig), regdb::GcVersion{11, 0, 1});
}

void check_read(sampler::SensorReader& reader, SensorOutcome expected, bool has_value) {
  std::optional<double> value = -1;
  CHECK(reader.read({&value, 1}) == expected);
  CHECK(value.has_value() == has_value);
}

}  // namespace

TEST_CASE("a driver in reset refuses with EPERM: no value, and one again afterwards") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const OpenedSensors opened = open_on(*rig);
  sampler::SensorReader& power = test::reader_of(opened, kPower);
  check_read(power, SensorOutcome::kRead, true);
  rig->control().sensor_file = sensor_file_number("power1_average");
  rig->control().sensor_errno = EPERM;
  check_read(power, SensorOutcome::kFailed, false);
  CHECK(has_text(power.last_error(), "power1_average: Operation not permitted"));
  check_read(test::reader_of(opened, "gpu_busy_percent"), SensorOutcome::kRead, true);
  rig->control().sensor_errno = 0;
  check_read(power, SensorOutcome::kRead, true);
}

TEST_CASE("a GPU that is unplugged fails every read, and gives no last value") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const OpenedSensors opened = open_on(*rig);
  sampler::SensorReader& power = test::reader_of(opened, kPower);
  check_read(power, SensorOutcome::kRead, true);
  rig->control().unplugged = 1;
  for (int i = 0; i < 3; ++i) {
    check_read(power, SensorOutcome::kFailed, false);
    CHECK_FALSE(power.last_error().empty());
  }
}

TEST_CASE("what a driver refuses when the sensors are looked for is told with the errno") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().sensor_file = sensor_file_number("power1_average");
  struct Refusal {
    int error;
    SourceState state;
    bool has_reader;
  };
  for (const Refusal& refusal :
       {Refusal{EOPNOTSUPP, SourceState::kAbsent, false},
        Refusal{EINVAL, SourceState::kAbsent, false}, Refusal{EPERM, SourceState::kRefused, true},
        Refusal{ENODEV, SourceState::kBroken, true}}) {
    CAPTURE(refusal.error);
    rig->control().sensor_errno = static_cast<std::uint32_t>(refusal.error);
    const OpenedSensors opened = open_on(*rig);
    const os::SourceFinding finding = finding_of(opened, "hwmon amdgpu power1_average");
    CHECK(finding.state == refusal.state);
    CHECK(finding.error_number == refusal.error);
    CHECK(finding.loses == "package power, and energy");
    CHECK((test::find_reader(opened, kPower) != nullptr) == refusal.has_reader);
    check_read(test::reader_of(opened, "hwmon power1_input"), SensorOutcome::kRead, true);
  }
}

TEST_CASE("a metrics table that is refused at first is read when the refusal has passed") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().sensor_file = sensor_file_number("gpu_metrics");
  for (const auto& [error, comes_back] : std::map<int, bool>{
           {EPERM, true}, {EBUSY, true}, {ETIMEDOUT, true}, {EOPNOTSUPP, false}, {EACCES, false}}) {
    CAPTURE(error);
    rig->control().sensor_errno = static_cast<std::uint32_t>(error);
    const OpenedSensors opened = open_on(*rig);
    CHECK(finding_of(opened, "gpu_metrics").error_number == error);
    CHECK_FALSE(finding_of(opened, "gpu_metrics").loses.empty());
    const auto reader = std::find_if(opened.readers.begin(), opened.readers.end(),
                                     [](const auto& one) { return one->name() == "gpu_metrics"; });
    REQUIRE((reader != opened.readers.end()) == comes_back);
    if (comes_back) {
      CHECK((*reader)->read({}) == SensorOutcome::kFailed);
      rig->control().sensor_errno = 0;
      CHECK((*reader)->read({}) == SensorOutcome::kRead);
      CHECK((*reader)->sensors().size() > 10);
    }
  }
}

TEST_CASE("a file that hangs when the sensors are looked for costs one deadline") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().sensor_file = sensor_file_number("power1_average");
  rig->control().hold_sensors = 1;
  const OpenedSensors opened = open_on(*rig);  // returns: the read is held until the end
  CHECK(rig->control().held == 1);
  const os::SourceFinding stuck = finding_of(opened, "hwmon amdgpu power1_average");
  CHECK(stuck.state == SourceState::kBroken);
  CHECK(has_text(stuck.reason, "did not answer within 2000 ms"));
  CHECK_FALSE(stuck.fix.empty());
  const os::SourceFinding after = finding_of(opened, "gpu_busy_percent");
  CHECK(after.state == SourceState::kBroken);
  CHECK(has_text(after.reason, "power1_average did not answer"));

  check_read(test::reader_of(opened, "gpu_busy_percent"), SensorOutcome::kRead, true);
  rig->release_reads();
  check_read(test::reader_of(opened, kPower), SensorOutcome::kRead, true);
}

}  // namespace gputrace::rig
