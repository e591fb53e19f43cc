// The rig's sensor files, through plain system calls and through the program's own readers.
#include "tests/rig/sysfs_sensors.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "daemon/base/time.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/gpu_metrics_reader.h"
#include "daemon/os/sensors/sensors.h"
#include "tests/rig/start_or_skip.h"
#include "tests/support/read_sample.h"

namespace gputrace::rig {
namespace {

namespace fs = std::filesystem;

constexpr regdb::GcVersion kPhoenix{11, 0, 1};

fs::path device_of(const Rig& rig) {
  return rig.sys() / "class/drm/card1/device";
}
fs::path hwmon_of(const Rig& rig) {
  return device_of(rig) / "hwmon/hwmon90";
}

/// Bytes, or -1 with errno.
ssize_t read_once(const fs::path& path, std::span<char> bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? ::pread(fd.get(), bytes.data(), bytes.size(), 0) : -1;
}

std::string text_of(const fs::path& path) {
  std::array<char, 4096> bytes{};
  const ssize_t size = read_once(path, bytes);
  return size < 0 ? "errno " + std::to_string(errno)
                  : std::string(bytes.data(), static_cast<std::size_t>(size));
}

/// A scenario whose sensors are known: 600 s of chases at 2.6 GHz.
RigOptions working_gpu() {
  RigOptions options;
  const std::int64_t begin_ns = monotonic_now_ns() - 600 * kNsPerSecond;
  auto simulation =
      simulated_gpu::Simulation::open("sim:780m:chase", regdb::RegisterDatabase::built_in(), {});
  REQUIRE(simulation.has_value());
  auto sensors = std::make_shared<RigSensors>();
  sensors->model = std::make_shared<const simulated_gpu::SimulatedSensors>(
      std::make_shared<const simulated_gpu::Simulation>(std::move(*simulation)));
  sensors->begin_ns = begin_ns;
  options.words = words_from([](std::uint32_t, std::int64_t) { return 0U; });
  options.sensors = std::move(sensors);
  return options;
}

std::map<std::string, double> read_all(const os::OpenedSensors& opened) {
  std::map<std::string, double> values_by_source;
  for (const auto& reader : opened.readers) {
    std::vector<std::optional<double>> values(reader->sensors().size());
    CAPTURE(reader->name());
    CHECK(reader->read(values) == sampler::SensorOutcome::kRead);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) {
        values_by_source[reader->sensors()[i].source] = *values[i];
      }
    }
  }
  return values_by_source;
}

}  // namespace

TEST_CASE("the program's readers find the model's values in every file of the tree") {
  const RigOptions options = working_gpu();
  const auto rig = start_or_skip(options);
  if (!rig) {
    return;
  }
  const auto opened = os::open_gpu_sensors(only_gpu(*rig), kPhoenix);
  const auto truth = options.sensors->at(monotonic_now_ns());
  const auto shown = read_all(opened);
  CHECK(shown.at("hwmon power1_average") == doctest::Approx(truth.package_w).epsilon(0.01));
  CHECK(shown.at("hwmon power1_input") == doctest::Approx(truth.package_now_w).epsilon(0.01));
  CHECK(shown.at("gpu_metrics average_socket_power") ==
        doctest::Approx(truth.package_w).epsilon(0.01));
  CHECK(shown.at("hwmon temp1_input") == doctest::Approx(truth.temperature_c).epsilon(0.03));
  CHECK(shown.at("gpu_metrics temperature_gfx") ==
        doctest::Approx(truth.temperature_c).epsilon(0.01));
  CHECK(shown.at("hwmon freq1_input") == 2600);
  CHECK(shown.at("gpu_metrics average_gfxclk_frequency") == 2600);
  CHECK(shown.at("pp_dpm_sclk") == 2600);
  CHECK(shown.at("pp_dpm_mclk") == 2800);
  CHECK(shown.at("hwmon in0_input") == doctest::Approx(truth.gfx_v).epsilon(0.01));
  CHECK(shown.at("gpu_busy_percent") == doctest::Approx(100 * truth.gfx_activity).epsilon(0.02));
  CHECK(shown.at("gpu_metrics average_gfx_activity") ==
        doctest::Approx(100 * truth.gfx_activity).epsilon(0.01));
  CHECK(shown.at("mem_info_vram_used") == truth.vram_used_bytes);

  const auto machine = read_all(os::open_machine_sensors({.sys = rig->sys()}));
  CHECK(machine.at("hwmon temp1_input") == doctest::Approx(truth.temperature_c).epsilon(0.01));
}

