#include "cli/import/radeontop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/import/bad_lines.h"
#include "cli/import/radeontop_dump.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

constexpr std::string_view kTable = "radeontop";
constexpr std::uint32_t kDefaultTicks = 120;  // radeontop.c, option -t

/// How often radeontop wrote a line.
struct Interval {
  std::int64_t usual_ns = kNsPerSecond;  ///< median distance of lines, or the default of -i
  std::uint32_t seconds = 1;             ///< what -i must have been: whole seconds
};

Interval find_interval(std::span<const std::int64_t> times_ns) {
  if (times_ns.size() < 2) {
    return {};
  }
  std::vector<std::int64_t> gaps;
  gaps.reserve(times_ns.size() - 1);
  for (std::size_t i = 1; i < times_ns.size(); ++i) {
    gaps.push_back(times_ns[i] - times_ns[i - 1]);
  }
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  const std::int64_t seconds =
      std::clamp<std::int64_t>((*middle + kNsPerSecond / 2) / kNsPerSecond, 1, 86'400);
  return {*middle, static_cast<std::uint32_t>(seconds)};
}

/// Where the percentages of a column go.
struct Target {
  std::size_t column = 0;
  std::size_t register_index = 0;
  std::uint8_t bit = 0;
};

struct Mapping {
  regdb::RegisterMap map;
  std::vector<sampler::OfferedRegister> registers;
  std::vector<Target> targets;
  std::vector<std::string> left_out;  ///< columns without a target, and why
};

std::size_t index_of(const regdb::Register& reg, Mapping& mapping) {
  const auto found = std::find_if(mapping.registers.begin(), mapping.registers.end(),
                                  [&reg](const auto& other) { return other.name == reg.name; });
  if (found == mapping.registers.end()) {
    mapping.registers.push_back({reg.name, reg.dword_offset, "import"});
    return mapping.registers.size() - 1;
  }
  return static_cast<std::size_t>(found - mapping.registers.begin());
}

/// Adds a target when the map has the field.
bool add_target(std::size_t column, std::string_view register_name, std::string_view field_name,
                Mapping& mapping) {
  const regdb::Register* const reg = mapping.map.find(register_name);
  const regdb::RegisterField* const field = reg == nullptr ? nullptr : reg->find_field(field_name);
  if (field == nullptr) {
    return false;
  }
  mapping.targets.push_back({column, index_of(*reg, mapping), field->shift});
  return true;
}

/// The columns under their own names: radeontop has one table of R600 bits for all chips.
Result<Mapping> map_to_own_names(const RadeontopDump& dump, const regdb::RegisterDatabase& regdb) {
  Result<regdb::RegisterMap> map = regdb.map_for_table(kTable);
  if (!map) {
    return tl::unexpected(map.error());
  }
  Mapping mapping;
  mapping.map = std::move(*map);
  for (std::size_t column = 0; column < dump.columns.size(); ++column) {
    if (!add_target(column, kTable, dump.columns[column], mapping)) {
      mapping.left_out.push_back(printable(dump.columns[column]) + " (an unknown column)");
    }
  }
  return mapping;
}

/// The columns whose bits mean the same on `gc`, as that version's fields.
Result<Mapping> map_to_gc(const RadeontopDump& dump, const regdb::RegisterDatabase& regdb,
                          regdb::GcVersion gc) {
  Result<regdb::RegisterMap> map = regdb.map_for(gc);
  if (!map) {
    return tl::unexpected(map.error());
  }
  const auto matches = regdb.match_radeontop_columns(gc, dump.columns);
  if (!matches) {
    return tl::unexpected(matches.error());
  }
  Mapping mapping;
  mapping.map = std::move(*map);
  for (std::size_t column = 0; column < matches->size(); ++column) {
    const auto& match = (*matches)[column];
    if (!add_target(column, match.register_name, match.field, mapping)) {
      mapping.left_out.push_back(
          match.reason.empty() ? printable(match.column)
                               : fmt::format("{} ({})", printable(match.column), match.reason));
    }
  }
  if (mapping.targets.empty()) {
    return fail(ErrorCode::kUnsupported, "no column of this dump means the same on GC " +
                                             regdb::to_string(gc) + "; leave --gc out");
  }
  return mapping;
}

/// radeontop collects ticks * interval samples for a line (ticks.c). What it was run with is not in
/// the file: --ticks says so, or the percentages give the default away.
std::optional<std::uint32_t> find_ticks(const RadeontopDump& dump, const Interval& interval,
                                        const ImportOptions& options, ImportSummary& summary) {
  const std::uint32_t ticks = options.ticks.value_or(kDefaultTicks);
  const std::uint32_t n = ticks * interval.seconds;
  if (!options.ticks) {
    if (shows_sample_count(dump.percentages, n)) {
      return ticks;
    }
    summary.notes.emplace_back(
        "samples behind each percentage: unknown; the percentages do not show radeontop's tick "
        "rate (--ticks says it)");
    return std::nullopt;
  }
  if (!fits_sample_count(dump.percentages, n)) {
    summary.warnings.push_back(
        fmt::format("the percentages cannot come from {} ticks a second (--ticks) over {} s; the "
                    "number of samples is left open",
                    ticks, interval.seconds));
    return std::nullopt;
  }
  return ticks;
}

Status write_means(const RadeontopDump& dump, const Mapping& mapping, const Interval& interval,
                   std::optional<std::uint32_t> samples, SessionSink& sink) {
  constexpr std::size_t kBatch = 4096;
  std::vector<store::WindowMean> means;
  means.reserve(kBatch + mapping.targets.size());
  for (std::size_t i = 0; i < dump.times_ns.size(); ++i) {
    const std::int64_t end_ns = dump.times_ns[i];
    const bool follows = i > 0 && (end_ns - dump.times_ns[i - 1]) * 2 <= interval.usual_ns * 3;
    const std::int64_t start_ns = follows ? dump.times_ns[i - 1] : end_ns - interval.usual_ns;
    for (const Target& target : mapping.targets) {
      means.push_back({.register_index = target.register_index,
                       .bit = target.bit,
                       .start_ns = start_ns,
                       .end_ns = end_ns,
                       .busy = dump.line(i)[target.column] / 100,
                       .samples = samples});
    }
    if (means.size() >= kBatch || i + 1 == dump.times_ns.size()) {
      if (const Status written = sink.add_window_means(means); !written) {
        return written;
      }
      means.clear();
    }
  }
  return {};
}

store::SegmentDescription describe_segment(const RadeontopDump& dump, const Mapping& mapping,
                                           std::optional<std::uint32_t> ticks) {
  store::SegmentDescription segment;
  segment.gpu.name = dump.bus ? fmt::format("AMD GPU on PCI bus {:02x}", *dump.bus) : "AMD GPU";
  segment.gpu.gc = mapping.map.gc;
  if (ticks) {
    segment.rate_hz = *ticks;
  }
  segment.regdb_table = mapping.map.table;
  segment.registers = mapping.registers;
  segment.reason = "start";
  return segment;
}

}  // namespace

