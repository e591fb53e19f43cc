// The device folders of seven real GPUs, as far as gputrace reads them. The numbers were taken from
// the raw files by hand.
#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/daemon/os/sensors/sensor_tree.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::os;    // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Expected {
  const char* source;
  const char* name;
  std::optional<double> value;
};

struct Case {
  const char* folder;
  std::vector<Expected> expected;      ///< all sources of one value
  std::vector<const char*> no_reader;  ///< files that are there and can never give a value
};

constexpr double kPcie4x16 = 16e9 * 16 / 8 * 128 / 130;

const std::vector<Case> kCases{
    {"phoenix/card1",
     {{"hwmon freq1_input", "gfx_clock", 800},
      {"hwmon in0_input", "gfx_voltage", 0.814},
      {"hwmon in1_input", "soc_voltage", 0.615},
      {"hwmon power1_average", "package_power", 3 + 103.0 / 256},
      {"hwmon power1_input", "package_power", 3 + 142.0 / 256},
      {"hwmon temp1_input", "edge_temperature", 25},
      {"gpu_busy_percent", "gfx_activity", 0},
      {"vcn_busy_percent", "media_activity", 0},
      {"mem_info_vram_used", "vram_used", 1272893440},
      {"mem_info_vram_total", "vram_total", 4294967296},
      {"mem_info_vis_vram_used", "visible_vram_used", 1272893440},
      {"mem_info_vis_vram_total", "visible_vram_total", 4294967296},
      {"mem_info_gtt_used", "gtt_used", 211398656},
      {"mem_info_gtt_total", "gtt_total", 31433977856},
      {"pp_dpm_sclk", "gfx_clock", 800},
      {"pp_dpm_mclk", "mem_clock", 400},
      {"pp_dpm_socclk", "soc_clock", 400},
      {"pp_dpm_fclk", "fabric_clock", 400},
      {"pp_dpm_vclk", "video_clock", 800},  // two levels of 800 MHz
      {"pp_dpm_dclk", "video_decode_clock", 800}},
     {"pp_dpm_dcefclk", "pp_dpm_pcie"}},
    {"strixpoint/card1",
     {{"hwmon freq1_input", "gfx_clock", 848},
      {"hwmon in0_input", "gfx_voltage", std::nullopt},  // 0 mV
      {"hwmon in1_input", "soc_voltage", std::nullopt},
      {"hwmon power1_average", "package_power", 9 + 87.0 / 256},
      {"hwmon power1_input", "package_power", 9 + 87.0 / 256},
      {"hwmon temp1_input", "edge_temperature", 38},
      {"gpu_busy_percent", "gfx_activity", 3},
      {"vcn_busy_percent", "media_activity", 0},
      {"mem_info_vram_used", "vram_used", 514580480},
      {"mem_info_vram_total", "vram_total", 536870912},
      {"mem_info_vis_vram_used", "visible_vram_used", 514580480},
      {"mem_info_vis_vram_total", "visible_vram_total", 536870912},
      {"mem_info_gtt_used", "gtt_used", 3946811392},
      {"mem_info_gtt_total", "gtt_total", 16441004032},
      {"pp_dpm_sclk", "gfx_clock", 848},
      {"pp_dpm_mclk", "mem_clock", std::nullopt},  // no star
      {"pp_dpm_socclk", "soc_clock", std::nullopt},
      {"pp_dpm_fclk", "fabric_clock", std::nullopt},
      {"pp_dpm_vclk", "video_clock", 800},
      {"pp_dpm_dclk", "video_decode_clock", std::nullopt}},
     {"pp_dpm_dcefclk", "pp_dpm_pcie"}},
    {"rx580/card0",
     {{"hwmon fan1_input", "fan_speed", 595},
      {"hwmon freq1_input", "gfx_clock", 798.08},
      {"hwmon freq2_input", "mem_clock", 1750},
      {"hwmon in0_input", "gfx_voltage", 0.975},
      {"hwmon power1_average", "package_power", 41 + 45.0 / 256},
      {"hwmon power1_cap", "power_cap", 155},
      {"hwmon pwm1", "fan_pwm", 35 * 100.0 / 255},
      {"hwmon temp1_input", "edge_temperature", 44},
      {"gpu_busy_percent", "gfx_activity", 11},
      {"mem_busy_percent", "mem_activity", 2},
      {"mem_info_vram_used", "vram_used", 536870912},
      {"mem_info_vram_total", "vram_total", 4294967296},
      {"mem_info_vis_vram_used", "visible_vram_used", 150302720},
      {"mem_info_vis_vram_total", "visible_vram_total", 268435456},
      {"mem_info_gtt_used", "gtt_used", 92377088},
      {"mem_info_gtt_total", "gtt_total", 8342712320},
      {"pp_dpm_sclk", "gfx_clock", 900},
      {"pp_dpm_mclk", "mem_clock", 1750},
      {"pp_dpm_pcie", "pcie_capacity", 8e9 * 16 / 8 * 128 / 130}},
     {}},
    {"rx6600/card1",
     {{"hwmon fan1_input", "fan_speed", 1395},
      {"hwmon freq1_input", "gfx_clock", 20},
      {"hwmon freq2_input", "mem_clock", 96},
      {"hwmon in0_input", "gfx_voltage", 1},
      {"hwmon power1_average", "package_power", 3},
      {"hwmon power1_cap", "power_cap", 120},
      {"hwmon pwm1", "fan_pwm", 0},
      {"hwmon temp1_input", "edge_temperature", 28},
      {"hwmon temp2_input", "junction_temperature", 28},
      {"hwmon temp3_input", "mem_temperature", 26},
      {"gpu_busy_percent", "gfx_activity", 0},
      {"pp_dpm_sclk", "gfx_clock", 2605},
      {"pp_dpm_mclk", "mem_clock", 96},
      {"pp_dpm_socclk", "soc_clock", 640},
      {"pp_dpm_pcie", "pcie_capacity", 8e9 * 128 / 130}},
     {}},
    {"rx7900xtx/card0",  // its name file is padded with NULs
     {{"hwmon fan1_input", "fan_speed", 0},
      {"hwmon freq1_input", "gfx_clock", 31},
      {"hwmon freq2_input", "mem_clock", 1249},
      {"hwmon in0_input", "gfx_voltage", 0.686},
      {"hwmon power1_average", "package_power", 68},
      {"hwmon power1_cap", "power_cap", 290},
      {"hwmon pwm1", "fan_pwm", 0},
      {"hwmon temp1_input", "edge_temperature", 53},
      {"hwmon temp2_input", "junction_temperature", 61},
      {"hwmon temp3_input", "mem_temperature", 68},
      {"gpu_busy_percent", "gfx_activity", 3},
      {"pp_dpm_sclk", "gfx_clock", 31},
      {"pp_dpm_mclk", "mem_clock", 1249},
      {"pp_dpm_socclk", "soc_clock", 1500},
      {"pp_dpm_pcie", "pcie_capacity", kPcie4x16}},
     {}},
    {"rx9070/card1",
     {{"hwmon fan1_input", "fan_speed", 1944},
      {"hwmon freq1_input", "gfx_clock", 900},
      {"hwmon freq2_input", "mem_clock", 1124},
      {"hwmon in0_input", "gfx_voltage", 0.79},
      {"hwmon power1_average", "package_power", 49},
      {"hwmon power1_cap", "power_cap", 200},
      {"hwmon pwm1", "fan_pwm", 117 * 100.0 / 255},
      {"hwmon temp1_input", "edge_temperature", 48},
      {"hwmon temp2_input", "junction_temperature", 52},
      {"hwmon temp3_input", "mem_temperature", 72},
      {"gpu_busy_percent", "gfx_activity", 25},
      {"pp_dpm_sclk", "gfx_clock", 789},
      {"pp_dpm_mclk", "mem_clock", 1124},
      {"pp_dpm_socclk", "soc_clock", 1200},
      {"pp_dpm_pcie", "pcie_capacity", kPcie4x16}},
     {}},
    {"vega56/card0",
     {{"hwmon fan1_input", "fan_speed", 5},
      {"hwmon freq1_input", "gfx_clock", 26},
      {"hwmon freq2_input", "mem_clock", 167},
      {"hwmon in0_input", "gfx_voltage", 0.762},
      {"hwmon power1_average", "package_power", 8},
      {"hwmon power1_cap", "power_cap", 260},
      {"hwmon pwm1", "fan_pwm", 0},
      {"hwmon temp1_input", "edge_temperature", 38},
      {"hwmon temp2_input", "junction_temperature", 38},
      {"hwmon temp3_input", "mem_temperature", 39},
      {"gpu_busy_percent", "gfx_activity", 0},
      {"mem_info_vram_used", "vram_used", 16613376},
      {"mem_info_vram_total", "vram_total", 8573157376},
      {"mem_info_vis_vram_used", "visible_vram_used", 16613376},
      {"mem_info_vis_vram_total", "visible_vram_total", 268435456},
      {"mem_info_gtt_used", "gtt_used", 12337152},
      {"mem_info_gtt_total", "gtt_total", 8342863872},
      {"pp_dpm_sclk", "gfx_clock", 852},
      {"pp_dpm_mclk", "mem_clock", 167},
      {"pp_dpm_socclk", "soc_clock", 600},
      {"pp_dpm_dcefclk", "display_clock", 600},
      {"pp_dpm_pcie", "pcie_capacity", 8e9 * 16 / 8 * 128 / 130}},
     {}},
};

}  // namespace

