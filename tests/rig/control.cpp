#include "tests/rig/control.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <new>

namespace gputrace::rig {
namespace {

constexpr int kBetweenProcesses = 1;

struct NamedSwitch {
  std::string_view name;
  RigControl::Switch RigControl::* member;
};
constexpr auto kSwitches = std::to_array<NamedSwitch>({
    {"open_errno", &RigControl::open_errno},
    {"read_errno", &RigControl::read_errno},
    {"unplugged", &RigControl::unplugged},
    {"all_ones", &RigControl::all_ones},
    {"hold_reads", &RigControl::hold_reads},
    {"suspended", &RigControl::suspended},
    {"no_read_mmr", &RigControl::no_read_mmr},
    {"denied_offset", &RigControl::denied_offset},
    {"power_auto", &RigControl::power_auto},
    {"other_clients", &RigControl::other_clients},
    {"no_regs2", &RigControl::no_regs2},
    {"regs2_v1_only", &RigControl::regs2_v1_only},
    {"debugfs_errno", &RigControl::debugfs_errno},
    {"debugfs_all_ones", &RigControl::debugfs_all_ones},
    {"bar_all_ones", &RigControl::bar_all_ones},
    {"privileged_denied_offset", &RigControl::privileged_denied_offset},
    {"gfx_off", &RigControl::gfx_off},
    {"hold_privileged_reads", &RigControl::hold_privileged_reads},
    {"late_privileged_read", &RigControl::late_privileged_read},
    {"sensor_file", &RigControl::sensor_file},
    {"sensor_errno", &RigControl::sensor_errno},
    {"hold_sensors", &RigControl::hold_sensors},
    {"late_sensors", &RigControl::late_sensors},
    {"metrics_fault", &RigControl::metrics_fault},
    {"stuck_busy", &RigControl::stuck_busy},
});

struct NamedCounter {
  std::string_view name;
  RigControl::Counter RigControl::* member;
};
constexpr auto kCounters = std::to_array<NamedCounter>({
    {"opens", &RigControl::opens},
    {"ioctls", &RigControl::ioctls},
    {"register_reads", &RigControl::register_reads},
    {"failed_register_reads", &RigControl::failed_register_reads},
    {"touched_while_suspended", &RigControl::touched_while_suspended},
    {"held", &RigControl::held},
    {"regs_reads", &RigControl::regs_reads},
    {"unguarded_reads", &RigControl::unguarded_reads},
    {"writes_attempted", &RigControl::writes_attempted},
    {"sensor_reads", &RigControl::sensor_reads},
    {"metrics_reads", &RigControl::metrics_reads},
    {"sensor_reads_while_suspended", &RigControl::sensor_reads_while_suspended},
    {"open_sensor_files", &RigControl::open_sensor_files},
    {"guarded", &RigControl::guarded},
    {"power_downs", &RigControl::power_downs},
});

constexpr auto kSensorFiles = std::to_array<std::string_view>({
    "gpu_metrics",       "power1_average",   "power1_input",     "power1_cap",
    "temp1_input",       "temp2_input",      "temp3_input",      "freq1_input",
    "freq2_input",       "in0_input",        "in1_input",        "fan1_input",
    "gpu_busy_percent",  "mem_busy_percent", "vcn_busy_percent", "mem_info_vram_used",
    "mem_info_gtt_used", "pp_dpm_sclk",      "pp_dpm_mclk",      "energy_uj",
});

Status apply_line(RigControl& control, std::string_view line) {
  const std::size_t equals = line.find('=');
  for (const NamedSwitch& entry : kSwitches) {
    if (equals == std::string_view::npos || line.substr(0, equals) != entry.name) {
      continue;
    }
    const std::string_view digits = line.substr(equals + 1);
    std::uint32_t value = entry.name == "sensor_file" ? sensor_file_number(digits) : 0;
    if (value != 0) {
      control.*entry.member = value;
      return {};
    }
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      break;
    }
    control.*entry.member = value;
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not SWITCH=NUMBER", line));
}

}  // namespace

std::uint32_t sensor_file_number(std::string_view name) {
  const auto* const found = std::find(kSensorFiles.begin(), kSensorFiles.end(), name);
  return found == kSensorFiles.end() ? 0
                                     : static_cast<std::uint32_t>(found - kSensorFiles.begin()) + 1;
}

Result<std::shared_ptr<RigControl>> make_shared_control() {
  void* memory = ::mmap(nullptr, sizeof(RigControl), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return fail_errno(errno, "cannot map the rig's shared memory");
  }
  auto* control = new (memory) RigControl;
  ::sem_init(&control->read_is_held, kBetweenProcesses, 0);
  ::sem_init(&control->power_is_down, kBetweenProcesses, 0);
  return std::shared_ptr<RigControl>(
      control, [](RigControl* mapped) { ::munmap(mapped, sizeof(RigControl)); });
}

std::string control_text(const RigControl& control) {
  std::string text;
  for (const NamedSwitch& entry : kSwitches) {
    text += fmt::format("{}={}\n", entry.name, (control.*entry.member).load());
  }
  for (const NamedCounter& entry : kCounters) {
    text += fmt::format("{}={}\n", entry.name, (control.*entry.member).load());
  }
  return text;
}

Status apply_control_text(RigControl& control, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) {
      if (Status status = apply_line(control, line); !status) {
        return status;
      }
    }
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return {};
}

}  // namespace gputrace::rig
