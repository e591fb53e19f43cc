#include "cli/analysis/phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cli/analysis/change_point.h"
#include "cli/analysis/phase/memory_changes.h"
#include "cli/analysis/phase/stretch_sum.h"

namespace gputrace::analysis {
namespace {

/// 14 minutes of 100 ms: 40 units take 4 MB.
constexpr std::size_t kChunkCells = 8192;
/// Shorter scenes open no phase of their own: with 1,000 samples a second a busy fraction is known
/// to 10 points or worse.
constexpr double kShortestPhaseS = 0.4;
/// Phases whose cells are kept, for one that must be joined with the next after all.
constexpr std::size_t kPhasesWithCells = 3;

bool is_memory(Bottleneck bottleneck) {
  return bottleneck == Bottleneck::kMemory || bottleneck == Bottleneck::kBandwidth ||
         bottleneck == Bottleneck::kLatency;
}

/// A short scene may have no witness of memory where the one beside it has.
bool same_limit(Bottleneck one, Bottleneck other) {
  return one == other || (is_memory(one) && is_memory(other) &&
                          (one == Bottleneck::kMemory || other == Bottleneck::kMemory));
}

struct OpenPhase {
  Phase phase;
  StretchSum sum;
  Bottleneck limit = Bottleneck::kUnknown;  ///< of its scenes
  bool after_gap = false;                   ///< the recording has a hole before it
};

class PhaseBuilder {
 public:
  PhaseBuilder(const GridSource& source, const WitnessOf& witness,
               std::span<const KnownWorkload> known)
      : units_(source.units()), witness_(witness), known_(known) {}

  void add_scene(double start_s, double end_s, StretchSum sum) {
    if (is_hole(end_s - start_s, sum)) {
      close();
      gap_ = !phases_.empty();
      return;
    }
    const double seconds = end_s - start_s;
    if (seconds > 0) {
      usual_rate_ = std::max(usual_rate_, static_cast<double>(sum.samples()) / seconds);
    }
    Scene scene = judge(start_s, end_s, sum, gap_ ? std::nullopt : last_);
    last_ = scene.verdict.bottleneck;
    if (open_ && belongs(*open_, scene)) {
      join(*open_, std::move(scene), sum);
      return;
    }
    close();
    const Bottleneck limit = scene.verdict.bottleneck;
    OpenPhase next{.phase = {},
                   .sum = std::move(sum),
                   .limit = limit,
                   .after_gap = std::exchange(gap_, false)};
    next.phase.whole.start_s = start_s;
    next.phase.whole.end_s = end_s;
    next.phase.scenes.push_back(std::move(scene));
    open_ = std::move(next);
  }

  std::vector<Phase> finish() {
    close();
    std::vector<Phase> phases;
    phases.reserve(phases_.size());
    for (OpenPhase& done : phases_) {
      phases.push_back(std::move(done.phase));
    }
    return phases;
  }

 private:
  static double length(const Scene& scene) { return scene.end_s - scene.start_s; }
  static bool is_short(const Scene& scene) { return length(scene) < kShortestPhaseS; }

  /// A hole ends inside a cell, so some samples of what comes next may be counted to it.
  [[nodiscard]] bool is_hole(double seconds, const StretchSum& sum) const {
    constexpr double kHardlyAny = 0.05;
    const auto samples = static_cast<double>(sum.samples());
    return sum.empty() ||
           (sum.samples() < kMinSamplesForInterval && samples < kHardlyAny * usual_rate_ * seconds);
  }

  static bool belongs(const OpenPhase& open, const Scene& scene) {
    return same_limit(open.limit, scene.verdict.bottleneck) || is_short(scene) ||
           is_short(open.phase.whole);
  }

  static void join(OpenPhase& open, Scene scene, const StretchSum& sum) {
    if (is_short(open.phase.whole) ||
        (open.limit == Bottleneck::kMemory && is_memory(scene.verdict.bottleneck))) {
      open.limit = scene.verdict.bottleneck;
    }
    open.phase.whole.end_s = scene.end_s;
    open.phase.scenes.push_back(std::move(scene));
    open.sum.append(sum);
  }

  [[nodiscard]] Scene judge(double start_s, double end_s, const StretchSum& sum,
                            std::optional<Bottleneck> before) const {
    Scene scene{.start_s = start_s,
                .end_s = end_s,
                .verdict = {},
                .units = sum.units(units_),
                .asleep_share = sum.asleep_share(),
                .unknown_share = sum.unknown_share()};
    scene.verdict = classify({.seconds = end_s - start_s,
                              .units = scene.units,
                              .unknown_share = scene.unknown_share,
                              .unseen_share = sum.unseen_share(),
                              .asleep_share = scene.asleep_share,
                              .witness = witness_ ? witness_(start_s, end_s) : std::nullopt,
                              .known = known_},
                             before);
    return scene;
  }

  void judge_whole(OpenPhase& open) const {
    Phase& phase = open.phase;
    if (phase.scenes.size() == 1) {
      phase.whole = phase.scenes.front();
      return;
    }
    phase.whole = judge(phase.whole.start_s, phase.whole.end_s, open.sum, open.limit);
    prefer_scenes(phase, open.limit);
  }

