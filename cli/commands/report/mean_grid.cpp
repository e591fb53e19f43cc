#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "cli/commands/report/grid_units.h"

namespace gputrace::commands {
namespace {

using analysis::BusyGrid;

/// Two days of windows of a second.
constexpr std::int64_t kMaxCells = 200'000;

class MeanGrid : public analysis::GridSource {
 public:
  MeanGrid(std::vector<analysis::UnitKey> units, double start_s, std::int64_t cell_ns,
           std::size_t cells)
      : units_(std::move(units)),
        start_s_(start_s),
        cell_s_(static_cast<double>(cell_ns) / 1e9),
        cells_(cells),
        all_(units_.size(), std::vector<analysis::Cell>(cells)) {}

  void add(std::size_t unit, std::size_t cell, const store::WindowMean& mean) {
    const std::uint32_t n = mean.samples.value_or(kStandInSamples);
    const double busy = std::clamp(mean.busy, 0.0, 1.0);
    analysis::Cell& sums = all_[unit][cell];
    sums.samples += n;
    sums.busy += static_cast<std::uint32_t>(std::lround(busy * n));
    // Nothing tells the order of the samples: as if they were independent.
    sums.changes += static_cast<std::uint32_t>(std::lround(2 * busy * (1 - busy) * n));
  }

  [[nodiscard]] const std::vector<analysis::UnitKey>& units() const override { return units_; }
  [[nodiscard]] double start_s() const override { return start_s_; }
  [[nodiscard]] double cell_s() const override { return cell_s_; }
  [[nodiscard]] std::size_t cells() const override { return cells_; }
  [[nodiscard]] Result<BusyGrid> read(std::size_t first, std::size_t count) const override {
    if (first > cells_ || count > cells_ - first) {
      return fail(ErrorCode::kInvalidArgument, "cells asked of a recording that are not there");
    }
    BusyGrid grid;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const auto begin = all_[u].begin() + static_cast<std::ptrdiff_t>(first);
      grid.units.push_back({units_[u], {begin, begin + static_cast<std::ptrdiff_t>(count)}});
    }
    grid.asleep.resize(count);
    grid.unknown.resize(count);
    return grid;
  }
  [[nodiscard]] Result<std::vector<analysis::Tick>> ticks(double /*from_s*/,
                                                          double /*to_s*/) const override {
    return std::vector<analysis::Tick>{};
  }

 private:
  std::vector<analysis::UnitKey> units_;
  double start_s_;
  double cell_s_;
  std::size_t cells_;
  std::vector<std::vector<analysis::Cell>> all_;  ///< [unit][cell]; imports are small
};

struct UnitMean {
  std::size_t unit = 0;
  store::WindowMean mean;
};

std::int64_t middle_ns(const store::WindowMean& mean) {
  return mean.start_ns + (mean.end_ns - mean.start_ns) / 2;
}

/// The windows whose middle is in the shown stretch.
Result<std::vector<UnitMean>> shown_means(const GpuRecording& recording, const GridLayout& layout) {
  std::vector<UnitMean> shown;
  for (const SegmentLayout& segment : layout.segments) {
    const auto means = recording.session->window_means(*segment.segment);
    if (!means) {
      return tl::unexpected<Error>(means.error());
    }
    std::map<std::pair<std::size_t, std::uint8_t>, std::size_t> unit_of;
    for (const GridBit& bit : segment.bits) {
      unit_of[{bit.ref.register_index, bit.ref.bit}] = bit.unit;
    }
    for (const store::WindowMean& mean : *means) {
      const auto unit = unit_of.find({mean.register_index, mean.bit});
      const std::int64_t middle = middle_ns(mean);
      if (unit != unit_of.end() && middle >= recording.timeline.start_ns &&
          middle <= recording.timeline.end_ns && mean.end_ns > mean.start_ns) {
        shown.push_back({unit->second, mean});
      }
    }
  }
  return shown;
}

}  // namespace

Result<std::optional<SessionGrid>> make_mean_grid(const GpuRecording& recording,
                                                  const GridLayout& layout) {
  const Result<std::vector<UnitMean>> means = shown_means(recording, layout);
  if (!means) {
    return tl::unexpected<Error>(means.error());
  }
  if (means->empty()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> lengths;
  std::int64_t start_ns = means->front().mean.start_ns;
  std::int64_t last_ns = start_ns;  // middle of the last window
  bool stand_in = false;
  for (const UnitMean& entry : *means) {
    lengths.push_back(entry.mean.end_ns - entry.mean.start_ns);
    start_ns = std::min(start_ns, entry.mean.start_ns);
    last_ns = std::max(last_ns, middle_ns(entry.mean));
    stand_in = stand_in || !entry.mean.samples;
  }
  const auto usual = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, usual);
  const std::int64_t cell_ns = std::max({*usual, store::kCellNs, (last_ns - start_ns) / kMaxCells});
  auto grid = std::make_unique<MeanGrid>(
      layout.units, static_cast<double>(start_ns - recording.session_start_ns) / 1e9, cell_ns,
      static_cast<std::size_t>((last_ns - start_ns) / cell_ns) + 1);
  for (const UnitMean& entry : *means) {
    grid->add(entry.unit, static_cast<std::size_t>((middle_ns(entry.mean) - start_ns) / cell_ns),
              entry.mean);
  }
  return SessionGrid{std::move(grid), true, stand_in};
}

}  // namespace gputrace::commands
