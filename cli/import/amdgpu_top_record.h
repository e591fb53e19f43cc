// One object of `amdgpu_top --json`, as plain data. What is null or missing there is absent here:
// the keys differ between versions of amdgpu_top, chips and drivers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/import/amdgpu_top_units.h"
#include "cli/import/bad_lines.h"

namespace gputrace::import {

struct AmdgpuTopValue {
  std::string name;
  std::optional<double> value;
  std::string unit;  ///< empty when the file does not say
};

struct AmdgpuTopSection {
  std::string name;  ///< "GRBM", "Sensors", ...
  std::vector<AmdgpuTopValue> values;
};

/// Raw values of the firmware's table, by the names of the kernel's struct.
struct AmdgpuTopMetrics {
  std::uint8_t format = 0;
  std::uint8_t content = 0;
  struct Field {
    std::string name;
    std::vector<std::optional<double>> elements;
  };
  std::vector<Field> fields;
};

struct AmdgpuTopProcess {
  std::int64_t pid = 0;
  std::string name;
  std::vector<AmdgpuTopValue> usage;
};

struct AmdgpuTopDevice {
  std::string name;
  std::string pci;  ///< empty when the file does not say
  std::optional<std::uint16_t> device_id;
  std::optional<std::uint8_t> revision_id;
  std::string type;        ///< "APU", "dGPU"
  std::string family;      ///< "GC 10.3.6", of older cards a name
  std::string chip_class;  ///< "GFX10_3"
  std::vector<AmdgpuTopSection> sections;
  std::optional<AmdgpuTopMetrics> metrics;
  std::vector<AmdgpuTopProcess> processes;

  [[nodiscard]] const AmdgpuTopSection* find(std::string_view section) const;
};

struct AmdgpuTopRecord {
  std::optional<std::int64_t> realtime_ns;  ///< when its window began; versions from 0.11.5 on
  std::optional<std::int64_t> period_ns;    ///< since amdgpu_top began
  std::optional<AmdgpuTopVersion> version;
  std::vector<AmdgpuTopDevice> devices;
};

/// What it returns is wrong with the text; its column counts bytes of the text from 1.
[[nodiscard]] std::optional<BadCell> parse_amdgpu_top_record(std::string_view text,
                                                             AmdgpuTopRecord& out);

}  // namespace gputrace::import
