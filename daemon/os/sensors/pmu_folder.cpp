#include "daemon/os/sensors/pmu_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

constexpr int kMaxCpus = 8192;  // CONFIG_NR_CPUS at most (arch/x86/Kconfig)

struct BitRange {
  unsigned first = 0;
  unsigned last = 0;  // included
};

/// "a-b" or "a".
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text,
                                                                   std::uint64_t max) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), max);
  const auto last =
      dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1), max);
  if (!first || !last || *last < *first) {
    return std::nullopt;
  }
  return std::pair(*first, *last);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

struct PmuFormat {
  std::uint64_t PerfEvent::* field = nullptr;
  std::vector<BitRange> ranges;  // the value's bits go in here, lowest first
};

/// "config:0-7,32-35,59-60".
std::optional<PmuFormat> parse_format(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  PmuFormat format;
  const std::string_view field = text.substr(0, colon);
  if (field == "config") {
    format.field = &PerfEvent::config;
  } else if (field == "config1") {
    format.field = &PerfEvent::config1;
  } else if (field == "config2") {
    format.field = &PerfEvent::config2;
  } else {
    return std::nullopt;
  }
  for (const std::string_view part : split(text.substr(colon + 1), ',')) {
    const auto range = parse_range(part, 63);
    if (!range) {
      return std::nullopt;
    }
    format.ranges.push_back(
        {static_cast<unsigned>(range->first), static_cast<unsigned>(range->second)});
  }
  return format;
}

Status put_term(const PmuFolder& pmu, const PmuTerm& term, PerfEvent& event) {
  const std::filesystem::path file = pmu.folder / "format" / term.name;
  const auto text = read_text(file);
  const auto format = text ? parse_format(*text) : std::nullopt;
  if (!format) {
    return fail(ErrorCode::kUnsupported, fmt::format("{} does not say where '{}' of an event goes",
                                                     file.string(), term.name));
  }
  std::uint64_t rest = term.value;
  for (const BitRange& range : format->ranges) {
    const unsigned width = range.last - range.first + 1;
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    event.*(format->field) |= (rest & mask) << range.first;
    rest = width == 64 ? 0 : rest >> width;
  }
  if (rest != 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has no room for {} {:#x}; this kernel does not know the event",
                            file.string(), term.name, term.value));
  }
  return {};
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view part : split(text, ',')) {
    const auto range = parse_range(part, kMaxCpus - 1);
    if (!range) {
      return std::nullopt;
    }
    for (std::uint64_t cpu = range->first; cpu <= range->second; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

std::vector<std::string> numbered_pmus(const SystemRoots& roots, std::string_view prefix) {
  std::vector<std::pair<unsigned, std::string>> found;
  for (std::string& name : list_folder(roots.sys / "bus/event_source/devices")) {
    if (const auto number = number_after(name, prefix)) {
      found.emplace_back(*number, std::move(name));
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (auto& [number, name] : found) {
    names.push_back(std::move(name));
  }
  return names;
}

Result<PmuFolder> open_pmu_folder(const SystemRoots& roots, std::string_view name) {
  PmuFolder pmu{std::string(name), roots.sys / "bus/event_source/devices" / name, 0, {}};
  std::error_code ignored;
  if (!std::filesystem::exists(pmu.folder, ignored)) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no {}", pmu.folder.string()));
  }
  const auto type = read_number(pmu.folder / "type", std::numeric_limits<std::uint32_t>::max());
  if (!type) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} holds no number", (pmu.folder / "type").string()));
  }
  pmu.type = static_cast<std::uint32_t>(*type);
  const auto cpumask = read_text(pmu.folder / "cpumask");
  auto cpus = cpumask ? parse_cpu_list(*cpumask) : std::nullopt;
  if (!cpus) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} does not say on which CPUs the PMU counts",
                                                 (pmu.folder / "cpumask").string()));
  }
  pmu.cpus = std::move(*cpus);
  return pmu;
}

Result<PerfEvent> encode(const PmuFolder& pmu, std::span<const PmuTerm> terms) {
  PerfEvent event;
  event.type = pmu.type;
  for (const PmuTerm& term : terms) {
    if (const Status status = put_term(pmu, term, event); !status) {
      return tl::unexpected(status.error());
    }
  }
  return event;
}

Result<NamedPmuEvent> named_event(const PmuFolder& pmu, std::string_view name) {
  const std::filesystem::path file = pmu.folder / "events" / name;
  const auto text = read_text(file);
  if (!text) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no {}", file.string()));
  }
  std::vector<PmuTerm> terms;
  for (const std::string_view part : split(*text, ',')) {
    const std::size_t equals = part.find('=');
    // A term without a value means 1 (Documentation/ABI/testing/sysfs-bus-event_source-devices-
    // events).
    const auto value =
        equals == std::string_view::npos
            ? std::optional<std::uint64_t>(1)
            : parse_number(part.substr(equals + 1), std::numeric_limits<std::uint64_t>::max());
    if (!value) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{} holds '{}', which is no event", file.string(), *text));
    }
    terms.push_back({part.substr(0, equals), *value});
  }
  Result<PerfEvent> event = encode(pmu, terms);
  if (!event) {
    return tl::unexpected(event.error());
  }
  NamedPmuEvent named;
  named.event = *event;
  named.unit = read_text(file.string() + ".unit").value_or("");
  if (const auto scale = read_text(file.string() + ".scale")) {
    const auto [end, error] =
        std::from_chars(scale->data(), scale->data() + scale->size(), named.scale);
    if (error != std::errc() || end != scale->data() + scale->size() || !(named.scale > 0)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}.scale holds '{}', which is no number", file.string(), *scale));
    }
  }
  return named;
}

}  // namespace gputrace::os
