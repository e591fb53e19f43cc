// `gputrace doctor` on machines made of files: what it says as a whole is in tests/golden.
#include "cli/commands/doctor/diagnosis.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/report/terminal_text.h"
#include "tests/daemon/os/sensors/fake_pmus.h"
#include "tests/support/error_text.h"
#include "tests/support/golden.h"

namespace gputrace::commands {

namespace {

namespace fs = std::filesystem;

/// A machine in a folder, which is the working folder while it lives: so paths in messages do not
/// depend on where the folder is.
class FakeMachine {
 public:
  FakeMachine() : before_(fs::current_path()) {
    fs::current_path(pmus_.path());
    for (const char* folder : {"sys/class/drm", "dev", "proc"}) {
      fs::create_directories(folder);
    }
    world_.roots = {"sys", "dev", "proc", "ids"};
    world_.check_machine = [this] { return checks_; };
    world_.ask_daemon = []() -> Result<ipc::StatusReply> {
      return fail(ErrorCode::kNotFound,
                  "gputraced is not installed: nobody listens on /run/gputrace/gputraced.socket");
    };
    world_.find_registers = [](const os::GpuDevice& gpu) {
      return os::find_register_sources(gpu, regdb::RegisterDatabase::built_in(), {});
    };
    world_.open_perf_event = [this](const os::PerfEvent& event, int cpu) {
      const int fd = pmus_.opener()(event, cpu);
      if (fd >= 0) {
        pmus_.push_open(event, cpu, {1000, 100'000'000, 100'000'000});
      }
      return fd;
    };
    world_.list_vulkan = []() -> Result<std::vector<vulkan::ListedDevice>> {
      return fail(ErrorCode::kNotFound,
                  "the Vulkan loader (libvulkan.so.1) is not installed, or does not load");
    };
    world_.now_ns = [this] { return now_ns_ += 12'000; };
    world_.isolate = [](std::chrono::milliseconds, const std::function<Section()>& make) {
      return Result<Section>(make());
    };
    checks_.kernel_release = "6.12.9-amd64";
    checks_.timer = {1'000'000, 100, 3'400, 61'000};
    write("proc/sys/kernel/perf_event_paranoid", "2\n");
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;
  ~FakeMachine() { fs::current_path(before_); }

  void write(const fs::path& file, const std::string& text) const { pmus_.write(file, text); }

  /// The sensors of a real Phoenix.
  void add_phoenix(const std::string& runtime_status = "active") const {
    fs::copy(std::string(GPUTRACE_FIXTURES) + "/sysfs/cases/phoenix/card1", "sys/class/drm/card1",
             fs::copy_options::recursive);
    write("sys/class/drm/card1/device/power/runtime_status", runtime_status + "\n");
    write("sys/class/drm/card1/device/power/control", "auto\n");
    write("sys/class/drm/card1/device/power/autosuspend_delay_ms", "5000\n");
    write("sys/class/drm/card1/device/drm/renderD128/dev", "226:128\n");
    write("dev/dri/renderD128", "");
    write("sys/module/amdgpu/parameters/ppfeaturemask", "0xfff7bfff\n");
  }

  void add_energy() const {
    write("sys/class/hwmon/hwmon3/name", "k10temp\n");
    write("sys/class/hwmon/hwmon3/temp1_input", "48250\n");
    write("sys/class/hwmon/hwmon3/temp1_label", "Tctl\n");
    pmus_.set_processor("AuthenticAMD", 0x19, 0x74);
    pmus_.add("power", 23, "0",
              {{"format/event", "config:0-7"},
               {"events/energy-pkg", "event=0x02"},
               {"events/energy-pkg.scale", "2.3283064365386962890625e-10"},
               {"events/energy-pkg.unit", "Joules"}});
    pmus_.add("amd_df", 14, "0",
              {{"format/event", "config:0-7,32-37"}, {"format/umask", "config:8-15,24-27"}});
  }

  Diagnosis diagnose(std::string_view gpu = "") {
    // On a machine with much else to do a sensor's file may seem to hang: ask again then.
    constexpr int kMostAttempts = 20;
    Result<Diagnosis> diagnosis = commands::diagnose(world_, gpu);
    for (int i = 1; i < kMostAttempts && diagnosis &&
                    diagnosis->json.find("did not answer within") != std::string::npos;
         ++i) {
      diagnosis = commands::diagnose(world_, gpu);
    }
    REQUIRE_MESSAGE(diagnosis, test::error_text(diagnosis));
    std::istringstream lines(diagnosis->text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(report::display_width(line) <= 100);
      CHECK_FALSE(line.ends_with(' '));
    }
    return std::move(*diagnosis);
  }

  test::FakePmus& pmus() { return pmus_; }
  Surroundings& world() { return world_; }
  os::MachineChecks& checks() { return checks_; }

 private:
  fs::path before_;
  test::FakePmus pmus_;
  Surroundings world_;
  os::MachineChecks checks_;
  std::int64_t now_ns_ = 0;
};

os::RegisterFindings opened_registers(const os::GpuDevice& gpu, bool root) {
  os::RegisterFindings findings;
  findings.device = gpu;
  findings.device.identity.driver = "amdgpu 3.61";
  findings.device.shader_engines = 1;
  findings.sources = {{"drm ioctl",
                       os::SourceState::kWorks,
                       {"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS_SE0"},
                       2'300,
                       ""}};
  if (root) {
    findings.sources.push_back(
        {"debugfs regs2", os::SourceState::kWorks, {"GRBM_STATUS3"}, 1'100, ""});
    return findings;
  }
  for (const char* path : {"debugfs regs2", "debugfs regs"}) {
    findings.sources.push_back({path,
                                os::SourceState::kRefused,
                                {},
                                std::nullopt,
                                "cannot open /sys/kernel/debug/dri: Permission denied"});
  }
  findings.sources.push_back({"bar",
                              os::SourceState::kRefused,
                              {},
                              std::nullopt,
                              "cannot open /sys/bus/pci/devices/0000:64:00.0/resource5: "
                              "Permission denied"});
  findings.missing = {"GRBM_STATUS3"};
  return findings;
}

const nlohmann::json& source_named(const nlohmann::json& list, std::string_view name) {
  for (const nlohmann::json& source : list) {
    if (source["source"] == name) {
      return source;
    }
  }
  FAIL("no source ", name);
  static const nlohmann::json kNone;
  return kNone;
}

}  // namespace

TEST_CASE("doctor of a machine where all works") {
  FakeMachine machine;
  machine.add_phoenix();
  machine.add_energy();
  machine.pmus().add_umc(0, 40);
  machine.write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  machine.world().ask_daemon = []() -> Result<ipc::StatusReply> {
    ipc::StatusReply status;
    status.daemon = "gputraced 0.1.0";
    return status;
  };
  machine.world().find_registers = [](const os::GpuDevice& gpu) {
    return opened_registers(gpu, true);
  };
  machine.world().list_vulkan = []() -> Result<std::vector<vulkan::ListedDevice>> {
    return std::vector<vulkan::ListedDevice>{
        {"AMD Radeon 780M (RADV GFX1103_R1)", "integrated GPU", "radv", "Mesa 24.2.8", "1.3.289",
         0x1002, 0x15bf, "0000:64:00.0"},
        {"llvmpipe (LLVM 15.0.6, 256 bits)", "CPU", "llvmpipe", "Mesa 22.3.6 (LLVM 15.0.6)",
         "1.3.230", 0x10005, 0, std::nullopt}};
  };
  const Diagnosis diagnosis = machine.diagnose();
  CHECK(diagnosis.can_record);
  test::check_golden("doctor_all.txt", diagnosis.text);
  test::check_golden("doctor_all.json", diagnosis.json);
}

TEST_CASE("doctor of a user without rights says what each lack costs and what to do") {
  FakeMachine machine;
  machine.add_phoenix();
  machine.add_energy();
  machine.pmus().refuse(EACCES);
  machine.checks().realtime = fail_errno(EPERM, "cannot use SCHED_FIFO");
  machine.checks().locked_memory = fail_errno(ENOMEM, "cannot lock 4194304 bytes of memory");
  machine.checks().locked_memory_limit = 65'536;
  machine.world().find_registers = [](const os::GpuDevice& gpu) {
    return opened_registers(gpu, false);
  };
  const Diagnosis diagnosis = machine.diagnose();
  CHECK(diagnosis.can_record);
  test::check_golden("doctor_user.txt", diagnosis.text);
  test::check_golden("doctor_user.json", diagnosis.json);
}

TEST_CASE("doctor does not touch a GPU that sleeps, and does not ask Vulkan then") {
  FakeMachine machine;
  machine.add_phoenix("suspended");
  machine.world().list_vulkan = []() -> Result<std::vector<vulkan::ListedDevice>> {
    FAIL("Vulkan would wake the GPU");
    return std::vector<vulkan::ListedDevice>{};
  };
  const Diagnosis diagnosis = machine.diagnose();
  CHECK(diagnosis.can_record);
  test::check_golden("doctor_asleep.txt", diagnosis.text);
  const auto json = nlohmann::json::parse(diagnosis.json);
  CHECK(json["gpus"][0]["why_not"].is_null());
  CHECK(json["vulkan"]["state"] == "asleep");
  for (const auto& source : json["gpus"][0]["sensors"]) {
    CHECK(source["cost_ns"].is_null());
  }
}

TEST_CASE("doctor of a GPU that sleeps and whose graphics core sysfs does not name") {
  FakeMachine machine;
  machine.add_phoenix("suspended");
  fs::remove_all("sys/class/drm/card1/device/ip_discovery");
  const Diagnosis diagnosis = machine.diagnose();
  CHECK_FALSE(diagnosis.can_record);
  CHECK(diagnosis.text.find("Nothing can be recorded now. GPU 0: ") == 0);
  const auto json = nlohmann::json::parse(diagnosis.json);
  const auto why_not = json["gpus"][0]["why_not"].get<std::string>();
  CHECK(why_not.find("is asleep, and what graphics core it has") != std::string::npos);
  CHECK(why_not.find("Start the program that uses it first") != std::string::npos);
}

TEST_CASE("doctor of a machine without a GPU names AMD's GPUs of other drivers") {
  FakeMachine machine;
  machine.write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
  machine.write("sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
  machine.write("sys/bus/pci/devices/0000:04:00.0/vendor", "0x1002\n");
  machine.write("sys/bus/pci/devices/0000:04:00.0/class", "0x038000\n");
  fs::create_symlink("../../drivers/vfio-pci", "sys/bus/pci/devices/0000:04:00.0/driver");
  machine.write("sys/bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
  machine.write("sys/bus/pci/devices/0000:05:00.0/class", "0x040300\n");  // its sound
  const Diagnosis diagnosis = machine.diagnose();
  CHECK_FALSE(diagnosis.can_record);
  test::check_golden("doctor_no_gpu.txt", diagnosis.text);
  test::check_golden("doctor_no_gpu.json", diagnosis.json);
}

TEST_CASE("doctor names the group that a user of the render node has to join") {
  FakeMachine machine;
  machine.add_phoenix();
  machine.world().find_registers = [](const os::GpuDevice& gpu) {
    os::RegisterFindings findings;
    findings.device = gpu;
    findings.sources = {{"drm ioctl",
                         os::SourceState::kRefused,
                         {},
                         std::nullopt,
                         "cannot open /dev/dri/renderD128: Permission denied. It belongs to group "
                         "'render': `sudo usermod -aG render $USER`, then log in again"}};
    return findings;
  };
  const Diagnosis diagnosis = machine.diagnose("card1");
  CHECK_FALSE(diagnosis.can_record);
  const auto json = nlohmann::json::parse(diagnosis.json);
  const auto& source = source_named(json["gpus"][0]["registers"], "drm ioctl");
  CHECK(source["state"] == "no");
  CHECK(source["errno"] == EACCES);
  CHECK(source["fix"].get<std::string>().find("usermod -aG render") != std::string::npos);
  CHECK(diagnosis.text.find("GPU 0: cannot open /dev/dri/renderD128: ") != std::string::npos);

  machine.world().ask_daemon = []() -> Result<ipc::StatusReply> { return ipc::StatusReply{}; };
  CHECK(machine.diagnose().can_record);  // through gputraced
}

TEST_CASE("doctor goes on when a part of it hangs or crashes") {
  FakeMachine machine;
  machine.add_phoenix();
  machine.world().isolate = [](std::chrono::milliseconds,
                               const std::function<Section()>&) -> Result<Section> {
    return fail(ErrorCode::kBusy, "no answer within 20 s");
  };
  const Diagnosis diagnosis = machine.diagnose();
  CHECK_FALSE(diagnosis.can_record);
  const auto json = nlohmann::json::parse(diagnosis.json);
  CHECK(json["gpus"][0]["why_not"] == "examining it failed: no answer within 20 s");
  CHECK(json["vulkan"]["state"] == "broken");
  CHECK(diagnosis.text.find("no answer within 20 s") != std::string::npos);
  CHECK(diagnosis.text.find("dmesg") != std::string::npos);
}

TEST_CASE("doctor says why the kernel limits a recording") {
  FakeMachine machine;
  machine.checks().kernel_release = "5.10.0-33-amd64";
  machine.checks().timer.median_ns = 900'000;
  machine.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  fs::remove("proc/sys/kernel/perf_event_paranoid");
  const auto json = nlohmann::json::parse(machine.diagnose().json);
  for (const auto& check : json["machine"]["checks"]) {
    const std::string name = check["name"];
    const bool limits =
        name == "kernel" || name == "lockdown" || name == "perf events" || name == "timer";
    CAPTURE(name);
    CHECK((check["state"] == "limited") == limits);
    CHECK((!limits || check["costs"].is_string()));
  }
}

TEST_CASE("doctor of a GPU that is not there is an error that lists those that are") {
  FakeMachine machine;
  machine.add_phoenix();
  const auto diagnosis = diagnose(machine.world(), "card7");
  REQUIRE_FALSE(diagnosis);
  CHECK(diagnosis.error().message.find("card1") != std::string::npos);
}

}  // namespace gputrace::commands
