// Dumps of `radeontop -d`, the format of its dump.c from version 0.7 to 1.4.
//
// A percentage is the share of busy samples in radeontop's last full collection window, so it
// speaks for time before its stamp: its window runs from the line before to its own line, and no
// longer than the usual distance of lines (their median), so that a pause between two runs in one
// file stays empty. The first line's window has that usual length; a single line's is one second,
// radeontop's default interval. Where in its window radeontop's own began is not in the file.
// Stamps are wall-clock time: the session's time axis (CLOCK_MONOTONIC elsewhere) is wall-clock
// time too, and its anchor says so by giving all three clocks the same value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cli/import/import.h"

namespace gputrace::import {

[[nodiscard]] Result<ImportSummary> import_radeontop(LineReader& input,
                                                     const regdb::RegisterDatabase& regdb,
                                                     const ImportOptions& options,
                                                     SessionSink& sink);

/// Whether every percentage is k out of `n`, printed with two decimals.
[[nodiscard]] bool fits_sample_count(std::span<const double> percentages, std::uint32_t n);
/// Whether the percentages could come from `n` samples and from none of its divisors: radeontop's
/// tick rate is not in a dump, but a file with some activity gives it away.
[[nodiscard]] bool shows_sample_count(std::span<const double> percentages, std::uint32_t n);

}  // namespace gputrace::import
