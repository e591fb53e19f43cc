// How each class of bottleneck looks: letter, pattern, colours and mark, the same in every report.
// Colour is never the only difference.
#pragma once

#include <array>
#include <string_view>

#include "cli/analysis/bottleneck.h"

namespace gputrace::report {

enum class Pattern {
  kSolid,
  kHorizontal,
  kDiagonal,      ///< rising
  kBackDiagonal,  ///< falling
  kDots,
  kGrid,
  kVertical,
  kCheckerboard,
  kCrosshatch,
  kEmpty,  ///< an outline
  kHatch   ///< thin lines on the ground
};

/// kNone: the class has no position on a roofline.
enum class Mark {
  kNone,
  kSquare,
  kDiamond,
  kHexagon,
  kCircle,
  kTriangleUp,
  kTriangleDown,
  kPentagon,
  kStar
};

struct ClassStyle {
  char letter = '?';
  char text_letter = '?';  ///< in a terminal, where an idle stretch must stay quiet
  std::string_view light;  ///< "#2237b2", on kLightGround
  std::string_view dark;   ///< on kDarkGround
  Pattern pattern = Pattern::kHatch;
  Mark mark = Mark::kNone;
  int terminal_colour = 90;  ///< SGR (ECMA-48) of the letter, of the 16 colours
};

inline constexpr std::string_view kLightGround = "#ffffff";
inline constexpr std::string_view kDarkGround = "#14171c";

/// In the order of legends and lists of equal weight.
inline constexpr std::array<analysis::Bottleneck, 11> kAllClasses{
    analysis::Bottleneck::kBandwidth, analysis::Bottleneck::kLatency, analysis::Bottleneck::kMemory,
    analysis::Bottleneck::kCompute,   analysis::Bottleneck::kTexture, analysis::Bottleneck::kRaster,
    analysis::Bottleneck::kGeometry,  analysis::Bottleneck::kCpu,     analysis::Bottleneck::kMixed,
    analysis::Bottleneck::kIdle,      analysis::Bottleneck::kUnknown};

[[nodiscard]] const ClassStyle& class_style(analysis::Bottleneck bottleneck);

}  // namespace gputrace::report
