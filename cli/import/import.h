// Turns files of other tools into sessions: radeontop dumps, register CSV, logs of MangoHud and of
// amdgpu_top.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/import/line_reader.h"
#include "cli/import/session_sink.h"
#include "daemon/base/result.h"
#include "regdb/register_database.h"

namespace gputrace::import {

enum class Format { kRadeontop, kRegisterCsv, kMangoHud, kAmdgpuTop };
/// "radeontop", "regs-csv", "mangohud", "amdgpu_top": the words of --format.
[[nodiscard]] std::optional<Format> parse_format(std::string_view word);
/// "radeontop dump", "register CSV", "MangoHud log", "amdgpu_top JSON".
[[nodiscard]] std::string_view describe(Format format);

/// More ticks a second than radeontop can reach.
inline constexpr std::uint32_t kMaxTicks = 20'000;

struct ImportOptions {
  std::optional<Format> format;        ///< absent: found out from the file's first lines
  std::optional<regdb::GcVersion> gc;  ///< when the file does not say
  std::optional<std::uint32_t> ticks;  ///< radeontop's -t, 1 to kMaxTicks
  std::optional<std::string> gpu;      ///< PCI address or index among those of a file, from 0
  bool lenient = false;                ///< leave bad lines out and count them
};

/// What was imported, for the person who asked.
struct ImportSummary {
  Format format = Format::kRadeontop;
  std::optional<regdb::GcVersion> gc;
  std::uint64_t rows = 0;  ///< samples, dump lines, rows or objects
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<std::string> registers;
  std::uint64_t values = 0;    ///< words or percentages that were kept
  std::uint64_t all_ones = 0;  ///< words that say that the read was invalid
  std::uint64_t absent = 0;    ///< cells without a word
  std::uint64_t frames = 0;
  std::vector<std::string> sensors;  ///< series with readings, by name
  std::uint64_t processes = 0;
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_examples;
  std::vector<std::string> notes;     ///< what else a reader of the result should know
  std::vector<std::string> warnings;  ///< also stored in the session as events
};

/// Reads all of `input` into `sink`. After a failure what `sink` holds is of no use. Nothing but
/// names and meanings is taken from `regdb`.
[[nodiscard]] Result<ImportSummary> import_session(LineReader& input,
                                                   const regdb::RegisterDatabase& regdb,
                                                   const ImportOptions& options, SessionSink& sink);

}  // namespace gputrace::import
