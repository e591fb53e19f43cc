#include "cli/report/class_style.h"

namespace gputrace::report {
namespace {

// Contrast to the ground is at least 3 for every fill (texture on white has least, 3.01). The least
// distance of two of the eight hues in OKLab, times 100, as seen with normal vision, protanopia,
// deuteranopia and tritanopia (Machado, Oliveira, Fernandes 2009): light 15.5, 11.6, 11.1, 10.4,
// dark 13.8, 11.7, 12.3, 12.0. tests/cli/report/class_style_test.cpp computes both.
constexpr ClassStyle kBandwidth{'B', 'B', "#2237b2", "#0767d7", Pattern::kSolid, Mark::kSquare, 94};
constexpr ClassStyle kLatency{'L', 'L', "#147aa5", "#25a6d3", Pattern::kHorizontal, Mark::kDiamond,
                              36};
constexpr ClassStyle kMemory{'Y', 'Y', "#a564eb", "#b9fffa", Pattern::kCheckerboard, Mark::kHexagon,
                             96};
constexpr ClassStyle kCompute{'C',           'C', "#cc7404", "#bf3401", Pattern::kDiagonal,
                              Mark::kCircle, 33};
constexpr ClassStyle kTexture{'T', 'T', "#26a78b", "#6ae3b6", Pattern::kDots, Mark::kTriangleUp,
                              92};
constexpr ClassStyle kRaster{'R', 'R', "#740968", "#8d5789", Pattern::kGrid, Mark::kTriangleDown,
                             95};
constexpr ClassStyle kGeometry{
    'G', 'G', "#4a4707", "#f7c01a", Pattern::kBackDiagonal, Mark::kPentagon, 93};
constexpr ClassStyle kCpu{'P', 'P', "#995356", "#fc656a", Pattern::kVertical, Mark::kNone, 91};
constexpr ClassStyle kMixed{'M', 'M', "#5a6069", "#aab1bb", Pattern::kCrosshatch, Mark::kStar, 37};
constexpr ClassStyle kIdle{'I', '.', "#8a919b", "#727983", Pattern::kEmpty, Mark::kNone, 90};
constexpr ClassStyle kUnknown{'?', '?', "#5a6069", "#aab1bb", Pattern::kHatch, Mark::kNone, 90};

}  // namespace

const ClassStyle& class_style(analysis::Bottleneck bottleneck) {
  switch (bottleneck) {
    case analysis::Bottleneck::kIdle:
      return kIdle;
    case analysis::Bottleneck::kCpu:
      return kCpu;
    case analysis::Bottleneck::kBandwidth:
      return kBandwidth;
    case analysis::Bottleneck::kLatency:
      return kLatency;
    case analysis::Bottleneck::kMemory:
      return kMemory;
    case analysis::Bottleneck::kCompute:
      return kCompute;
    case analysis::Bottleneck::kTexture:
      return kTexture;
    case analysis::Bottleneck::kRaster:
      return kRaster;
    case analysis::Bottleneck::kGeometry:
      return kGeometry;
    case analysis::Bottleneck::kMixed:
      return kMixed;
    case analysis::Bottleneck::kUnknown:
      return kUnknown;
  }
  return kUnknown;
}

}  // namespace gputrace::report
