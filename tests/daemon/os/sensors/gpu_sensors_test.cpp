#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/daemon/os/sensors/sensor_tree.h"
#include "tests/support/metrics_table.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* kAverage = "hwmon power1_average";
constexpr const char* kInput = "hwmon power1_input";

const sampler::SensorDescription& series_of(const OpenedSensors& opened, std::string_view source) {
  return reader_of(opened, source).sensors()[0];
}

}  // namespace

TEST_CASE(
    "average and momentary power are two series of one name, each with its source and label") {
  const SensorTree tree;
  tree.hwmon("power1_average", "3103000\n");
  tree.hwmon("power1_input", "3142000\n");
  tree.hwmon("power1_label", "PPT\n");
  const OpenedSensors opened = tree.open();
  for (const char* source : {kAverage, kInput}) {
    CHECK(series_of(opened, source).name == "package_power");
    CHECK(series_of(opened, source).label == "PPT");
    CHECK(series_of(opened, source).unit == "W");
    CHECK(has_text(series_of(opened, source).decision, "8.8 fixed point"));
  }
  CHECK(read_value(opened, kAverage) == doctest::Approx(3 + 103.0 / 256));
  CHECK(read_value(opened, kInput) == doctest::Approx(3 + 142.0 / 256));
  CHECK(reader_of(opened, kAverage).name() == "hwmon amdgpu power1_average");
  CHECK(finding_of(opened, "hwmon amdgpu power1_average").state == SourceState::kWorks);
}

TEST_CASE("a GPU with only momentary power has that, and no average of zero") {
  const SensorTree tree;
  tree.hwmon("power1_input", "41045000\n");
  const OpenedSensors opened = tree.open();
  CHECK(find_reader(opened, kAverage) == nullptr);
  CHECK(read_value(opened, kInput) == doctest::Approx(41 + 45.0 / 256));
  const SourceFinding finding = finding_of(opened, "hwmon amdgpu power1_average");
  CHECK(finding.state == SourceState::kAbsent);
  CHECK_FALSE(finding.loses.empty());
}

TEST_CASE("a GPU with only an average has that") {
  const SensorTree tree;
  tree.hwmon("power1_average", "49000000\n");
  const OpenedSensors opened = tree.open();
  CHECK(find_reader(opened, kInput) == nullptr);
  CHECK(read_value(opened, kAverage) == 49);
  CHECK(finding_of(opened, "hwmon amdgpu power1_input").state == SourceState::kAbsent);
}

TEST_CASE(
    "an average that fails beside a momentary power that works is no zero, and mixes nothing") {
  const SensorTree tree;
  tree.break_file("hwmon/hwmon3/power1_average");
  tree.hwmon("power1_input", "41045000\n");
  const OpenedSensors opened = tree.open();
  CHECK(finding_of(opened, "hwmon amdgpu power1_average").state == SourceState::kBroken);
  std::optional<double> value = 55;
  CHECK(reader_of(opened, kAverage).read({&value, 1}) == sampler::SensorOutcome::kFailed);
  CHECK_FALSE(value);
  CHECK(read_value(opened, kInput).has_value());
}

TEST_CASE("a power of 0 W is not provided") {
  const SensorTree tree;
  tree.hwmon("power1_average", "0\n");
  const OpenedSensors opened = tree.open();
  const SourceFinding finding = finding_of(opened, "hwmon amdgpu power1_average");
  CHECK(finding.state == SourceState::kAbsent);
  CHECK(finding.loses == "package power, and energy");
  CHECK_FALSE(read_value(opened, kAverage));
}

TEST_CASE(
    "one power with a fraction that 8.8 cannot have makes all of the GPU's plain microwatts") {
  const SensorTree tree;
  tree.hwmon("power1_average", "3103000\n");  // could be either
  tree.hwmon("power1_input", "3742100\n");
  const OpenedSensors opened = tree.open();
  CHECK(read_value(opened, kAverage) == doctest::Approx(3.103));
  CHECK(read_value(opened, kInput) == doctest::Approx(3.7421));
  CHECK(has_text(series_of(opened, kAverage).decision, "plain microwatts: hwmon power1_input"));
}

TEST_CASE("Van Gogh's two limits keep their labels") {
  const SensorTree tree;
  tree.hwmon("in1_input", "600\n");
  tree.hwmon("power1_average", "4000000\n");
  tree.hwmon("power1_label", "slowPPT\n");
  tree.hwmon("power1_cap", "15000000\n");
  tree.hwmon("power2_average", "4100000\n");
  tree.hwmon("power2_label", "fastPPT\n");
  tree.hwmon("power2_cap", "18500000\n");
  const OpenedSensors opened = tree.open();
  CHECK(series_of(opened, kAverage).label == "slowPPT");
  CHECK(series_of(opened, "hwmon power2_average").label == "fastPPT");
  CHECK(series_of(opened, "hwmon power2_average").name == "package_power");
  CHECK(series_of(opened, "hwmon power1_cap").label == "slowPPT");
  CHECK(read_value(opened, "hwmon power2_cap") == doctest::Approx(18.5));
  CHECK(reader_of(opened, "hwmon power2_cap").max_rate_hz() == 1);
}

TEST_CASE("power of an APU covers the CPU too, that of a card does not") {
  const SensorTree apu;
  apu.hwmon("power1_average", "4000000\n");
  apu.hwmon("in1_input", "600\n");
  CHECK(series_of(apu.open(), kAverage).covers == "CPU and GPU together");
  const SensorTree by_table;  // without a rail of its own
  by_table.hwmon("power1_average", "4000000\n");
  MetricsTable(2, 1).set("temperature_gfx", 4000).write((by_table.path() / "gpu_metrics").string());
  CHECK(series_of(by_table.open(), kAverage).covers == "CPU and GPU together");
  const SensorTree card;
  card.hwmon("power1_average", "4000000\n");
  CHECK(series_of(card.open(), kAverage).covers.empty());
}

