// Output of `amdgpu_top --json`: an object a line, or objects one after the other, or an array of
// them, or a single one, of any version (0.1 to 0.11 differ in what they have).
//
// Percentages of GRBM and GRBM2 are means of windows (100 reads each) of fields of the GPU's
// register table; names that are no busy bit there are left out and named. One GPU of a file is
// imported: --gpu, else the first graphics card, else the first.
#pragma once

#include <string_view>

#include "cli/import/import.h"

namespace gputrace::import {

[[nodiscard]] Result<ImportSummary> import_amdgpu_top(LineReader& input,
                                                      const regdb::RegisterDatabase& regdb,
                                                      const ImportOptions& options,
                                                      SessionSink& sink);

/// Whether a file may begin like this.
[[nodiscard]] bool looks_like_amdgpu_top(std::string_view text);

}  // namespace gputrace::import
