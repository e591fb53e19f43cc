// A PMU as the kernel describes it in <sys>/bus/event_source/devices/NAME: its number, the CPUs on
// which it counts, and where the parts of an event go in perf_event_attr.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/perf_event.h"

namespace gputrace::os {

struct PmuFolder {
  std::string name;  ///< "amd_umc_0"
  std::filesystem::path folder;
  std::uint32_t type = 0;
  std::vector<int> cpus;  ///< an event opened on each of them counts the whole machine
};

/// "amd_umc_0", "amd_umc_1", ...: `prefix` and a number, in order of the number.
[[nodiscard]] std::vector<std::string> numbered_pmus(const SystemRoots& roots,
                                                     std::string_view prefix);

/// kNotFound when the machine has no such PMU; kCorrupt when its files make no sense.
[[nodiscard]] Result<PmuFolder> open_pmu_folder(const SystemRoots& roots, std::string_view name);

struct PmuTerm {
  std::string_view name;  ///< of a file in format/: "event", "umask"
  std::uint64_t value = 0;
};
/// kUnsupported when a term has no format file or its value does not fit.
[[nodiscard]] Result<PerfEvent> encode(const PmuFolder& pmu, std::span<const PmuTerm> terms);

/// An event that the kernel names itself, in events/: NAME, NAME.scale and NAME.unit.
struct NamedPmuEvent {
  PerfEvent event;
  double scale = 1;
  std::string unit;  ///< "Joules"
};
[[nodiscard]] Result<NamedPmuEvent> named_event(const PmuFolder& pmu, std::string_view name);

/// "0", "0,8", "0-3,8"; absent for anything else.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace gputrace::os
