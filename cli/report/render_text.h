// The report as text for a terminal or a pipe: answer, band over time, units, sampling, warnings.
#pragma once

#include <cstddef>
#include <string>

#include "cli/report/report.h"

namespace gputrace::report {

struct TextOptions {
  bool colour = false;     ///< the characters are the same with and without
  bool ascii = false;      ///< no character beyond ASCII, for locales that are not UTF-8
  std::size_t width = 80;  ///< columns; lines keep within it, but never below kMinWidth
};

inline constexpr std::size_t kMinWidth = 60;
/// Columns of a band row before its first cell; the rest of the width may hold cells.
inline constexpr std::size_t kBandLabelWidth = 16;

[[nodiscard]] std::string render_text(const Report& report, const TextOptions& options);

}  // namespace gputrace::report
