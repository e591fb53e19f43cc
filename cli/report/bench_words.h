// The short answer of each test of a bench, for text and pages alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/bench_result.h"

namespace gputrace::report {

/// What is worth telling first of a derived value: what was read from curves, and measured values
/// with an interval. The rest are figures beside the points.
[[nodiscard]] bool is_answer(const analysis::DerivedValue& value);
/// "level 1: 32 KiB (28 KiB .. 40 KiB), sure; knee of latency"; `with_source`: what it was read
/// from.
[[nodiscard]] std::string derived_text(const analysis::DerivedValue& value, bool with_source);
/// The answers of a test, most important first; where nothing was derived, its range in one line.
[[nodiscard]] std::vector<std::string> answers_of(const analysis::TestResult& test);

/// Kinds of tests in the order of the run, each once: "latency" of all its paths.
[[nodiscard]] std::vector<std::string> kinds_of(const analysis::BenchRun& run);
/// Of one kind of test what was read from curves, then what was measured with an interval, then
/// ranges of points; each begins with the rest of its test's name.
[[nodiscard]] std::vector<std::string> best_answers(const analysis::BenchRun& run,
                                                    std::string_view kind);

/// "latency.vector: ns a hop by working set".
[[nodiscard]] std::string test_title(const analysis::TestResult& test);
/// "skipped: the device has no fp64"; empty for a test that is ok and left nothing out.
[[nodiscard]] std::string status_sentence(const analysis::TestResult& test);
/// "Proofs: result passed, ISA not done, rate passed"; empty where none was done.
[[nodiscard]] std::string proof_sentence(const analysis::TestResult& test);
/// How the counts of the formulas compare with the code; each that does not agree by name.
struct CountSentences {
  std::vector<std::string> differing;
  std::vector<std::string> others;
};
[[nodiscard]] CountSentences count_sentences(const std::vector<analysis::CountCheck>& counts);
/// Driver, address, subgroups, clock, power, temperature: what is known of the device.
[[nodiscard]] std::vector<std::string> device_facts(const analysis::BenchRun& run);

}  // namespace gputrace::report