TEST_CASE("chips differ in the files that they have") {
  struct Expectation {
    std::string_view gpu;
    bool metrics;
    bool fan;
    bool junction;
    bool rail;
  };
  for (const Expectation& wanted : {Expectation{"780m", true, false, false, true},
                                    Expectation{"890m", true, false, false, true},
                                    Expectation{"rx7600", true, true, true, false},
                                    Expectation{"vega64", false, true, true, false},
                                    Expectation{"rx580", false, true, false, false}}) {
    CAPTURE(wanted.gpu);
    const auto gpu = find_gpu_model(wanted.gpu);
    REQUIRE(gpu.has_value());
    const auto rig = start_or_skip(offset_words(gpu.value_or(default_gpu_model())));
    if (!rig) {
      return;
    }
    CHECK(fs::exists(device_of(*rig) / "gpu_metrics") == wanted.metrics);
    CHECK(fs::exists(hwmon_of(*rig) / "fan1_input") == wanted.fan);
    CHECK(fs::exists(hwmon_of(*rig) / "temp2_input") == wanted.junction);
    CHECK(fs::exists(hwmon_of(*rig) / "in1_input") == wanted.rail);
    CHECK(fs::exists(rig->sys() / "class/powercap/intel-rapl:0/energy_uj") == wanted.rail);
    CHECK(text_of(hwmon_of(*rig) / "power1_label") == "PPT\n");
    const auto opened = os::open_gpu_sensors(only_gpu(*rig), gpu->gc);
    CHECK_FALSE(read_all(opened).empty());
  }
}

TEST_CASE("each fault of the metrics table is rejected, and its end is noticed") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  const auto metrics = os::open_gpu_metrics_reader(device_of(*rig), kPhoenix);
  REQUIRE(metrics.reader != nullptr);
  std::vector<std::optional<double>> values(metrics.reader->sensors().size());
  CHECK(metrics.reader->read(values) == sampler::SensorOutcome::kRead);
  for (const MetricsFault fault :
       {MetricsFault::kEmpty, MetricsFault::kTorn, MetricsFault::kAllZero, MetricsFault::kTruncated,
        MetricsFault::kUnknownRevision}) {
    CAPTURE(static_cast<int>(fault));
    rig->control().metrics_fault = static_cast<std::uint32_t>(fault);
    CHECK(metrics.reader->read(values) == sampler::SensorOutcome::kRejected);
    for (const auto& value : values) {
      CHECK_FALSE(value.has_value());
    }
    rig->control().metrics_fault = 0;
    CHECK(metrics.reader->read(values) == sampler::SensorOutcome::kRead);
  }
  // A whole table in which nothing is provided can be true.
  rig->control().metrics_fault = static_cast<std::uint32_t>(MetricsFault::kAllOnes);
  CHECK(metrics.reader->read(values) == sampler::SensorOutcome::kRead);
  for (const auto& value : values) {
    CHECK_FALSE(value.has_value());
  }
}

TEST_CASE("an errno is given by the chosen file alone, or by all") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  RigControl& control = rig->control();
  const fs::path busy = device_of(*rig) / "gpu_busy_percent";
  const fs::path power = hwmon_of(*rig) / "power1_average";
  for (const int error : {EPERM, EOPNOTSUPP, ENODEV, EINVAL}) {
    control.sensor_errno = static_cast<std::uint32_t>(error);
    control.sensor_file = sensor_file_number("power1_average");
    CHECK(text_of(power) == "errno " + std::to_string(error));
    CHECK(text_of(busy).find('\n') != std::string::npos);
    control.sensor_file = 0;
    CHECK(text_of(busy) == "errno " + std::to_string(error));
  }
  CHECK(sensor_file_number("no such file") == 0);
  std::ofstream(rig->root() / "control") << "sensor_errno=0\nsensor_file=gpu_busy_percent\n";
  CHECK(control.sensor_file == sensor_file_number("gpu_busy_percent"));
  CHECK(control.sensor_errno == 0);
}

TEST_CASE("a held read of one file returns when it is released, others are read meanwhile") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  rig->control().sensor_file = sensor_file_number("gpu_metrics");
  rig->control().hold_sensors = 1;
  std::atomic<bool> returned{false};
  std::string bytes;
  std::thread stuck([&] {
    bytes = text_of(device_of(*rig) / "gpu_metrics");
    returned = true;
  });
  REQUIRE(rig->wait_for_held_read());
  CHECK(text_of(hwmon_of(*rig) / "freq1_input") == "2600000000\n");
  CHECK_FALSE(returned);
  CHECK(rig->control().held == 1);
  rig->release_reads();
  stuck.join();
  CHECK(bytes.size() == 120);
}

