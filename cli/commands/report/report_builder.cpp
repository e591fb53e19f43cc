#include "cli/commands/report/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/commands/report/report_evidence.h"
#include "cli/commands/report/report_phases.h"
#include "cli/commands/report/report_sampling.h"
#include "cli/commands/report/report_units.h"
#include "cli/commands/report/report_warnings.h"
#include "cli/report/text_format.h"

namespace gputrace::commands {
namespace {

using store::StoredSegment;

/// What a person types after reading a rounded length is still inside the session.
constexpr double kEndTolerance = 0.05;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / 1e9;
}

/// When the session was, on the recording's own clock.
struct Extent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool known = false;
};

Extent extent_of(const store::SessionReader& session) {
  const std::optional<store::TimeSpan> span = session.span();
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  if (span) {
    start_ns = span->start_ns;
    end_ns = span->end_ns;
  }
  if (const auto& started = session.description().started) {
    start_ns = started->monotonic_ns;
  }
  if (const auto& end = session.end()) {
    end_ns = end->end_ns;
  }
  if (!start_ns || !end_ns) {
    return {};
  }
  return {*start_ns, std::max(*start_ns, *end_ns), true};
}

Result<std::optional<report::Selection>> select_span(const Extent& extent,
                                                     const ReportOptions& options) {
  if (!options.from_s && !options.to_s) {
    return std::nullopt;
  }
  if (!extent.known) {
    return fail(ErrorCode::kInvalidArgument,
                "--from and --to select from a session, but this one holds nothing");
  }
  const double length = seconds_between(extent.start_ns, extent.end_ns);
  const auto outside = [length](std::string_view option, double value) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} {} is not inside the session, which is {} long", option,
                            report::format_duration(value), report::format_duration(length)));
  };
  report::Selection selection{options.from_s.value_or(0), options.to_s.value_or(length)};
  if (options.from_s && selection.from_s >= length) {
    return outside("--from", selection.from_s);
  }
  const double tolerance = length < 60 ? kEndTolerance : 0.5;  // as format_duration rounds
  if (options.to_s && selection.to_s > length + tolerance) {
    return outside("--to", selection.to_s);
  }
  if (selection.from_s >= selection.to_s) {
    return fail(ErrorCode::kUsage, options.from_s ? "--from must be before --to"
                                                  : "--to must be after the session's start");
  }
  selection.to_s = std::min(selection.to_s, length);
  return selection;
}

report::Session session_of(const store::SessionReader& session, const std::filesystem::path& file,
                           const Extent& extent) {
  const store::SessionDescription& description = session.description();
  report::Session out;
  out.file = file.string();
  out.label = description.label;
  out.command = description.command;
  if (const auto& end = session.end()) {
    out.exit_code = end->exit_code;
    out.signal = end->signal;
  }
  if (description.started) {
    out.started_at = format_rfc3339_utc(description.started->realtime_ns);
  }
  if (extent.known) {
    out.duration_s = seconds_between(extent.start_ns, extent.end_ns);
  }
  out.cut = !session.end().has_value();
  out.imported = description.kind == store::SessionKind::kImport;
  out.origin = description.origin;
  return out;
}

report::Gpu gpu_of(const sampler::GpuIdentity& identity) {
  report::Gpu gpu;
  gpu.name = identity.name;
  if (identity.gc) {
    gpu.gc = regdb::to_string(*identity.gc);
  }
  if (!identity.pci.empty()) {
    gpu.pci = identity.pci;
  }
  gpu.simulated = identity.simulated;
  gpu.scenario = identity.scenario;
  return gpu;
}

bool same_gpu(const StoredSegment& a, const StoredSegment& b) {
  const sampler::GpuIdentity& left = a.description.gpu;
  const sampler::GpuIdentity& right = b.description.gpu;
  return left.pci == right.pci && left.name == right.name && left.gc == right.gc &&
         left.simulated == right.simulated && left.scenario == right.scenario &&
         a.description.regdb_table == b.description.regdb_table;
}

/// How much of a segment lies in what is shown.
std::int64_t overlap_ns(const StoredSegment& segment, const Timeline& timeline) {
  const std::int64_t start = std::max(segment.description.start_ns, timeline.start_ns);
  const std::int64_t end = std::min(segment.end_ns, timeline.end_ns);
  return std::max<std::int64_t>(0, end - start);
}

