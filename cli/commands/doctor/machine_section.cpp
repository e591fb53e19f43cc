#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/daemon_connection.h"
#include "cli/commands/doctor/diagnosis.h"
#include "cli/commands/doctor/doctor_text.h"
#include "cli/commands/doctor/sensor_rows.h"
#include "daemon/os/kernel.h"
#include "daemon/os/sensors/machine_sensors.h"
#include "daemon/os/sensors/processor.h"
#include "daemon/os/sysfs.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

/// One line of the machine, in both forms.
struct Check {
  std::string name;
  Mark mark = Mark::kOk;
  std::string found;
  std::string fix;
  std::string costs;
  int error_number = 0;
};

// Sleeps that end later than this cost samples at 1 kHz.
constexpr std::int64_t kLateNs = 200'000;

Check check_kernel(const os::MachineChecks& checks) {
  Check check{.name = "kernel", .found = "Linux " + checks.kernel_release, .fix = {}, .costs = {}};
  const auto version = os::parse_kernel_release(checks.kernel_release);
  if (!version) {
    check.mark = Mark::kBroken;
    check.found = "its version '" + checks.kernel_release + "' is not understood";
  } else if (*version < os::KernelVersion{5, 15}) {
    check.mark = Mark::kLimited;
    check.fix = "Linux 5.15 or newer";
    check.costs = "registers through debugfs and the BAR, which are not read on older kernels";
  }
  return check;
}

Check check_lockdown(const os::SystemRoots& roots) {
  const auto mode = os::lockdown_mode(roots);
  if (!mode) {
    return {.name = "lockdown", .found = "none", .fix = {}, .costs = {}};
  }
  return {.name = "lockdown",
          .mark = Mark::kLimited,
          .found = fmt::format("'{}', as Secure Boot sets it", *mode),
          .fix = "turn Secure Boot off, where that is an option",
          .costs = "registers through debugfs and the BAR, even for root and gputraced"};
}

Check check_paranoid(const os::SystemRoots& roots) {
  const auto text = os::read_text(roots.proc / "sys/kernel/perf_event_paranoid");
  if (!text) {
    return {.name = "perf events",
            .mark = Mark::kLimited,
            .found = "kernel.perf_event_paranoid cannot be read: no perf events, or a sandbox",
            .fix = {},
            .costs = "DRAM traffic and energy from PMUs"};
  }
  Check check{.name = "perf events",
              .found = "kernel.perf_event_paranoid is " + *text,
              .fix = {},
              .costs = {}};
  if (*text != "0" && !text->starts_with('-')) {
    check.mark = Mark::kLimited;
    check.found += ": PMUs of the machine are for CAP_PERFMON only, which gputraced has";
    check.costs = "DRAM traffic and energy of the CPU, when gputraced does not record";
  }
  return check;
}

Check check_timer(const os::TimerPrecision& timer) {
  Check check{.name = "timer",
              .found = fmt::format("sleeps of {} end {} late (the worst of {}: {})",
                                   duration_text(timer.period_ns), duration_text(timer.median_ns),
                                   timer.sleeps, duration_text(timer.worst_ns)),
              .fix = {},
              .costs = {}};
  if (timer.median_ns > kLateNs) {
    check.mark = Mark::kLimited;
    check.fix =
        "see whether the machine is busy, or a virtual machine without high-resolution "
        "timers";
    check.costs = "samples come late; at high rates some are missed";
  }
  return check;
}

Check check_realtime(const Status& status) {
  if (status) {
    return {
        .name = "real-time scheduling", .found = "SCHED_FIFO is permitted", .fix = {}, .costs = {}};
  }
  return {.name = "real-time scheduling",
          .mark = Mark::kLimited,
          .found = status.error().message,
          .fix = "'@render - rtprio 1' in /etc/security/limits.conf, or start gputraced",
          .costs = "samples come late when all cores are busy; reports say when that mattered",
          .error_number = errno_of(status.error().message)};
}

Check check_locked_memory(const os::MachineChecks& checks) {
  const std::string limit =
      checks.locked_memory_limit ? format_bytes(*checks.locked_memory_limit) : "no limit";
  if (checks.locked_memory) {
    return {.name = "locked memory",
            .found = fmt::format("enough for a recording ({})", limit),
            .fix = {},
            .costs = {}};
  }
  return {.name = "locked memory",
          .mark = Mark::kLimited,
          .found = fmt::format("{} (the limit: {})", checks.locked_memory.error().message, limit),
          .fix = "'* - memlock 65536' in /etc/security/limits.conf, or start gputraced",
          .costs = "a sample may wait for the disk when memory is short",
          .error_number = errno_of(checks.locked_memory.error().message)};
}

Check check_daemon(const Result<ipc::StatusReply>& daemon) {
  if (daemon) {
    Check check{.name = "gputraced", .found = daemon->daemon + " answers", .fix = {}, .costs = {}};
    for (const std::string& problem : daemon->problems) {
      check.mark = Mark::kLimited;
      check.found += "; " + problem;
    }
    return check;
  }
  const bool is_refused = daemon.error().code == ErrorCode::kPermissionDenied;
  return {.name = "gputraced",
          .mark = is_refused ? Mark::kNo : Mark::kNone,
          .found = daemon.error().message,
          .fix = {},
          .costs = "registers and sensors that only root may read; recordings work without it",
          .error_number = errno_of(daemon.error().message)};
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json to_json(const Check& check) {
  return {{"name", check.name},
          {"state", word_of(check.mark)},
          {"found", check.found},
          {"errno", check.error_number != 0 ? Json(check.error_number) : Json(nullptr)},
          {"fix", text_or_null(check.fix)},
          {"costs", text_or_null(check.costs)}};
}

}  // namespace

Section machine_section(const Surroundings& world, const Result<ipc::StatusReply>& daemon) {
  const os::MachineChecks checks = world.check_machine();
  Json json = {{"checks", Json::array()}};
  Section section;
  section.text = "Machine\n";
  if (const auto processor = os::read_processor(world.roots); processor) {
    const std::string name =
        fmt::format("{} (family {:#x}, model {:#x})",
                    processor->name.empty() ? processor->vendor : processor->name,
                    processor->family, processor->model);
    append_row(section.text, Mark::kAbout, "processor", name);
    json["processor"] = name;
  }
  for (const Check& check :
       {check_kernel(checks), check_lockdown(world.roots), check_paranoid(world.roots),
        check_timer(checks.timer), check_realtime(checks.realtime), check_locked_memory(checks),
        check_daemon(daemon)}) {
    append_row(section.text, check.mark, check.name, check.found);
    append_detail(section.text, "fix", check.fix);
    append_detail(section.text, "costs", check.costs);
    json["checks"].push_back(to_json(check));
  }
  section.text += "\nSensors of the machine\n";
  const auto sources =
      read_sources(os::open_machine_sensors(world.roots, world.open_perf_event), world.now_ns);
  append_sources(section.text, sources);
  json["sensors"] = Json::parse(sources_to_json(sources));
  section.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return section;
}

}  // namespace gputrace::commands
