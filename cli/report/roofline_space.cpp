#include "cli/report/roofline_space.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace gputrace::report {
namespace {

constexpr double kNarrow = 480;
/// Ceilings of memory closer than this to one that is drawn would only thicken its line.
constexpr double kToldApart = 1.2;
/// Times lower than the lowest phase: its label stands there.
constexpr double kRoomBelow = 1.6;
constexpr double kTop = 62;
constexpr double kPageTop = 34;
constexpr double kBelow = 46;
/// Room for marks without a rate, between the ticks and the axis' name.
constexpr double kStrip = 26;
constexpr double kStripBelow = 34;

analysis::Roofline thinned(const analysis::Roofline& roofline) {
  analysis::Roofline result = roofline;
  result.bandwidth.clear();
  std::vector<std::optional<std::size_t>> kept;
  for (const analysis::Ceiling& ceiling : roofline.bandwidth) {
    const bool apart = std::all_of(
        result.bandwidth.begin(), result.bandwidth.end(), [&](const analysis::Ceiling& drawn) {
          return std::max(ceiling.value / drawn.value, drawn.value / ceiling.value) >= kToldApart;
        });
    kept.push_back(apart ? std::optional(result.bandwidth.size()) : std::nullopt);
    if (apart) {
      result.bandwidth.push_back(ceiling);
    }
  }
  result.ridges.clear();
  for (analysis::Ridge ridge : roofline.ridges) {
    if (const auto index = kept[ridge.bandwidth]) {
      ridge.bandwidth = *index;
      result.ridges.push_back(ridge);
    }
  }
  return result;
}

/// For axes on which the phases have room too.
analysis::Roofline with_phases(const RooflinePlot& plot) {
  analysis::Roofline roofline = plot.roofline;
  for (const PhaseMark& mark : plot.phases) {
    if (is_drawn(mark) && !is_in_strip(mark)) {
      const PlotPlace place = place_of(mark);
      roofline.points.push_back({.label = "",
                                 .intensity = place.intensity,
                                 .gflops = place.gflops / kRoomBelow,
                                 .lower = std::nullopt,
                                 .upper = std::nullopt});
    }
  }
  return roofline;
}

PhaseFrame frame_of(double width, double height, bool in_page, bool has_strip,
                    const RooflineRange& range) {
  const bool narrow = width < kNarrow;
  PhaseFrame frame{.left = narrow ? 48.0 : 60.0,
                   .top = in_page ? kPageTop : kTop,
                   .right = width - 18,
                   .bottom = height - kBelow - (has_strip ? kStrip : 0),
                   .strip_y = 0,
                   .narrow = narrow,
                   .x = {},
                   .y = {}};
  frame.strip_y = frame.bottom + kStripBelow;
  frame.x = {range.intensity_low, range.intensity_high, frame.right - frame.left};
  frame.y = {range.gflops_low, range.gflops_high, frame.bottom - frame.top};
  return frame;
}

double highest(const std::vector<analysis::Ceiling>& ceilings, std::string_view unit,
               double otherwise) {
  double most = 0;
  for (const analysis::Ceiling& ceiling : ceilings) {
    if (ceiling.unit == unit) {
      most = std::max(most, ceiling.value);
    }
  }
  return most > 0 ? most : otherwise;
}

}  // namespace

RooflineSpace::RooflineSpace(const RooflinePlot& plot, double width, double height, bool in_page)
    : drawn(thinned(plot.roofline)),
      range(range_of(with_phases(plot))),
      has_strip(std::any_of(plot.phases.begin(), plot.phases.end(), is_in_strip)),
      frame(frame_of(width, height, in_page, has_strip, range)) {}

const analysis::Ceiling* RooflineSpace::main_compute() const {
  const auto& all = drawn.compute;
  return all.empty() || all.front().unit != "GFLOPS" ? nullptr : &all.front();
}

const analysis::Ceiling* RooflineSpace::main_bandwidth() const {
  const auto& all = drawn.bandwidth;
  return all.empty() ? nullptr : &all.front();
}

double RooflineSpace::highest_gflops() const {
  return highest(drawn.compute, "GFLOPS", range.gflops_high);
}

double RooflineSpace::highest_gbps() const {
  return highest(drawn.bandwidth, "GB/s", 0);
}

RooflineSpace::Stretch RooflineSpace::diagonal(double gbps, double roof) const {
  return {std::max(range.intensity_low, range.gflops_low / gbps),
          std::min(range.intensity_high, roof / gbps)};
}

double RooflineSpace::start_of(double gflops, double gbps) const {
  return gbps > 0 ? std::clamp(gflops / gbps, range.intensity_low, range.intensity_high)
                  : range.intensity_low;
}

std::vector<std::pair<double, double>> RooflineSpace::roof_line(double gflops, double gbps) const {
  std::vector<std::pair<double, double>> corners;
  const double ridge = start_of(gflops, gbps);
  if (gbps > 0) {
    const Stretch stretch = diagonal(gbps, std::min(gflops, range.gflops_high));
    corners.emplace_back(px(stretch.from), py(gbps * stretch.from));
    corners.emplace_back(px(stretch.to), py(gbps * stretch.to));
  }
  if (std::isfinite(gflops) && ridge < range.intensity_high) {
    corners.emplace_back(px(ridge), py(gflops));
    corners.emplace_back(frame.right, py(gflops));
  }
  return corners;
}

}  // namespace gputrace::report
