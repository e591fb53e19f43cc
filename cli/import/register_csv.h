// Register CSV: raw status words with time stamps, from any tool that can print them.
//
//   # gputrace-regs v1
//   # gc=11.0.1
//   time_ns,GRBM_STATUS,GRBM_STATUS2
//   1000000042604,0x00003028,0x00000008
//
// Further keys: `# rate_hz=1000` (nominal rate), `# gpu=NAME`, `# started=2026-11-29T22:27:15Z`
// (wall clock at the first row). time_ns is CLOCK_MONOTONIC of the machine that recorded, in
// nanoseconds, and grows from row to row. Words are hexadecimal (0x...) or decimal; all ones means
// that the read failed; an empty cell, or one missing at a row's end, means that there is no value.
// Rows may be missing. Empty lines and further lines with # are passed over.
#pragma once

#include <string_view>

#include "cli/import/import.h"

namespace gputrace::import {

inline constexpr std::string_view kRegisterCsvMagic = "# gputrace-regs";

[[nodiscard]] Result<ImportSummary> import_register_csv(LineReader& input,
                                                        const regdb::RegisterDatabase& regdb,
                                                        const ImportOptions& options,
                                                        SessionSink& sink);

}  // namespace gputrace::import
