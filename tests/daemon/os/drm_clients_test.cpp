#include "daemon/os/drm_clients.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::os {
namespace {

constexpr std::string_view kPci = "0000:c4:00.0";

/// A device folder and its debugfs folder.
class Gpu {
 public:
  Gpu() {
    device.card = "card1";
    device.identity.pci = kPci;
    device.device_dir = folder_.path() / "device";
    write_debugfs("name", fmt::format("amdgpu dev={0} unique={0}\n", kPci));
  }
  void write_debugfs(std::string_view file, std::string_view text) const {
    write(debugfs() / file, text);
  }
  void write_device(std::string_view file, std::string_view text) const {
    write(device.device_dir / file, text);
  }
  [[nodiscard]] std::filesystem::path debugfs() const {
    return folder_.path() / "kernel/debug/dri/1";
  }
  [[nodiscard]] SystemRoots roots() const { return {folder_.path(), "/nowhere", "/nowhere"}; }
  [[nodiscard]] Result<std::size_t> others(const std::vector<pid_t>& own) const {
    return count_other_clients(device, roots(), own);
  }
  [[nodiscard]] std::size_t count(const std::vector<pid_t>& own) const {
    const auto result = others(own);
    REQUIRE_MESSAGE(result.has_value(), test::error_text(result));
    return *result;
  }

  GpuDevice device;

 private:
  static void write(const std::filesystem::path& path, std::string_view text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  test::TempDir folder_;
};

// The formats of drm_clients_info (drm_debugfs.c) up to Linux 6.13 and since.
std::string old_header() {
  return fmt::format("{:>20} {:>5} {:>3} master a {:>5} {:>10}\n", "command", "tgid", "dev", "uid",
                     "magic");
}
std::string old_line(std::string_view command, pid_t tgid) {
  return fmt::format("{:>20} {:>5} {:>3}   n    y {:>5} {:>10}\n", command, tgid, 128, 1000, 0);
}
std::string new_header() {
  return fmt::format("{:>20} {:>5} {:>3} master a {:>5} {:>10} {:>64} {:>20}\n", "command", "tgid",
                     "dev", "uid", "magic", "name", "id");
}
std::string new_line(std::string_view command, pid_t tgid, std::string_view name) {
  return fmt::format("{:>20} {:>5} {:>3}   n    y {:>5} {:>10} {:>64} {:>20}\n", command, tgid, 1,
                     1000, 0, name, 7);
}

}  // namespace

TEST_CASE("clients other than our own are counted, once for each open file") {
  const Gpu gpu;
  gpu.write_debugfs("clients", old_header() + old_line("Xorg", 812) + old_line("gputraced", 4711) +
                                   old_line("glxgears", 9000) + old_line("glxgears", 9000));
  CHECK(gpu.count({4711}) == 3);
  CHECK(gpu.count({4711, 812, 9000}) == 0);
  CHECK(gpu.count({}) == 4);
}

TEST_CASE("the columns that newer kernels added do not disturb") {
  const Gpu gpu;
  gpu.write_debugfs("clients", new_header() + new_line("gputraced", 4711, "<unset>") +
                                   new_line("vulkan game", 812, "4711 tgid"));
  CHECK(gpu.count({4711}) == 1);
  CHECK(gpu.count({812}) == 1);
  CHECK(gpu.count({4711, 812}) == 0);
}

TEST_CASE("a name with blanks and digits, and a process id wider than its column") {
  const Gpu gpu;
  gpu.write_debugfs("clients", old_header() + old_line("Web 4711 x", 812) +
                                   old_line("<unknown>", 4194303) + old_line("gputraced", 4711));
  CHECK(gpu.count({4711}) == 2);
  CHECK(gpu.count({4711, 4194303}) == 1);
}

TEST_CASE("a process whose name holds a line break is another client, not a parse error") {
  const Gpu gpu;
  gpu.write_debugfs("clients", old_header() + old_line("evil\nname", 812));
  CHECK(gpu.count({4711}) >= 1);
}

TEST_CASE("a GPU that nobody has open has no clients, and a long list is read to its end") {
  const Gpu gpu;
  gpu.write_debugfs("clients", old_header());
  CHECK(gpu.count({}) == 0);
  std::string text = new_header();
  for (pid_t pid = 1; pid <= 500; ++pid) {
    text += new_line("client", pid, "<unset>");
  }
  gpu.write_debugfs("clients", text);
  CHECK(gpu.count({500}) == 499);
}

TEST_CASE("a clients file without the column of processes is unsupported") {
  const Gpu gpu;
  for (const char* text : {"", "nonsense\n", "command pid dev\n"}) {
    gpu.write_debugfs("clients", text);
    const auto others = gpu.others({});
    REQUIRE_FALSE(others.has_value());
    CHECK(others.error().code == ErrorCode::kUnsupported);
    CHECK(others.error().message.find("tgid") != std::string::npos);
  }
}

TEST_CASE("debugfs that is not mounted, of another device, or without the file is not found") {
  Gpu gpu;
  CHECK(gpu.others({}).error().code == ErrorCode::kNotFound);  // no file `clients`
  gpu.write_debugfs("clients", old_header());
  CHECK(gpu.count({}) == 0);
  gpu.write_debugfs("name", "amdgpu dev=0000:03:00.0 unique=0000:03:00.0\n");
  CHECK(gpu.others({}).error().code == ErrorCode::kNotFound);
  gpu.device.card = "card2";
  CHECK(gpu.others({}).error().code == ErrorCode::kNotFound);
  const auto none = count_other_clients(gpu.device, {"/nowhere", "/nowhere", "/nowhere"}, {});
  CHECK(none.error().code == ErrorCode::kNotFound);
}

TEST_CASE("a clients file that may not be read is a lack of permission") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may read everything");
    return;
  }
  const Gpu gpu;
  gpu.write_debugfs("clients", old_header());
  REQUIRE(::chmod((gpu.debugfs() / "clients").c_str(), 0) == 0);
  const auto others = gpu.others({});
  REQUIRE_FALSE(others.has_value());
  CHECK(others.error().code == ErrorCode::kPermissionDenied);
}

TEST_CASE("runtime power management is there when power/control says auto and nothing else") {
  const Gpu gpu;
  CHECK_FALSE(has_runtime_power_management(gpu.device));
  gpu.write_device("power/control", "auto\n");
  CHECK(has_runtime_power_management(gpu.device));
  gpu.write_device("power/control", "on\n");
  CHECK_FALSE(has_runtime_power_management(gpu.device));
}

TEST_CASE("the autosuspend delay is absent when the kernel has none or never suspends") {
  const Gpu gpu;
  CHECK_FALSE(autosuspend_delay_ms(gpu.device).has_value());
  struct Expectation {
    std::string_view text;
    std::optional<std::int64_t> delay_ms;
  };
  for (const Expectation& wanted :
       {Expectation{"5000\n", 5000}, Expectation{"0\n", 0}, Expectation{"2147483647\n", 2147483647},
        Expectation{"-1\n", std::nullopt}, Expectation{"", std::nullopt},
        Expectation{"99999999999\n", std::nullopt}}) {
    CAPTURE(wanted.text);
    gpu.write_device("power/autosuspend_delay_ms", wanted.text);
    CHECK(autosuspend_delay_ms(gpu.device) == wanted.delay_ms);
  }
}

}  // namespace gputrace::os
