#include "cli/commands/record/drm_fdinfo.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "daemon/ipc/message.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kEnginePrefix = "drm-engine-";
/// Counts travel as JSON integers below 2^63.
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

/// Memory of one region. What lies there counts, not what was asked for: drm-memory is an older
/// name of drm-resident, and a driver that does not tell them apart has drm-total alone.
struct Region {
  std::optional<std::uint64_t> resident;
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> total;

  [[nodiscard]] std::optional<std::uint64_t> bytes() const {
    return resident ? resident : memory ? memory : total;
  }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= ipc::kMaxClientNameBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// "8192" and what follows.
std::optional<std::pair<std::uint64_t, std::string_view>> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > kMaxCount) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(static_cast<std::size_t>(stop - text.data()));
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') {
    return std::nullopt;  // "1.5", "12abc"
  }
  return std::pair(value, trimmed(rest));
}

/// "2068 KiB", "8 MiB" or "4096" (bytes).
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
      {{"", 1}, {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}}};
  const auto number = leading_number(text);
  if (!number) {
    return std::nullopt;
  }
  const auto [value, unit] = *number;
  for (const auto& [name, bytes] : kUnits) {
    if (unit == name) {
      return value <= kMaxCount / bytes ? std::optional(value * bytes) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_ns(std::string_view text) {
  const auto number = leading_number(text);
  return number && number->second == "ns" ? std::optional(number->first) : std::nullopt;
}

void take_engine(std::string_view name, std::string_view value,
                 std::map<std::string, std::uint64_t>& engine_ns) {
  const std::optional<std::uint64_t> busy_ns = parse_ns(value);
  // "drm-engine-capacity-gfx" is no engine: no name of one has a dash.
  if (!busy_ns || !is_name(name)) {
    return;
  }
  const auto known = engine_ns.find(std::string(name));
  if (known == engine_ns.end()) {
    if (engine_ns.size() < ipc::kMaxEngines) {
      engine_ns.emplace(name, *busy_ns);
    }
  } else if (known->second <= kMaxCount - *busy_ns) {
    known->second += *busy_ns;  // UVD and VCN are both "dec"
  }
}

void take_region(std::string_view kind, std::string_view value, Region& region) {
  if (kind == "drm-resident-") {
    region.resident = parse_bytes(value);
  } else if (kind == "drm-memory-") {
    region.memory = parse_bytes(value);
  } else if (kind == "drm-total-") {
    region.total = parse_bytes(value);
  }
}

}  // namespace

std::optional<DrmFdinfo> parse_drm_fdinfo(std::string_view text) {
  DrmFdinfo info;
  Region vram;
  Region gtt;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with("drm-")) {
      continue;  // of every file, or of amdgpu alone ("amd-evicted-vram")
    }
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "drm-driver" && is_name(value)) {
      info.driver = value;
    } else if (key == "drm-pdev" && ipc::is_pci_address(value)) {
      info.pdev = value;
    } else if (key == "drm-client-id") {
      const auto number = leading_number(value);
      info.client_id =
          number && number->second.empty() ? std::optional(number->first) : std::nullopt;
    } else if (key.starts_with(kEnginePrefix)) {
      take_engine(key.substr(kEnginePrefix.size()), value, info.engine_ns);
    } else if (key.ends_with("-vram")) {
      take_region(key.substr(0, key.size() - 4), value, vram);
    } else if (key.ends_with("-gtt")) {
      take_region(key.substr(0, key.size() - 3), value, gtt);
    }
  }
  if (info.driver.empty()) {
    return std::nullopt;
  }
  info.vram_bytes = vram.bytes();
  info.gtt_bytes = gtt.bytes();
  return info;
}

}  // namespace gputrace::commands