TEST_CASE("the sensors of seven real GPUs are what their files say, and no others") {
  for (const Case& each : kCases) {
    CAPTURE(each.folder);
    GpuDevice gpu;
    gpu.device_dir =
        std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/cases" / each.folder / "device";
    const OpenedSensors opened = open_gpu_sensors(gpu, std::nullopt);
    std::size_t readers = 0;
    for (const auto& reader : opened.readers) {
      readers += reader->name() == "gpu_metrics" ? 0U : 1U;
    }
    CHECK(readers == each.expected.size());
    for (const Expected& expected : each.expected) {
      CAPTURE(expected.source);
      sampler::SensorReader& reader = reader_of(opened, expected.source);
      CHECK(reader.sensors()[0].name == expected.name);
      const std::optional<double> value = read_value(reader);
      REQUIRE(value.has_value() == expected.value.has_value());
      CHECK(value.value_or(0) == doctest::Approx(expected.value.value_or(0)));
      const SourceFinding finding = finding_of(opened, reader.name());
      CHECK(finding.state == (value ? SourceState::kWorks : SourceState::kAbsent));
      CHECK(finding.loses.empty() == value.has_value());
    }
    for (const char* file : each.no_reader) {
      CHECK(finding_of(opened, file).state == SourceState::kAbsent);
      CHECK(find_reader(opened, file) == nullptr);
    }
  }
}