const StoredSegment* main_segment(const std::vector<StoredSegment>& segments,
                                  const Timeline& timeline) {
  const auto it = std::max_element(segments.begin(), segments.end(),
                                   [&timeline](const StoredSegment& a, const StoredSegment& b) {
                                     return overlap_ns(a, timeline) < overlap_ns(b, timeline);
                                   });
  return it == segments.end() ? nullptr : &*it;
}

std::vector<report::Segment> segments_of(const std::vector<StoredSegment>& segments,
                                         const StoredSegment& main, const Extent& extent) {
  std::vector<report::Segment> out;
  for (const StoredSegment& segment : segments) {
    report::Segment row;
    row.start_s = seconds_between(extent.start_ns, segment.description.start_ns);
    row.end_s = seconds_between(extent.start_ns, segment.end_ns);
    row.gpu = segment.description.gpu.name;
    row.rate_hz = segment.description.rate_hz;
    for (const sampler::OfferedRegister& reg : segment.description.registers) {
      row.registers.push_back(reg.name);
    }
    row.reason = segment.description.reason;
    row.main = segment.id == main.id;
    out.push_back(std::move(row));
  }
  return out;
}

/// n of percentages: of the unit that has most of it; absent when none says.
std::optional<std::uint64_t> most_samples(const std::vector<report::Unit>& units) {
  std::optional<std::uint64_t> most;
  for (const report::Unit& unit : units) {
    most = std::max(most, unit.samples);
  }
  return most;
}

bool has_register(const StoredSegment& segment, std::string_view name) {
  const std::vector<sampler::OfferedRegister>& registers = segment.description.registers;
  return std::any_of(registers.begin(), registers.end(),
                     [name](const sampler::OfferedRegister& reg) { return reg.name == name; });
}

/// A GPU that sleeps when its recording begins does so in a segment of its own. Those in which it
/// slept all the time are left out of `segments` then: they lack no register.
Status add_sleep(const store::SessionReader& session, const Timeline& timeline,
                 std::vector<const StoredSegment*>& segments, report::Sampling& sampling) {
  std::vector<const StoredSegment*> awake;
  double asleep_s = 0;
  double shown_s = 0;
  for (const StoredSegment* segment : segments) {
    const auto states = session.state_counts(*segment, timeline.selection);
    if (!states) {
      return tl::unexpected<Error>(states.error());
    }
    const double seconds = static_cast<double>(overlap_ns(*segment, timeline)) / 1e9;
    const std::optional<double> share = asleep_share_of(*states);
    asleep_s += share.value_or(0) * seconds;
    shown_s += share ? seconds : 0;
    if (share.value_or(0) < 1) {
      awake.push_back(segment);
    }
  }
  if (shown_s > 0) {
    sampling.asleep_s = asleep_s;
    sampling.asleep_share = asleep_s / shown_s;
  }
  segments = std::move(awake);
  return {};
}

/// Busy fractions of a register that some segments lack are about a part of the time.
void explain_partly_read(const std::vector<const StoredSegment*>& segments,
                         report::Report& report) {
  for (const report::Unit& unit : report.units) {
    const std::string& name = unit.register_name;
    if (std::all_of(segments.begin(), segments.end(), [&name](const StoredSegment* segment) {
          return has_register(*segment, name);
        })) {
      continue;
    }
    std::vector<report::UnknownRegister>& unknown = report.unknown_registers;
    auto entry = std::find_if(unknown.begin(), unknown.end(),
                              [&name](const auto& reg) { return reg.name == name; });
    if (entry == unknown.end()) {
      entry = unknown.insert(unknown.end(), report::UnknownRegister{name, {}, {}});
    }
    entry->reason = "read in some segments only; its busy fractions are of those";
    entry->units.clear();
  }
}

struct AddedGpu {
  GpuRecording recording;         ///< without segments when nobody knows its bits
  bool has_window_means = false;  ///< among what was added
};

