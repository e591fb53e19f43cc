#include "cli/import/amdgpu_top_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/import/text.h"

namespace gputrace::import {

namespace {

std::string in_words(const AmdgpuTopDevice& device, std::size_t index) {
  const std::string name = printable(device.name.empty() ? "AMD GPU" : device.name);
  return fmt::format("{} ({})", device.pci.empty() ? std::to_string(index) : printable(device.pci),
                     name);
}

/// A version whose table has the bits of the class. Which chip it is decides no bit that amdgpu_top
/// shows.
struct ChipClass {
  std::string_view name;
  regdb::GcVersion gc;
};
constexpr std::array<ChipClass, 9> kClasses{{
    {"GFX6", {6, 0, 0}},
    {"GFX7", {7, 2, 0}},
    {"GFX8", {8, 0, 0}},
    {"GFX9", {9, 0, 1}},
    {"GFX10", {10, 1, 0}},
    {"GFX10_3", {10, 3, 0}},
    {"GFX11", {11, 0, 0}},
    {"GFX11_5", {11, 5, 0}},
    {"GFX12", {12, 0, 0}},
}};

std::optional<regdb::GcVersion> stated_gc(const AmdgpuTopDevice& device) {
  constexpr std::string_view kPrefix = "GC ";
  if (!device.family.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const Result<regdb::GcVersion> gc =
      regdb::parse_gc_version(std::string_view(device.family).substr(kPrefix.size()));
  return gc ? std::optional(*gc) : std::nullopt;
}

}  // namespace

const AmdgpuTopDevice* AmdgpuTopChoice::find_in(const AmdgpuTopRecord& record) const {
  if (pci.empty()) {
    return index < record.devices.size() ? &record.devices[index] : nullptr;
  }
  const auto found = std::find_if(record.devices.begin(), record.devices.end(),
                                  [this](const auto& device) { return device.pci == pci; });
  return found == record.devices.end() ? nullptr : &*found;
}

Result<AmdgpuTopChoice> choose_amdgpu_top_device(const AmdgpuTopRecord& record,
                                                 const std::optional<std::string>& wanted) {
  const std::vector<AmdgpuTopDevice>& devices = record.devices;
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool fits = wanted ? *wanted == devices[i].pci || *wanted == std::to_string(i)
                             : devices[i].type == "dGPU";
    if (fits && !chosen) {
      chosen = i;
    }
  }
  std::vector<std::string> all;
  all.reserve(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    all.push_back(in_words(devices[i], i));
  }
  if (!chosen && wanted) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the file has no GPU {} (--gpu); it has {}", excerpt(*wanted),
                            devices.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "))));
  }
  if (devices.empty()) {
    return fail(ErrorCode::kCorrupt, "the file has no GPU: devices is empty");
  }
  AmdgpuTopChoice choice;
  choice.index = chosen.value_or(0);
  choice.pci = devices[choice.index].pci;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(choice.index));
  choice.others = std::move(all);
  return choice;
}

Result<AmdgpuTopTable> find_amdgpu_top_table(const AmdgpuTopDevice& device,
                                             const regdb::RegisterDatabase& regdb,
                                             const std::optional<regdb::GcVersion>& gc) {
  const std::optional<regdb::GcVersion> stated = stated_gc(device);
  if (stated && gc && *stated != *gc) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the file says GC {}, but --gc says {}; leave --gc out",
                            regdb::to_string(*stated), regdb::to_string(*gc)));
  }
  AmdgpuTopTable table;
  table.gc = stated ? stated : gc;
  const auto* known = std::find_if(kClasses.begin(), kClasses.end(), [&device](const auto& one) {
    return one.name == device.chip_class;
  });
  if (!table.gc && known == kClasses.end()) {
    table.problem = "the file does not say which GC version it is; --gc does";
    return table;
  }
  table.table_gc = table.gc ? *table.gc : known->gc;
  Result<regdb::RegisterMap> map = regdb.map_for(table.table_gc);
  if (!map) {
    table.problem = map.error().message;
    return table;
  }
  table.map = std::move(*map);
  return table;
}

}  // namespace gputrace::import
