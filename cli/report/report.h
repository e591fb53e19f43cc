// The whole report as plain data: what the renderers print and nothing that they must look up.
// Absent means not known; a renderer prints null or says so, never 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/analysis/position.h"
#include "cli/analysis/roofline.h"
#include "cli/analysis/statistics.h"
#include "cli/report/evidence.h"
#include "regdb/register_map.h"

namespace gputrace::report {

struct Session {
  std::string file;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<std::string> started_at;  ///< RFC 3339, UTC
  std::optional<double> duration_s;
  bool cut = false;
  bool imported = false;
  std::string origin;  ///< of an import: "radeontop dump trace.txt"
};

/// --from and --to, seconds from the session's start.
struct Selection {
  double from_s = 0;
  double to_s = 0;
};

struct Gpu {
  std::string name;
  std::optional<std::string> gc;
  std::optional<std::string> pci;
  bool simulated = false;
  std::string scenario;
};

struct SampledRegister {
  std::string name;
  std::string source;
  std::optional<double> read_cost_ns;
};

/// samples, unknown, its reasons, asleep_s and asleep_share are about the selection; all else is
/// about the whole segment. Sleep is that of all segments of the GPU. A sample is one tick; unknown
/// is that of the register with most of them.
struct Sampling {
  std::optional<double> rate_hz;
  std::optional<double> achieved_hz;
  std::optional<std::uint64_t> samples;  ///< absent for percentages that do not tell n
  std::optional<std::uint64_t> unknown;  ///< absent for all percentages
  std::map<std::string, std::uint64_t> unknown_reasons;  ///< sums to `unknown`
  std::optional<double> asleep_s;                        ///< absent for imports, which cannot tell
  std::optional<double> asleep_share;                    ///< of the samples
  std::optional<std::uint64_t> ticks;  ///< periods with a read, missed ones beside them
  std::optional<std::uint64_t> missed;
  std::optional<std::uint64_t> dropped;
  std::optional<double> late_p50_us;
  std::optional<double> late_p99_us;
  std::optional<double> cpu_s;
  std::optional<bool> kept_gfx_awake;  ///< by the reads; absent if simulated or imported
  /// Whether the reads kept a GPU that suspends from doing so; absent where nothing tells.
  std::optional<bool> kept_device_awake = std::nullopt;
  std::vector<SampledRegister> registers;
};

/// 0 to 1; 0 where nothing was sampled.
[[nodiscard]] inline double unknown_share(const Sampling& sampling) {
  const std::uint64_t samples = sampling.samples.value_or(0);
  return samples == 0
             ? 0
             : static_cast<double>(sampling.unknown.value_or(0)) / static_cast<double>(samples);
}

/// One busy bit. The key is (register_name, name).
struct Unit {
  std::string name;  ///< "EA_BUSY"
  std::string register_name;
  std::optional<int> engine;  ///< n of GRBM_STATUS_SEn
  regdb::UnitGroup group = regdb::UnitGroup::kFrontEnd;
  std::string meaning;
  std::string suggests;
  double busy = 0;
  std::optional<analysis::Interval> ci95;
  std::optional<analysis::Interval> ci95_run;
  std::optional<std::uint64_t> samples;
};

/// Index into Report::units.
using UnitRef = std::size_t;

/// The bit that stands for the whole pipe: GUI_ACTIVE, or "gpu" in radeontop's files.
[[nodiscard]] inline bool is_whole_pipe(const Unit& unit) {
  return unit.name == "GUI_ACTIVE" || unit.name == "gpu";
}

/// So few samples that no unit has an interval. Percentages of unknown n are not few.
[[nodiscard]] inline bool has_few_samples(const std::vector<Unit>& units) {
  return !units.empty() && std::all_of(units.begin(), units.end(), [](const Unit& unit) {
    return unit.samples && *unit.samples < analysis::kMinSamplesForInterval;
  });
}

/// A register whose bits are not known here, with the names of the units that it would show.
struct UnknownRegister {
  std::string name;
  std::string reason;
  std::vector<std::string> units;
};

enum class BandState { kNoData, kUnknown, kAsleep, kMeasured };
struct BandCell {
  BandState state = BandState::kNoData;
  double busy = 0;  ///< of kMeasured
};
struct BandRow {
  std::string label;
  std::vector<BandCell> cells;
};
/// When units were busy: columns of equal length over the session or the selection.
struct Band {
  double column_s = 0;
  std::vector<BandRow> rows;
};

struct Segment {
  double start_s = 0;
  double end_s = 0;
  std::string gpu;
  std::optional<double> rate_hz;
  std::vector<std::string> registers;
  std::string reason;
  bool main = false;  ///< gpu and sampling describe this one
};

/// A finding with its consequence, and what to do about it.
struct Warning {
  std::string code;
  std::string text;
  std::string hint;  ///< empty where nothing can be done
};

/// A stretch with one limit, or a scene of one (then without scenes of its own).
struct Phase {
  double start_s = 0;
  double end_s = 0;
  analysis::Bottleneck bottleneck = analysis::Bottleneck::kUnknown;
  double confidence = 0;
  std::vector<std::string> evidence;
  std::string would_change;
  std::optional<std::string> nearest;  ///< known workload
  double unknown_share = 0;            ///< of the samples
  double asleep_share = 0;
  std::vector<Unit> units;
  std::vector<Sensor> sensors;
  std::optional<DramTraffic> dram;
  std::optional<analysis::Position> position;
  std::vector<Phase> scenes;
};

/// What positions were read from: the machine's ceilings and the calibration.
struct MachineRoofline {
  analysis::Roofline roofline;  ///< empty = none measured
  std::string source;           ///< "calibration of 2026-11-30 12:00, file ..."; empty = none
  bool simulated = false;
  analysis::CalibrationFit fit;
  double scatter = 0;  ///< of workloads about the curve, 0 to 1
};

/// Busy codes of one unit: round(62 x busy), 63 = unknown or asleep.
struct HeatRow {
  UnitRef unit;
  std::vector<std::uint8_t> codes;
};
/// A sensor by windows of its own; absent = no reading.
struct SensorTrack {
  std::string name;
  std::string unit;
  std::optional<double> limit;  ///< "power cap"
  std::vector<std::optional<float>> min;
  std::vector<std::optional<float>> mean;
  std::vector<std::optional<float>> max;
};
/// The recording by equal windows, for pictures.
struct Timeline {
  double start_s = 0;  ///< of the first window, from the session's start
  double window_s = 0;
  double sensor_window_s = 0;
  std::size_t windows = 0;
  std::vector<HeatRow> rows;  ///< in pipeline order
  std::vector<SensorTrack> tracks;
};

struct Report {
  Session session;
  std::optional<Selection> selection;
  Gpu gpu;
  Sampling sampling;
  std::vector<Unit> units;  ///< in the order of the register tables
  std::vector<UnknownRegister> unknown_registers;
  Band band;
  std::vector<Sensor> sensors;  ///< in the order of the file
  std::vector<SensorSource> sensor_sources;
  std::vector<Energy> energy;
  std::optional<DramTraffic> dram;
  std::optional<Throttling> throttling;
  std::vector<Process> processes;  ///< most GPU time first
  std::optional<Frames> frames;
  std::vector<Phase> phases;  ///< empty when there is too little to say anything
  std::optional<MachineRoofline> machine;
  std::optional<Timeline> timeline;  ///< only for pages with pictures
  std::vector<Segment> segments;     ///< only when there is more than one
  std::vector<Warning> warnings;
};

}  // namespace gputrace::report
