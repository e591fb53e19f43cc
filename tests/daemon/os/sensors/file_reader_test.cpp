#include "daemon/os/sensors/file_reader.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <system_error>

#include "daemon/os/sensors/deadline.h"
#include "daemon/os/sensors/file_probe.h"
#include "tests/daemon/os/sensors/sensor_tree.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)
using sampler::SensorOutcome;

namespace {

SensorFile busy_file(const SensorTree& tree) {
  SensorFile file;
  file.path = tree.path() / "gpu_busy_percent";
  file.reader_name = "gpu_busy_percent";
  file.description.name = "gfx_activity";
  file.description.source = "gpu_busy_percent";
  file.format = {TextForm::kInteger, 1, 0, 100, false, false};
  return file;
}

SensorFile power_file(const SensorTree& tree) {
  SensorFile file = busy_file(tree);
  file.path = tree.path() / "power1_average";
  file.format = {TextForm::kPower, 1, 0, 5000, true, false};
  return file;
}

/// What add_file makes of an answer that could not be provoked here.
SourceFinding judge(const SensorFile& file, const FileAnswer& answer, bool expect_reader) {
  OpenedSensors opened;
  add_file(file, answer, "", opened);
  REQUIRE(opened.findings.size() == 1);
  CHECK(opened.readers.size() == (expect_reader ? 1U : 0U));
  return opened.findings[0];
}

}  // namespace

TEST_CASE("a file is opened at its first read, and each read sees what it says then") {
  const SensorTree tree;
  FileReader reader(busy_file(tree));  // before the file is there
  tree.write("gpu_busy_percent", "7\n");
  CHECK(read_value(reader) == 7);
  tree.write("gpu_busy_percent", "100\n");
  CHECK(read_value(reader) == 100);
  CHECK(reader.evidence(0).raw == "100");
  CHECK(reader.evidence(0).absent.empty());
  reader.release();
  tree.remove("gpu_busy_percent");
  tree.write("gpu_busy_percent", "0\n");
  CHECK(read_value(reader) == 0);
  CHECK(reader.last_error().empty());
}

TEST_CASE(
    "a file that is gone fails with its errno, gives no value and works again when it is back") {
  const SensorTree tree;
  FileReader reader(busy_file(tree));
  std::optional<double> value = 55;
  CHECK(reader.read({&value, 1}) == SensorOutcome::kFailed);
  CHECK_FALSE(value);
  CHECK(has_text(reader.last_error(), "gpu_busy_percent: No such file"));

  tree.break_file("gpu_busy_percent");  // opens, and cannot be read: as of a device unplugged
  value = 55;
  CHECK(reader.read({&value, 1}) == SensorOutcome::kFailed);
  CHECK_FALSE(value);
  CHECK(has_text(reader.last_error(), "Is a directory"));

  tree.remove("gpu_busy_percent");
  tree.write("gpu_busy_percent", "12\n");
  CHECK(read_value(reader) == 12);
}

TEST_CASE("nonsense is rejected, never taken for the last value") {
  const SensorTree tree;
  FileReader reader(busy_file(tree));
  tree.write("gpu_busy_percent", "12\n");
  CHECK(read_value(reader) == 12);
  for (const char* text : {"", "655\n", "busy\n"}) {
    tree.write("gpu_busy_percent", text);
    std::optional<double> value = 55;
    CHECK(reader.read({&value, 1}) == SensorOutcome::kRejected);
    CHECK_FALSE(value);
    CHECK_FALSE(reader.last_error().empty());
  }
  tree.write("gpu_busy_percent", "13\n");
  CHECK(read_value(reader) == 13);
}

TEST_CASE("a power that contradicts its form ends the series: its unit never changes") {
  const SensorTree tree;
  FileReader reader(power_file(tree));
  tree.write("power1_average", "3103000\n");
  CHECK(read_value(reader) == doctest::Approx(3.40234));
  for (const char* text : {"3756000\n", "3103000\n"}) {
    tree.write("power1_average", text);
    std::optional<double> value = 55;
    CHECK(reader.read({&value, 1}) == SensorOutcome::kRejected);
    CHECK_FALSE(value);
    CHECK(has_text(reader.last_error(), "8.8"));
  }
  reader.release();
  std::optional<double> value;
  CHECK(reader.read({&value, 1}) == SensorOutcome::kRejected);
}

TEST_CASE("a file that the driver never answers for this chip is absent and gets no reader") {
  const SensorTree tree;
  for (const int error : {EOPNOTSUPP, EINVAL, ENODATA, 524}) {
    const SourceFinding finding = judge(busy_file(tree), {error, ""}, false);
    CHECK(finding.state == SourceState::kAbsent);
    CHECK(finding.error_number == error);
    CHECK(finding.loses == "gfx activity");
  }
}

TEST_CASE("a refusal says why and what to do") {
  const SensorTree tree;
  const SourceFinding denied = judge(busy_file(tree), {EACCES, ""}, false);
  CHECK(denied.state == SourceState::kRefused);
  CHECK(has_text(denied.reason, "gpu_busy_percent: Permission denied"));
  CHECK_FALSE(denied.fix.empty());

  // A GPU in reset answers EPERM, and works later.
  const SourceFinding reset = judge(busy_file(tree), {EPERM, ""}, true);
  CHECK(reset.state == SourceState::kRefused);
  CHECK(has_text(reset.reason, "reset"));
  CHECK_FALSE(reset.fix.empty());
}

TEST_CASE("other errors and nonsense are breakage that may pass") {
  const SensorTree tree;
  for (const int error : {ENODEV, EIO, ETIME}) {
    const SourceFinding finding = judge(busy_file(tree), {error, ""}, true);
    CHECK(finding.state == SourceState::kBroken);
    CHECK(has_text(finding.reason, std::generic_category().message(error)));
  }
  const SourceFinding nonsense = judge(busy_file(tree), {0, "101\n"}, true);
  CHECK(nonsense.state == SourceState::kBroken);
  CHECK(nonsense.error_number == 0);
}

TEST_CASE("work that does not end in time is left behind") {
  auto gate = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  const auto result = within<int>(std::chrono::milliseconds(1), [gate, ended] {
    gate->get_future().wait();
    ended->set_value();
    return 5;
  });
  CHECK_FALSE(result);
  gate->set_value();
  ended->get_future().wait();
  CHECK(within<int>(std::chrono::minutes(1), [] { return 6; }) == 6);
}

TEST_CASE("once a file did not answer, the others are not asked but kept for later") {
  const SensorTree tree;
  tree.write("gpu_busy_percent", "7\n");
  FileProbe probe(std::chrono::minutes(1));
  CHECK(probe.ask(busy_file(tree)).value_or(FileAnswer{}).text == "7\n");
  probe.set_stuck("gpu_metrics");
  CHECK_FALSE(probe.ask(busy_file(tree)));
  OpenedSensors opened;
  add_file(busy_file(tree), std::nullopt, probe.stuck(), opened);
  CHECK(opened.findings.at(0).state == SourceState::kBroken);
  CHECK(has_text(opened.findings.at(0).reason, "gpu_metrics did not answer within 60000 ms"));
  CHECK(opened.readers.size() == 1);
}