  /// The mean over scenes that differ is like no work, though each of them has the same limit.
  static void prefer_scenes(Phase& phase, Bottleneck limit) {
    constexpr double kClearly = 0.1;
    double agreed = 0;
    const Scene* longest = nullptr;
    for (const Scene& scene : phase.scenes) {
      if (!same_limit(scene.verdict.bottleneck, limit)) {
        continue;
      }
      agreed += scene.verdict.confidence * length(scene);
      if (longest == nullptr || length(scene) > length(*longest)) {
        longest = &scene;
      }
    }
    agreed /= length(phase.whole);
    Verdict& verdict = phase.whole.verdict;
    const bool same = same_limit(verdict.bottleneck, limit);
    if (longest == nullptr || (same && agreed < verdict.confidence + kClearly)) {
      return;
    }
    const Bottleneck bottleneck = same ? verdict.bottleneck : limit;
    verdict = longest->verdict;
    verdict.bottleneck = bottleneck;
    verdict.confidence = agreed;
    verdict.evidence.insert(verdict.evidence.begin(),
                            fmt::format("Its {} scenes differ; this is the longest, {:.1f} s.",
                                        phase.scenes.size(), length(*longest)));
  }

  /// All samples of a phase may say something else than its scenes did, and then what the phase
  /// before says.
  void close() {
    if (!open_) {
      return;
    }
    judge_whole(*open_);
    phases_.push_back(std::move(*open_));
    open_.reset();
    while (phases_.size() >= 2 && !phases_.back().after_gap) {
      OpenPhase& before = phases_[phases_.size() - 2];
      OpenPhase& last = phases_.back();
      if (!same_limit(before.phase.whole.verdict.bottleneck, last.phase.whole.verdict.bottleneck)) {
        break;
      }
      before.limit = before.phase.whole.verdict.bottleneck == Bottleneck::kMemory
                         ? last.phase.whole.verdict.bottleneck
                         : before.phase.whole.verdict.bottleneck;
      before.phase.whole.end_s = last.phase.whole.end_s;
      std::move(last.phase.scenes.begin(), last.phase.scenes.end(),
                std::back_inserter(before.phase.scenes));
      before.sum.append(last.sum);
      phases_.pop_back();
      judge_whole(phases_.back());
    }
    if (phases_.size() > kPhasesWithCells) {
      phases_[phases_.size() - 1 - kPhasesWithCells].sum.forget_cells();
    }
  }

  const std::vector<UnitKey>& units_;
  const WitnessOf& witness_;
  std::span<const KnownWorkload> known_;
  std::vector<OpenPhase> phases_;
  std::optional<OpenPhase> open_;
  std::optional<Bottleneck> last_;
  bool gap_ = false;
  double usual_rate_ = 0;  ///< samples a second of the densest scene so far
};

Status check_shape(const BusyGrid& grid, std::size_t units, std::size_t cells) {
  bool fits =
      grid.units.size() == units && grid.asleep.size() == cells && grid.unknown.size() == cells;
  for (const GridUnit& unit : grid.units) {
    fits = fits && unit.cells.size() == cells;
  }
  if (!fits) {
    return fail(ErrorCode::kCorrupt,
                "the busy counts of this recording do not fit together: units or cells are "
                "missing");
  }
  return {};
}

/// Those of the busy bits, and between them those that only memory's witness shows.
Result<std::vector<ChangePoint>> find_all_changes(const GridSource& source,
                                                  const WitnessOf& witness) {
  auto changes = find_change_points(source);
  if (!changes || !witness) {
    return changes;
  }
  const double end_s = source.start_s() + static_cast<double>(source.cells()) * source.cell_s();
  std::vector<ChangePoint> all;
  std::size_t cell = 0;
  double at_s = source.start_s();
  for (std::size_t i = 0; i <= changes->size(); ++i) {
    const ChangePoint next =
        i < changes->size() ? (*changes)[i] : ChangePoint{.cell = source.cells(), .at_s = end_s};
    for (const double change_s : find_memory_changes(witness, at_s, next.at_s)) {
      const auto at_cell =
          static_cast<std::size_t>(std::lround((change_s - source.start_s()) / source.cell_s()));
      if (at_cell > cell && at_cell < next.cell) {
        all.push_back({.cell = at_cell, .at_s = change_s});
        cell = at_cell;
      }
    }
    all.push_back(next);
    cell = next.cell;
    at_s = next.at_s;
  }
  all.pop_back();  // the end
  return all;
}

}  // namespace

Result<std::vector<Phase>> find_phases(const GridSource& source, const WitnessOf& witness,
                                       std::span<const KnownWorkload> known) {
  const auto changes = find_all_changes(source, witness);
  if (!changes) {
    return tl::unexpected(changes.error());
  }
  const std::size_t unit_count = source.units().size();
  PhaseBuilder builder(source, witness, known);
  std::size_t next_change = 0;
  double scene_start_s = source.start_s();
  StretchSum sum(unit_count);
  for (std::size_t first = 0; first < source.cells(); first += kChunkCells) {
    const std::size_t count = std::min(kChunkCells, source.cells() - first);
    const auto grid = source.read(first, count);
    if (!grid) {
      return tl::unexpected(grid.error());
    }
    if (auto shape = check_shape(*grid, unit_count, count); !shape) {
      return tl::unexpected(shape.error());
    }
    std::size_t done = 0;
    while (next_change < changes->size() && (*changes)[next_change].cell < first + count) {
      const ChangePoint& change = (*changes)[next_change];
      const std::size_t until = std::max(done, change.cell - std::min(change.cell, first));
      sum.add(*grid, done, until);
      builder.add_scene(scene_start_s, change.at_s, std::exchange(sum, StretchSum(unit_count)));
      scene_start_s = change.at_s;
      done = until;
      ++next_change;
    }
    sum.add(*grid, done, count);
  }
  const double end_s = source.start_s() + static_cast<double>(source.cells()) * source.cell_s();
  builder.add_scene(scene_start_s, end_s, std::move(sum));
  return builder.finish();
}

}  // namespace gputrace::analysis