/// Fills in all that one GPU's segments say.
Result<AddedGpu> add_gpu(const store::SessionReader& session, const regdb::RegisterDatabase& regdb,
                         const Timeline& timeline, const StoredSegment& main,
                         report::Report& report) {
  report.gpu = gpu_of(main.description.gpu);
  const auto states = session.state_counts(main, timeline.selection);
  if (!states) {
    return tl::unexpected<Error>(states.error());
  }
  const bool imported = report.session.imported;
  report.sampling =
      sampling_of(main, *states, static_cast<double>(overlap_ns(main, timeline)) / 1e9, imported);
  const Result<regdb::RegisterMap> map = regdb.map_for_table(main.description.regdb_table);
  if (!map) {
    report.warnings.push_back(
        {"unknown_table", fmt::format("the bits cannot be named: {}", map.error().message),
         "the words are in the file; report it with a newer gputrace, or with --regdb."});
    return AddedGpu{};
  }
  UnitCollector units(timeline);
  std::vector<const StoredSegment*> shown;
  for (const StoredSegment& segment : session.segments()) {
    if (same_gpu(segment, main) && overlap_ns(segment, timeline) > 0) {
      shown.push_back(&segment);
    }
  }
  GpuRecording recording{&session, shown, *map, timeline, 0};
  recording.counted = count_along(recording);
  if (recording.counted) {
    units.on_counts([&recording](const StoredSegment& segment, std::span<const store::BitRef> refs,
                                 const store::SegmentCounts& counts) {
      add_counted(segment, refs, counts, *recording.counted);
    });
  }
  for (const StoredSegment* segment : shown) {
    if (Status status = units.add(session, *segment, *map); !status) {
      return tl::unexpected<Error>(status.error());
    }
  }
  report.units = units.units();
  if (!report.units.empty()) {
    report.band = units.band();
  }
  if (units.has_window_means() && report.sampling.samples.value_or(0) == 0) {
    report.sampling.samples = most_samples(report.units);
    report.sampling.unknown.reset();
  }
  report.unknown_registers = unknown_registers(*map, main, *states, imported);
  AddedGpu added{std::move(recording), units.has_window_means()};
  if (!imported && shown.size() > 1) {
    if (Status status = add_sleep(session, timeline, shown, report.sampling); !status) {
      return tl::unexpected<Error>(status.error());
    }
  }
  explain_partly_read(shown, report);
  return added;
}

}  // namespace

Result<report::Report> build_report(const store::SessionReader& session,
                                    const std::filesystem::path& file,
                                    const regdb::RegisterDatabase& regdb,
                                    const ReportOptions& options) {
  const Extent extent = extent_of(session);
  const auto selection = select_span(extent, options);
  if (!selection) {
    return tl::unexpected<Error>(selection.error());
  }
  report::Report report;
  report.session = session_of(session, file, extent);
  report.selection = *selection;
  const auto at = [&extent](double seconds) {
    return extent.start_ns + static_cast<std::int64_t>(seconds * 1e9);
  };
  const Timeline timeline =
      report.selection ? make_timeline(at(report.selection->from_s), at(report.selection->to_s),
                                       options.band_columns, true)
                       : make_timeline(extent.start_ns, extent.end_ns, options.band_columns, false);
  AddedGpu added;
  sampler::GpuIdentity gpu;
  if (const StoredSegment* main = main_segment(session.segments(), timeline)) {
    Result<AddedGpu> of_gpu = add_gpu(session, regdb, timeline, *main, report);
    if (!of_gpu) {
      return tl::unexpected<Error>(of_gpu.error());
    }
    added = std::move(*of_gpu);
    added.recording.session_start_ns = extent.start_ns;
    gpu = main->description.gpu;
    if (session.segments().size() > 1) {
      report.segments = segments_of(session.segments(), *main, extent);
    }
  }
  const Result<SensorSet> sensors = SensorSet::load(session, timeline, gpu.pci);
  if (!sensors) {
    return tl::unexpected<Error>(sensors.error());
  }
  if (Status status = add_evidence(session, *sensors, timeline, gpu, extent.start_ns, report);
      !status) {
    return tl::unexpected<Error>(status.error());
  }
  const Result<std::vector<store::Event>> events = session.events();
  if (!events) {
    return tl::unexpected<Error>(events.error());
  }
  std::vector<report::Warning> warnings = report_warnings(report, *events, added.has_window_means);
  if (options.regdb_folder) {
    warnings.push_back({"regdb",
                        fmt::format("names and meanings of the bits come from {}.",
                                    options.regdb_folder->string()),
                        "leave out --regdb for the built-in ones."});
  }
  report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
  if (Status status = add_phases(added.recording, *sensors, options, report); !status) {
    return tl::unexpected<Error>(status.error());
  }
  return report;
}

}  // namespace gputrace::commands