bool fits_sample_count(std::span<const double> percentages, std::uint32_t n) {
  // Half of the last decimal, and radeontop's single-precision arithmetic.
  constexpr double kTolerance = 0.0051;
  return std::all_of(percentages.begin(), percentages.end(), [n](double percent) {
    const double k = std::round(percent * n / 100);
    return std::abs(k * 100 / n - percent) <= kTolerance;
  });
}

bool shows_sample_count(std::span<const double> percentages, std::uint32_t n) {
  if (!fits_sample_count(percentages, n)) {
    return false;
  }
  std::uint32_t rest = n;
  for (std::uint32_t prime = 2; rest > 1; ++prime) {
    if (rest % prime != 0) {
      continue;
    }
    if (fits_sample_count(percentages, n / prime)) {
      return false;
    }
    while (rest % prime == 0) {
      rest /= prime;
    }
  }
  return true;
}

Result<ImportSummary> import_radeontop(LineReader& input, const regdb::RegisterDatabase& regdb,
                                       const ImportOptions& options, SessionSink& sink) {
  BadLines bad_lines(input.name(), options.lenient);
  const Result<RadeontopDump> dump = read_radeontop_dump(input, bad_lines);
  if (!dump) {
    return tl::unexpected(dump.error());
  }
  ImportSummary summary;
  summary.format = Format::kRadeontop;
  summary.rows = dump->times_ns.size();
  summary.bad_lines = bad_lines.count();
  summary.bad_line_examples = bad_lines.examples();
  if (summary.rows == 0) {
    return summary;
  }
  const Result<Mapping> mapping =
      options.gc ? map_to_gc(*dump, regdb, *options.gc) : map_to_own_names(*dump, regdb);
  if (!mapping) {
    return tl::unexpected(mapping.error());
  }
  const Interval interval = find_interval(dump->times_ns);
  const std::optional<std::uint32_t> ticks = find_ticks(*dump, interval, options, summary);

  summary.gc = options.gc;
  summary.start_ns = dump->times_ns.front() - interval.usual_ns;
  summary.end_ns = dump->times_ns.back();
  summary.values = summary.rows * mapping->targets.size();
  for (const sampler::OfferedRegister& reg : mapping->registers) {
    summary.registers.push_back(reg.name);
  }
  if (!mapping->left_out.empty()) {
    summary.warnings.push_back(fmt::format(
        "columns left out{}: {}",
        options.gc ? " (they mean something else on GC " + regdb::to_string(*options.gc) + ")" : "",
        fmt::join(mapping->left_out, ", ")));
  }
  if (!dump->quantities.empty()) {
    summary.notes.push_back(fmt::format("columns that are not busy bits, not imported: {}",
                                        fmt::join(dump->quantities, ", ")));
  }

  store::SessionDescription session;
  session.kind = store::SessionKind::kImport;
  session.origin = "radeontop dump " + input.name();
  session.started = TimeAnchor{summary.start_ns, summary.start_ns, summary.start_ns};
  store::SegmentDescription segment = describe_segment(*dump, *mapping, ticks);
  segment.start_ns = summary.start_ns;
  segment.regdb_revision = regdb.revision();
  if (const Status begun = sink.begin(session, segment); !begun) {
    return tl::unexpected(begun.error());
  }
  std::optional<std::uint32_t> samples;
  if (ticks) {
    samples = *ticks * interval.seconds;
  }
  if (const Status written = write_means(*dump, *mapping, interval, samples, sink); !written) {
    return tl::unexpected(written.error());
  }
  return summary;
}

}  // namespace gputrace::import
