#include "cli/commands/report/grid_units.h"

#include <algorithm>
#include <set>

namespace gputrace::commands {
namespace {

bool is_unit(const regdb::RegisterField& field) {
  return field.kind == regdb::FieldKind::kBusy && field.width == 1;
}

/// The units of all segments: `visit(register name, field)`, each register once.
template <class Visit>
void for_each_unit(const GpuRecording& recording, const Visit& visit) {
  std::set<std::string> seen;
  for (const store::StoredSegment* segment : recording.segments) {
    for (const sampler::OfferedRegister& offered : segment->description.registers) {
      const regdb::Register* reg = recording.map.find(offered.name);
      if (reg == nullptr || !seen.insert(offered.name).second) {
        continue;
      }
      for (const regdb::RegisterField& field : reg->fields) {
        if (is_unit(field)) {
          visit(offered.name, field);
        }
      }
    }
  }
}

std::vector<analysis::UnitKey> choose_units(const GpuRecording& recording) {
  std::vector<analysis::UnitKey> units;
  std::vector<analysis::UnitKey> of_engines;
  std::set<std::string> whole_gpu;
  for_each_unit(recording, [&](const std::string& name, const regdb::RegisterField& field) {
    if (shader_engine_of(name)) {
      of_engines.push_back({name, field.name});
    } else {
      units.push_back({name, field.name});
      whole_gpu.insert(field.name);
    }
  });
  for (analysis::UnitKey& unit : of_engines) {
    if (!whole_gpu.contains(unit.name)) {
      units.push_back(std::move(unit));
    }
  }
  units.resize(std::min(units.size(), analysis::kMaxGridUnits));
  return units;
}

}  // namespace

GridLayout grid_layout(const GpuRecording& recording) {
  GridLayout layout{choose_units(recording), {}};
  for (const store::StoredSegment* segment : recording.segments) {
    SegmentLayout bits{segment, {}};
    for (std::size_t r = 0; r < segment->description.registers.size(); ++r) {
      const std::string& name = segment->description.registers[r].name;
      const regdb::Register* reg = recording.map.find(name);
      for (std::size_t u = 0; reg != nullptr && u < layout.units.size(); ++u) {
        const regdb::RegisterField* field =
            layout.units[u].register_name == name ? reg->find_field(layout.units[u].name) : nullptr;
        if (field != nullptr) {
          bits.bits.push_back({{r, field->shift}, u});
        }
      }
    }
    layout.segments.push_back(std::move(bits));
  }
  return layout;
}

}  // namespace gputrace::commands