TEST_CASE("series are named by what the driver's labels say, not by number") {
  const SensorTree tree;
  tree.hwmon("temp1_input", "41000\n");
  tree.hwmon("temp1_label", "junction\n");
  tree.hwmon("temp2_input", "42000\n");
  tree.hwmon("temp2_label", "VR gfx\n");  // a blank is no label
  tree.hwmon("temp4_input", "44000\n");
  tree.hwmon("temp4_label", "vrSoC\n");
  tree.hwmon("temp5_input", "45000\n");
  const OpenedSensors opened = tree.open();
  CHECK(series_of(opened, "hwmon temp1_input").name == "junction_temperature");
  CHECK(series_of(opened, "hwmon temp2_input").name == "junction_temperature");
  CHECK(series_of(opened, "hwmon temp2_input").label == "junction");
  CHECK(series_of(opened, "hwmon temp4_input").name == "vrsoc_temperature");
  CHECK(series_of(opened, "hwmon temp4_input").label == "vrSoC");
  CHECK(series_of(opened, "hwmon temp5_input").name == "temperature_5");
  CHECK(read_value(opened, "hwmon temp5_input") == doctest::Approx(45));
}

TEST_CASE("the fan's duty is a share of its own maximum, else of 255") {
  const SensorTree tree;
  tree.hwmon("pwm1", "51\n");
  CHECK(read_value(tree.open(), "hwmon pwm1") == doctest::Approx(20));
  CHECK_FALSE(series_of(tree.open(), "hwmon pwm1").decision.empty());
  tree.hwmon("pwm1_max", "102\n");
  CHECK(read_value(tree.open(), "hwmon pwm1") == doctest::Approx(50));
  tree.hwmon("pwm1", "255\n");
  tree.hwmon("pwm1_max", "255\n");
  CHECK(read_value(tree.open(), "hwmon pwm1") == doctest::Approx(100));
}

TEST_CASE("the hwmon folder is found by its name, whatever its number and neighbours") {
  const SensorTree tree;
  tree.write("hwmon/hwmon3/name", "nvme\n");
  tree.hwmon("temp1_input", "90000\n");
  tree.write("hwmon/hwmon12/name", "amdgpu\n");
  tree.write("hwmon/hwmon12/temp1_input", "41000\n");
  const OpenedSensors opened = tree.open();
  CHECK(read_value(opened, "hwmon temp1_input") == doctest::Approx(41));
}

TEST_CASE("without amdgpu's hwmon folder the finding says what is lost and how to get it") {
  const SensorTree tree;
  tree.write("hwmon/hwmon3/name", "nvme\n");
  const SourceFinding finding = finding_of(tree.open(), "hwmon amdgpu");
  CHECK(finding.state == SourceState::kAbsent);
  CHECK(has_text(finding.loses, "power"));
  CHECK(has_text(finding.fix, "amdgpu.dpm"));
}

TEST_CASE("an empty device folder gives no reader, and a reason for each source") {
  const SensorTree tree;
  const OpenedSensors opened = tree.open();
  CHECK(opened.readers.empty());
  CHECK(opened.findings.size() > 25);
  for (const SourceFinding& finding : opened.findings) {
    CHECK_MESSAGE(finding.state == SourceState::kAbsent, finding.source);
    CHECK_FALSE(finding.reason.empty());
    CHECK_FALSE(finding.loses.empty());
  }
}

TEST_CASE("memory sizes, busy percentages and levels are series of the device's own files") {
  const SensorTree tree;
  tree.write("gpu_busy_percent", "3\n");
  tree.write("vcn_busy_percent", "0\n");
  tree.write("mem_info_vram_used", "514580480\n");
  tree.write("mem_info_vram_total", "536870912\n");
  tree.write("pp_dpm_sclk", "0: 600Mhz \n1: 848Mhz *\n2: 2900Mhz \n");
  tree.write("pp_dpm_mclk", "0: 400Mhz \n1: 800Mhz \n");
  tree.write("pp_dpm_dcefclk", "\n");
  const OpenedSensors opened = tree.open();
  CHECK(read_value(opened, "gpu_busy_percent") == 3);
  CHECK(read_value(opened, "vcn_busy_percent") == 0);
  CHECK(series_of(opened, "vcn_busy_percent").name == "media_activity");
  CHECK(read_value(opened, "mem_info_vram_used") == 514580480);
  CHECK(reader_of(opened, "mem_info_vram_total").max_rate_hz() == 1);
  CHECK(read_value(opened, "pp_dpm_sclk") == 848);
  CHECK(series_of(opened, "pp_dpm_sclk").name == "gfx_clock");

  CHECK_FALSE(read_value(opened, "pp_dpm_mclk"));  // a star may come
  CHECK(has_text(finding_of(opened, "pp_dpm_mclk").reason, "no level is marked"));
  CHECK(find_reader(opened, "pp_dpm_dcefclk") == nullptr);
  CHECK(finding_of(opened, "pp_dpm_dcefclk").state == SourceState::kAbsent);
}

TEST_CASE("every reader of a GPU needs it awake") {
  const SensorTree tree;
  tree.write("gpu_busy_percent", "3\n");
  tree.hwmon("temp1_input", "41000\n");
  for (const auto& reader : tree.open().readers) {
    CHECK_MESSAGE(reader->needs_gpu_awake(), reader->name());
  }
}
