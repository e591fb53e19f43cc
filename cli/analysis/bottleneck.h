// What limited the GPU in a stretch of time, from busy fractions and what else was seen. Pressure
// from behind fills every stage above the limit, so the deepest full stage decides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/busy_grid.h"
#include "cli/analysis/statistics.h"

namespace gputrace::analysis {

/// kMemory: bound by memory, where nothing tells bandwidth from latency.
enum class Bottleneck {
  kIdle,
  kCpu,
  kBandwidth,
  kLatency,
  kMemory,
  kCompute,
  kTexture,
  kRaster,
  kGeometry,
  kMixed,
  kUnknown
};
/// "bandwidth": the class in the report's JSON.
[[nodiscard]] std::string_view to_string(Bottleneck bottleneck);

/// A unit over a stretch of time. `busy` is a share of the valid samples; without any
/// (counts->samples is 0) it means nothing.
struct BusyUnit {
  UnitKey key;
  double busy = 0;
  std::optional<Counts> counts = std::nullopt;  ///< absent for percentages without n
  std::optional<Interval> ci95 = std::nullopt;
  /// How far the mean over equal times is from `busy` where some samples are unknown: more than
  /// chance where samples are missing because of what the unit does.
  double missing_shift = 0;
};

/// What else speaks of memory: DRAM bytes, or the share of time in which memory was in use.
struct MemoryWitness {
  std::string source;  ///< "pmu amd_umc"
  std::optional<double> gbps = std::nullopt;
  std::optional<double> ceiling_gbps = std::nullopt;  ///< measured, of the same mix where known
  std::string ceiling_source;                         ///< "roofline of 2026-11-30"
  std::optional<double> activity = std::nullopt;      ///< 0 to 1, of the theoretical peak
  std::string covers;                                 ///< "CPU and GPU together"
};

/// Busy fractions of a workload that was measured, to name what a stretch is like. It never
/// decides.
struct KnownWorkload {
  std::string name;
  std::vector<BusyUnit> units;
};

struct StretchFacts {
  double seconds = 0;
  std::span<const BusyUnit> units;
  double unknown_share = 0;  ///< of the samples
  double unseen_share = 0;   ///< of the time, a tenth of a second at once: hardly a sample is known
  double asleep_share = 0;
  std::optional<MemoryWitness> witness = std::nullopt;
  std::span<const KnownWorkload> known = {};
};

/// Evidence and the rest are plain sentences with numbers; `would_change` says what observation
/// would change the verdict, or what to do when it cannot be told.
struct Verdict {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  /// 0 to 1: share of moved inputs with the same class, less where other work looks the same. Below
  /// 0.5 for kUnknown.
  double confidence = 0;
  std::vector<std::string> evidence;
  std::string would_change;
  std::optional<std::string> nearest = std::nullopt;  ///< a KnownWorkload's name
  std::optional<Bottleneck> runner_up = std::nullopt;
};

/// `before`: the class of the stretch before, for hysteresis. The same input gives the same
/// verdict.
[[nodiscard]] Verdict classify(const StretchFacts& facts,
                               std::optional<Bottleneck> before = std::nullopt);

/// "sure" from 0.90, "likely" from 0.70, "a guess" from 0.50, else "cannot tell".
[[nodiscard]] std::string_view certainty_word(double confidence);

}  // namespace gputrace::analysis