TEST_CASE("a late read returns no sooner than it should") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  rig->control().late_sensors = 8;
  const std::int64_t begin_ns = monotonic_now_ns();
  CHECK(text_of(hwmon_of(*rig) / "freq1_input") == "2600000000\n");
  CHECK(monotonic_now_ns() - begin_ns >= 8 * kNsPerMs);
}

TEST_CASE("a read at offset 0 is new, the rest of a file goes on in the old text") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  const UniqueFd fd(::open((device_of(*rig) / "gpu_busy_percent").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  CHECK(rig->control().open_sensor_files == 1);
  std::array<char, 8> bytes{};
  const ssize_t size = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  REQUIRE(size > 1);
  rig->control().stuck_busy = 1;
  CHECK(::pread(fd.get(), bytes.data(), bytes.size(), size) == 0);
  CHECK(::pread(fd.get(), bytes.data(), 2, size - 1) == 1);
  CHECK(::pread(fd.get(), bytes.data(), bytes.size(), 0) == 4);
  CHECK(std::string_view(bytes.data(), 4) == "100\n");
}

TEST_CASE("a suspended GPU is woken by what asks the firmware, and by nothing else") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  RigControl& control = rig->control();
  const auto status = device_of(*rig) / "power/runtime_status";
  control.suspended = 1;
  CHECK(text_of(hwmon_of(*rig) / "name") == "amdgpu\n");
  CHECK(text_of(rig->sys() / "class/hwmon/hwmon89/name") == "k10temp\n");
  CHECK(text_of(status) == "suspended\n");
  CHECK(control.sensor_reads_while_suspended == 0);
  CHECK(text_of(device_of(*rig) / "mem_info_vram_total") == "4294967296\n");
  CHECK(text_of(status) == "suspended\n");
  CHECK(control.sensor_reads_while_suspended == 1);
  CHECK(control.touched_while_suspended == 0);
  CHECK(text_of(device_of(*rig) / "gpu_metrics").size() == 120);
  CHECK(control.touched_while_suspended == 1);
  CHECK(text_of(status) == "active\n");
}

TEST_CASE("looking for the sensors of a suspended GPU leaves it asleep") {
  const auto rig = start_or_skip(working_gpu());
  if (!rig) {
    return;
  }
  rig->control().suspended = 1;
  const auto opened = os::open_gpu_sensors(only_gpu(*rig), kPhoenix);
  CHECK(rig->control().sensor_reads_while_suspended == 0);
  CHECK(rig->control().touched_while_suspended == 0);
  CHECK(rig->control().open_sensor_files == 0);
  CHECK(std::any_of(opened.findings.begin(), opened.findings.end(),
                    [](const auto& finding) { return finding.state == os::SourceState::kAsleep; }));
}

TEST_CASE("a second GPU stands beside the first with switches of its own") {
  RigOptions options = offset_words();
  options.second_gpu = find_gpu_model("rx7600");
  const auto rig = start_or_skip(options);
  if (!rig) {
    return;
  }
  const auto gpus = os::list_gpus({.sys = rig->sys(), .dev = rig->dev()});
  REQUIRE(gpus.has_value());
  REQUIRE(gpus->size() == 2);  // by PCI address
  const os::GpuDevice& card = gpus->front();
  CHECK(card.identity.pci == "0000:03:00.0");
  CHECK(card.identity.gc == regdb::GcVersion{11, 0, 2});
  CHECK(card.card == "card2");
  CHECK(card.render_node_name == "renderD129");
  CHECK_FALSE(card.boot_vga);
  CHECK(gpus->back().card == "card1");
  CHECK(gpus->back().boot_vga);

  const UniqueFd node(::open(card.render_node.c_str(), O_RDWR | O_CLOEXEC));
  CHECK(node);
  CHECK(rig->second_control().opens == 1);
  CHECK(rig->control().opens == 0);
  CHECK(text_of(rig->sys() / "kernel/debug/dri/2/name").find("0000:03:00.0") != std::string::npos);

  std::ofstream(rig->root() / "control2") << "suspended=1\n";
  CHECK(text_of(card.device_dir / "power/runtime_status") == "suspended\n");
  CHECK(text_of(gpus->back().device_dir / "power/runtime_status") == "active\n");
  rig->second_control().unplugged = 1;
  CHECK_FALSE(fs::exists(card.render_node));
  CHECK(fs::exists(rig->render_node()));
  CHECK(text_of(hwmon_of(*rig) / "name") == "amdgpu\n");
}

}  // namespace gputrace::rig
