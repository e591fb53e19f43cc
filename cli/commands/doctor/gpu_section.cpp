#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/doctor/diagnosis.h"
#include "cli/commands/doctor/doctor_text.h"
#include "cli/commands/doctor/sensor_rows.h"
#include "daemon/os/sensors/sensors.h"
#include "daemon/os/sleeping_reader.h"
#include "regdb/register_database.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;
using os::SourceState;

constexpr unsigned kGfxOff = 0;
constexpr unsigned kGfxOn = 2;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

struct GpuLook {
  os::RegisterFindings registers;
  os::PowerFindings power;
  std::optional<regdb::RegisterMap> map;
  std::string unsupported;  ///< why there is no map, where the GC version is known
  std::vector<SourceReading> sensors;
};

GpuLook look_at(const Surroundings& world, const os::GpuDevice& gpu) {
  GpuLook look;
  // First: reading registers wakes the graphics core.
  look.power = os::find_power_settings(gpu, world.roots);
  look.registers = world.find_registers(gpu);
  const auto& gc = look.registers.device.identity.gc;
  if (gc.has_value()) {
    Result<regdb::RegisterMap> map = regdb::RegisterDatabase::built_in().map_for(*gc);
    if (map) {
      look.map = std::move(*map);
    } else {
      look.unsupported = map.error().message;
    }
  }
  look.sensors = read_sources(os::open_gpu_sensors(gpu, gc), world.now_ns);
  return look;
}

/// Names of the units that only `registers` show: "GL2CC, CH, ...".
std::string units_of(const regdb::RegisterMap& map, const std::vector<std::string>& registers) {
  std::vector<std::string> units;
  for (const std::string& name : registers) {
    const regdb::Register* reg = map.find(name);
    for (const regdb::RegisterField& field :
         reg == nullptr ? std::vector<regdb::RegisterField>() : reg->fields) {
      const std::string unit = field.name.substr(0, field.name.rfind("_BUSY"));
      if (field.kind == regdb::FieldKind::kBusy &&
          std::find(units.begin(), units.end(), unit) == units.end()) {
        units.push_back(unit);
      }
    }
  }
  return fmt::format("{}", fmt::join(units, ", "));
}

bool gives_registers(const os::RegisterFindings& findings) {
  return std::any_of(findings.sources.begin(), findings.sources.end(),
                     [](const auto& source) { return source.state == SourceState::kWorks; });
}

/// A recording of it begins at once, and reads registers when somebody has woken it.
void judge_asleep(const os::GpuDevice& device, bool daemon_answers, Section& section) {
  const auto sleeping = os::open_sleeping_gpu(device, regdb::RegisterDatabase::built_in());
  section.can_record = sleeping.has_value() ||
                       (daemon_answers && sleeping.error().code == ErrorCode::kPermissionDenied);
  section.is_asleep = section.can_record;
  if (!section.can_record) {
    section.why_not = sleeping.error().message;
  }
}

void judge(const GpuLook& look, bool daemon_answers, Section& section) {
  const os::GpuDevice& device = look.registers.device;
  if (!look.unsupported.empty()) {
    section.why_not = look.unsupported;
  } else if (os::is_asleep(device.runtime_status)) {
    judge_asleep(device, daemon_answers, section);
  } else if (gives_registers(look.registers) || daemon_answers) {
    section.can_record = true;
  } else {
    section.why_not = look.registers.sources.front().reason;
  }
}

void append_identity(std::string& text, std::size_t index, const GpuLook& look) {
  const os::GpuDevice& device = look.registers.device;
  append_line(text,
              fmt::format("GPU {}: {} ({})", index, device.identity.name, device.identity.pci), 2);
  std::string about =
      fmt::format("{}, {}, driver {}", device.card,
                  device.render_node_name.empty() ? "no render node" : device.render_node_name,
                  device.identity.driver);
  if (const auto& gc = device.identity.gc; gc.has_value()) {
    about += ", GC " + regdb::to_string(*gc);
  }
  if (const auto& map = look.map; map.has_value()) {
    about += ", register table " + map->table;
  }
  append_row(text, Mark::kAbout, "device", about);
  if (!look.unsupported.empty()) {
    append_row(text, Mark::kNo, "registers", look.unsupported);
  }
}