TEST_CASE(
    "IP discovery of the APUs tells their graphics version; cards are known by their id alone") {
  const test::TempDir folder;
  std::filesystem::create_directories(folder.path() / "class/drm");
  const auto gpu_of = [&](const std::string& name, const std::string& card) {
    const std::filesystem::path link = folder.path() / "class/drm" / card;
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(
        std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/cases" / name / card, link);
    const auto gpus = list_gpus({.sys = folder.path(), .dev = "/nowhere", .ids = "/nowhere"});
    REQUIRE(gpus);
    REQUIRE(gpus->size() == 1);
    std::filesystem::remove(link);
    return gpus->front().identity;
  };
  CHECK(gpu_of("phoenix", "card1").gc == regdb::GcVersion{11, 0, 1});
  CHECK(gpu_of("strixpoint", "card1").gc == regdb::GcVersion{11, 5, 0});
  for (const auto& [name, card, id] :
       {std::tuple("rx580", "card0", 0x67df), std::tuple("rx6600", "card1", 0x73ff),
        std::tuple("rx7900xtx", "card0", 0x744c), std::tuple("rx9070", "card1", 0x7550),
        std::tuple("vega56", "card0", 0x687f)}) {
    const sampler::GpuIdentity identity = gpu_of(name, card);
    CHECK_FALSE(identity.gc);
    CHECK(identity.device_id == id);
  }
}
