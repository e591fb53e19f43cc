#include "daemon/os/register_findings.h"

#include <doctest/doctest.h>
#include <sched.h>

#include "daemon/os/machine_checks.h"
#include "daemon/os/other_drivers.h"
#include "tests/daemon/os/sensors/fake_pmus.h"

namespace gputrace::os {

namespace {

GpuDevice add_gpu(const test::FakePmus& tree, const std::string& status) {
  GpuDevice gpu;
  gpu.card = "card1";
  gpu.identity.pci = "0000:c4:00.0";
  gpu.render_node = tree.path() / "dev/dri/renderD128";
  gpu.device_dir = tree.path() / "sys/class/drm/card1/device";
  gpu.runtime_status = status;
  tree.write("sys/class/drm/card1/device/power/runtime_status", status + "\n");
  return gpu;
}

}  // namespace

TEST_CASE("a sleeping GPU is judged by the permissions of its node alone") {
  const test::FakePmus tree;
  const GpuDevice gpu = add_gpu(tree, "suspended");
  const auto regdb = regdb::RegisterDatabase::built_in();
  RegisterFindings findings = find_register_sources(gpu, regdb, tree.roots());
  REQUIRE(findings.sources.size() == 4);
  CHECK(findings.sources[0].source == "drm ioctl");
  CHECK(findings.sources[0].state == SourceState::kAbsent);  // there is no node
  tree.write("dev/dri/renderD128", "");
  findings = find_register_sources(gpu, regdb, tree.roots());
  for (const RegisterFinding& source : findings.sources) {
    CHECK(source.state == SourceState::kAsleep);
    CHECK(source.registers.empty());
    CHECK_FALSE(source.cost_ns);
  }
}

TEST_CASE("without the render node no other way is tried") {
  const test::FakePmus tree;
  const auto findings = find_register_sources(add_gpu(tree, "active"),
                                              regdb::RegisterDatabase::built_in(), tree.roots());
  REQUIRE(findings.sources.size() == 4);
  CHECK(findings.sources[0].reason.find("renderD128: No such file") != std::string::npos);
  CHECK(findings.sources[3].source == "bar");
  CHECK(findings.sources[3].reason.find("not tried") == 0);
}

TEST_CASE("power settings: module options, suspension and GFXOFF as the driver says") {
  const test::FakePmus tree;
  const GpuDevice gpu = add_gpu(tree, "active");
  tree.write("sys/module/amdgpu/parameters/ppfeaturemask", "0xfff73fff\n");
  tree.write("sys/module/amdgpu/parameters/dpm", "0\n");
  tree.write("sys/module/amdgpu/parameters/runpm", "-1\n");
  tree.write("sys/class/drm/card1/device/power/control", "auto\n");
  tree.write("sys/class/drm/card1/device/power/autosuspend_delay_ms", "5000\n");
  tree.write("sys/kernel/debug/dri/1/name", "amdgpu dev=0000:c4:00.0 unique=0000:c4:00.0\n");
  tree.write("sys/kernel/debug/dri/1/amdgpu_gfxoff_status", std::string("\2\0\0\0", 4));
  const PowerFindings power = find_power_settings(gpu, tree.roots());
  CHECK(power.gfxoff_allowed == false);
  CHECK(power.gfxoff_status == 2U);
  CHECK(power.may_suspend);
  CHECK(power.autosuspend_ms == 5000);
  REQUIRE(power.options.size() == 1);
  CHECK(power.options[0].find("amdgpu.dpm=0") == 0);

  tree.write("sys/kernel/debug/dri/1/amdgpu_gfxoff_status", std::string("\7\0\0\0", 4));
  CHECK(find_power_settings(gpu, tree.roots()).gfxoff_status_unknown.find("0 to 3") !=
        std::string::npos);
}

TEST_CASE("power settings: a sleeping GPU is not asked, and what is absent is not known") {
  const test::FakePmus tree;
  const PowerFindings power = find_power_settings(add_gpu(tree, "suspended"), tree.roots());
  CHECK_FALSE(power.gfxoff_status);
  CHECK(power.gfxoff_status_unknown == "not read while the GPU sleeps");
  CHECK_FALSE(power.gfxoff_allowed);
  CHECK_FALSE(power.may_suspend);
  CHECK(power.options.empty());
}

TEST_CASE("AMD's GPUs with another driver are found, other devices are not") {
  const test::FakePmus tree;
  const auto add = [&](const std::string& pci, const char* vendor, const char* pci_class) {
    tree.write("sys/bus/pci/devices/" + pci + "/vendor", vendor);
    tree.write("sys/bus/pci/devices/" + pci + "/class", pci_class);
  };
  add("0000:03:00.0", "0x1002\n", "0x030000\n");
  add("0000:03:00.1", "0x1002\n", "0x040300\n");
  add("0000:04:00.0", "0x10de\n", "0x030000\n");
  add("0000:05:00.0", "0x1002\n", "0x038000\n");
  std::filesystem::create_symlink("../../drivers/amdgpu",
                                  tree.path() / "sys/bus/pci/devices/0000:05:00.0/driver");
  const auto others = amd_gpus_of_other_drivers(tree.roots());
  REQUIRE(others.size() == 1);
  CHECK(others[0].pci == "0000:03:00.0");
  CHECK(others[0].driver.empty());
}

TEST_CASE("the machine is tried out without a change that stays") {
  const int policy = ::sched_getscheduler(0);
  const MachineChecks checks = check_machine();
  CHECK_FALSE(checks.kernel_release.empty());
  CHECK(checks.timer.sleeps > 0);
  CHECK(checks.timer.median_ns <= checks.timer.worst_ns);
  CHECK(checks.timer.median_ns >= 0);
  CHECK(::sched_getscheduler(0) == policy);
}

}  // namespace gputrace::os
