#include "daemon/os/sensors/cpu_temperature.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/daemon/os/sensors/sensor_tree.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

class Machine {
 public:
  void write(const std::string& file, const std::string& text) const {
    tree_.write("class/hwmon/" + file, text);
  }
  void break_file(const std::string& file) const { tree_.break_file("class/hwmon/" + file); }
  [[nodiscard]] OpenedSensors open() const {
    SystemRoots roots;
    roots.sys = tree_.path();
    return open_cpu_temperature(roots);
  }

 private:
  SensorTree tree_;
};

std::string name_of(const OpenedSensors& opened, std::string_view source) {
  return reader_of(opened, source).sensors()[0].name;
}

}  // namespace

TEST_CASE("an APU's processor has one temperature, found by the driver's name") {
  const Machine machine;
  machine.write("hwmon0/name", "nvme\n");
  machine.write("hwmon0/temp1_input", "90000\n");
  machine.write("hwmon4/name", "k10temp\n");
  machine.write("hwmon4/temp1_input", "46250\n");
  machine.write("hwmon4/temp1_label", "Tctl\n");
  const OpenedSensors opened = machine.open();
  REQUIRE(opened.readers.size() == 1);
  const sampler::SensorDescription& series = opened.readers[0]->sensors()[0];
  CHECK(series.name == "cpu_temperature");
  CHECK(series.label == "Tctl");
  CHECK(series.unit == "C");
  CHECK(series.source == "hwmon temp1_input");
  CHECK(opened.readers[0]->name() == "hwmon k10temp temp1_input");
  CHECK_FALSE(opened.readers[0]->needs_gpu_awake());
  CHECK(read_value(*opened.readers[0]) == doctest::Approx(46.25));
  CHECK(finding_of(opened, "hwmon k10temp temp1_input").state == SourceState::kWorks);
}

TEST_CASE("where the die's own temperature is there, the fans' control value is named apart") {
  const Machine machine;
  machine.write("hwmon1/name", "k10temp\n");
  machine.write("hwmon1/temp1_input", "70000\n");
  machine.write("hwmon1/temp1_label", "Tctl\n");
  machine.write("hwmon1/temp2_input", "43000\n");
  machine.write("hwmon1/temp2_label", "Tdie\n");
  machine.write("hwmon1/temp3_input", "41000\n");
  machine.write("hwmon1/temp3_label", "Tccd1\n");
  machine.write("hwmon1/temp4_input", "42000\n");
  machine.write("hwmon1/temp4_label", "Tccd2\n");
  machine.write("hwmon1/temp1_max", "70000\n");
  const OpenedSensors opened = machine.open();
  CHECK(opened.readers.size() == 4);
  CHECK(name_of(opened, "hwmon temp1_input") == "cpu_control_temperature");
  CHECK(name_of(opened, "hwmon temp2_input") == "cpu_temperature");
  CHECK(name_of(opened, "hwmon temp3_input") == "ccd_temperature_0");
  CHECK(name_of(opened, "hwmon temp4_input") == "ccd_temperature_1");
}

TEST_CASE("a channel without a label is the processor's temperature") {
  const Machine machine;
  machine.write("hwmon1/name", "k10temp\n");
  machine.write("hwmon1/temp1_input", "43000\n");
  CHECK(name_of(machine.open(), "hwmon temp1_input") == "cpu_temperature");
}

TEST_CASE("a machine without k10temp says so, and has no temperature of 0") {
  const OpenedSensors opened = Machine().open();
  CHECK(opened.readers.empty());
  const SourceFinding finding = finding_of(opened, "hwmon k10temp");
  CHECK(finding.state == SourceState::kAbsent);
  CHECK(finding.loses == "cpu temperature");
  CHECK(has_text(finding.fix, "modprobe"));
}

TEST_CASE("a temperature that cannot be read is broken, not cold") {
  const Machine machine;
  machine.write("hwmon1/name", "k10temp\n");
  machine.break_file("hwmon1/temp1_input");
  const OpenedSensors opened = machine.open();
  CHECK(finding_of(opened, "hwmon k10temp temp1_input").state == SourceState::kBroken);
  std::optional<double> value = 55;
  CHECK(opened.readers.at(0)->read({&value, 1}) == sampler::SensorOutcome::kFailed);
  CHECK_FALSE(value);
}
