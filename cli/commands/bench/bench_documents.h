// The drawings and the page of a bench, as files.
#pragma once

#include <filesystem>

#include "cli/analysis/bench_result.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

/// Before a run, so that a name that cannot be a folder does not cost one.
[[nodiscard]] Status create_drawings_folder(const std::filesystem::path& folder);

/// "latency.vector.svg" for each test with points, "latency.svg" for the paths of one kind
/// together. Files of these names are replaced when they are drawings. kNotFound: there is nothing
/// to draw.
[[nodiscard]] Status write_drawings(const analysis::BenchRun& run,
                                    const std::filesystem::path& folder);

[[nodiscard]] Status write_bench_page(const analysis::BenchRun& run,
                                      const std::filesystem::path& file);

}  // namespace gputrace::commands