void append_power(std::string& text, const GpuLook& look) {
  const os::GpuDevice& device = look.registers.device;
  const os::PowerFindings& power = look.power;
  const bool asleep = os::is_asleep(device.runtime_status);
  std::string state = device.runtime_status.empty() ? "unknown" : device.runtime_status;
  if (asleep) {
    state += ": nothing of the device was touched; a recording waits for a program to wake it";
  } else if (power.may_suspend) {
    state += ", may suspend when unused";
    if (const auto& delay = power.autosuspend_ms; delay.has_value()) {
      state += fmt::format(" for {:g} s", static_cast<double>(*delay) / 1000);
    }
    state += "; sampling keeps it awake";
  }
  append_row(text, asleep ? Mark::kAsleep : Mark::kAbout, "power", state);
  std::string gfxoff = !power.gfxoff_allowed.has_value() ? "whether it is allowed is not known"
                       : *power.gfxoff_allowed           ? "allowed; sampling holds it off"
                                                         : "switched off by amdgpu.ppfeaturemask";
  if (const auto& status = power.gfxoff_status; status.has_value()) {
    gfxoff += fmt::format(". Now: {} ({})",
                          *status == kGfxOff  ? "graphics core off"
                          : *status == kGfxOn ? "graphics core on"
                                              : "changing",
                          *status);
  } else {
    gfxoff += ". Now: not known, " + power.gfxoff_status_unknown;
  }
  append_row(text, Mark::kAbout, "GFXOFF", gfxoff);
  for (const std::string& option : power.options) {
    append_row(text, Mark::kLimited, "module option", option);
  }
}

void append_registers(std::string& text, const GpuLook& look, bool daemon_answers, bool is_root) {
  const os::RegisterFindings& findings = look.registers;
  std::string_view last_reason;
  for (const os::RegisterFinding& source : findings.sources) {
    if (source.state == SourceState::kWorks) {
      append_row(text, Mark::kOk, source.source,
                 fmt::format("{} ({} a sample)", fmt::join(source.registers, ", "),
                             duration_text(source.cost_ns.value_or(0))));
      continue;
    }
    const SplitMessage message = split_advice(source.reason);
    const bool again = source.reason == last_reason;
    append_row(text, mark_of(source.state), source.source, again ? "the same" : message.reason);
    append_detail(text, "fix", again ? "" : message.fix);
    last_reason = source.reason;
  }
  if (findings.missing.empty() || !look.map.has_value()) {
    return;
  }
  append_row(text, Mark::kLimited, "not readable here",
             fmt::format("{}", fmt::join(findings.missing, ", ")));
  append_detail(text, "fix",
                daemon_answers ? "none needed: a recording goes through gputraced, which is root"
                : !is_root     ? "start gputraced, which reads them for you, or use sudo"
                               : "see the reasons above");
  append_detail(text, "costs", "busy bits of " + units_of(*look.map, findings.missing));
}

Json registers_to_json(const os::RegisterFindings& findings) {
  Json list = Json::array();
  for (const os::RegisterFinding& source : findings.sources) {
    const bool works = source.state == SourceState::kWorks;
    const SplitMessage message = split_advice(source.reason);
    const int error_number = works ? 0 : errno_of(message.reason);
    list.push_back({{"source", source.source},
                    {"state", word_of(mark_of(source.state))},
                    {"errno", error_number != 0 ? Json(error_number) : Json(nullptr)},
                    {"reason", text_or_null(message.reason)},
                    {"fix", text_or_null(message.fix)},
                    {"registers", source.registers},
                    {"cost_ns", source.cost_ns ? Json(*source.cost_ns) : Json(nullptr)}});
  }
  return list;
}

Json power_to_json(const os::PowerFindings& power) {
  return {{"may_suspend", power.may_suspend},
          {"autosuspend_ms", power.autosuspend_ms ? Json(*power.autosuspend_ms) : Json(nullptr)},
          {"gfxoff_allowed", power.gfxoff_allowed ? Json(*power.gfxoff_allowed) : Json(nullptr)},
          {"gfxoff_status", power.gfxoff_status ? Json(*power.gfxoff_status) : Json(nullptr)},
          {"gfxoff_status_unknown", text_or_null(power.gfxoff_status_unknown)},
          {"module_options", power.options}};
}

}  // namespace

Section gpu_section(const Surroundings& world, std::size_t index, const os::GpuDevice& gpu,
                    bool daemon_answers) {
  const GpuLook look = look_at(world, gpu);
  Section section;
  judge(look, daemon_answers, section);
  append_identity(section.text, index, look);
  append_power(section.text, look);
  append_registers(section.text, look, daemon_answers, world.is_root);
  append_sources(section.text, look.sensors);

  const os::GpuDevice& device = look.registers.device;
  const auto& gc = device.identity.gc;
  const Json json = {{"index", index},
                     {"name", device.identity.name},
                     {"pci", text_or_null(device.identity.pci)},
                     {"card", device.card},
                     {"render_node", text_or_null(device.render_node.string())},
                     {"driver", text_or_null(device.identity.driver)},
                     {"gc", gc ? Json(regdb::to_string(*gc)) : Json(nullptr)},
                     {"table", look.map ? Json(look.map->table) : Json(nullptr)},
                     {"unsupported", text_or_null(look.unsupported)},
                     {"runtime_status", text_or_null(device.runtime_status)},
                     {"can_record", section.can_record},
                     {"why_not", text_or_null(section.why_not)},
                     {"power", power_to_json(look.power)},
                     {"registers", registers_to_json(look.registers)},
                     {"missing_registers", look.registers.missing},
                     {"sensors", Json::parse(sources_to_json(look.sensors))}};
  section.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return section;
}

}  // namespace gputrace::commands
