// What a report says in words: the answer, why, what to try, how sure it is. One source for text
// and pages. Strings may hold names from files: whoever prints them must escape them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/report.h"

namespace gputrace::report {

/// "memory bandwidth", "the shader cores", "the CPU or a frame limit": what the class says was the
/// limit, in a sentence.
[[nodiscard]] std::string_view limit_words(analysis::Bottleneck bottleneck);
/// "Limited by memory bandwidth", "Cannot tell what limited it".
[[nodiscard]] std::string_view headline_words(analysis::Bottleneck bottleneck);

/// All phases of one class. Mean busy fractions are weighted by time.
struct ClassTime {
  analysis::Bottleneck bottleneck = analysis::Bottleneck::kUnknown;
  double seconds = 0;
  double share = 0;  ///< of Answer::total_s
  std::size_t phases = 0;
  double confidence = 0;  ///< mean, by time
  std::string evidence;   ///< short: "EA 93 %, TA 83 %; DRAM 71 of 73 GB/s"; may be empty
};

/// Of a whole report. Sentences are complete; no text is empty unless said.
struct Answer {
  /// The class with most time, other than idle and unknown where another one was seen at all;
  /// absent without phases.
  std::optional<analysis::Bottleneck> bottleneck;
  double confidence = 0;
  double total_s = 0;    ///< of the recording or the selection
  std::string headline;  ///< "Limited by memory bandwidth"; "SIMULATED: ..." of a simulated GPU
  /// The headline with how long and how sure, for where there is one line: "Limited by memory
  /// bandwidth for 30:41 of 60:00 (51 %). Sure."
  std::string first_line;
  std::string how_long;  ///< "30:41 of 60:00 (51 %), in 7 phases"; empty without phases
  /// "the CPU or a frame limit 10:34 (18 %), idle 1:02 (2 %)": the next three; empty = no other.
  std::string next;
  std::string why;        ///< "Memory bandwidth was the limit. DRAM moved 71 of 73 GB/s ..."
  std::string player;     ///< what to try; empty where nothing helps
  std::string developer;  ///< of an engine; empty where nothing helps
  std::string how_sure;   ///< "Sure.": with the reason and what would change the verdict
  std::vector<std::string> limits;  ///< what could not be judged and what to do about it
  std::vector<ClassTime> classes;   ///< most time first; empty without phases
};
[[nodiscard]] Answer answer_of(const Report& report);

[[nodiscard]] inline bool is_known(const analysis::Range& range) {
  return range.lower || range.upper;
}
/// "1.8 - 2.1", "< 6", "> 20", "not known": two digits, rounded outwards.
[[nodiscard]] std::string range_text(const analysis::Range& range);
/// "below 0.35 of the ridge, < 6 FLOP/B; 71 - 73 GB/s": the ridge first.
[[nodiscard]] std::string position_text(const analysis::Position& position);
/// "93 % (±1)", "93 % (±<1)"; without an interval "93 %".
[[nodiscard]] std::string busy_text(double busy, const std::optional<analysis::Interval>& interval);

}  // namespace gputrace::report
