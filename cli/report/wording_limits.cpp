#include "cli/report/wording_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report/sentences.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

using analysis::Bottleneck;

void say_unjudged(std::vector<std::string>& limits, const Answer& answer,
                  const std::vector<ClassSummary>& classes) {
  double seconds = 0;
  const Phase* longest = nullptr;
  for (const ClassSummary& summary : classes) {
    for (const Phase* phase : summary.phases) {
      const bool unjudged = phase->bottleneck == Bottleneck::kUnknown || phase->confidence < kGuess;
      if (!unjudged) {
        continue;
      }
      const double length = phase->end_s - phase->start_s;
      seconds += length;
      if (longest == nullptr || length > longest->end_s - longest->start_s) {
        longest = phase;
      }
    }
  }
  // The answer itself says so when it is unknown.
  const bool said = answer.bottleneck == Bottleneck::kUnknown || answer.confidence < kGuess;
  if (longest == nullptr || seconds < kSmallShare * answer.total_s || said) {
    return;
  }
  std::string text = fmt::format("{} could not be judged.", time_share(seconds, answer.total_s));
  add_sentence(text, evidence_of(*longest));
  add_sentence(text, upper_first(longest->would_change));
  limits.push_back(text);
}

void say_witness(std::vector<std::string>& limits, const Answer& answer, const Report& report) {
  const bool memory =
      std::any_of(answer.classes.begin(), answer.classes.end(), [](const ClassTime& time) {
        return time.bottleneck == Bottleneck::kMemory && time.confidence >= kGuess;
      });
  // What would change the verdict says it where memory is the answer.
  if (memory && answer.bottleneck != Bottleneck::kMemory) {
    limits.emplace_back(
        report.session.imported
            ? "Nothing in the imported file tells memory bandwidth from latency: `gputrace record` "
              "also records DRAM traffic where it can."
            : "Nothing recorded tells memory bandwidth from latency: DRAM traffic was not "
              "readable. "
              "`gputrace doctor` says what it takes.");
  }
}

void say_roof(std::vector<std::string>& limits, const Report& report,
              const std::vector<ClassSummary>& classes) {
  const analysis::Ceiling* roof = memory_roof(report);
  if (roof == nullptr) {
    return;
  }
  for (const ClassSummary& summary : classes) {
    if (summary.gbps && *summary.gbps > roof->upper.value_or(roof->value)) {
      limits.push_back(
          fmt::format("DRAM traffic of {:.0f} GB/s lies above the {:.0f} GB/s that were measured: "
                      "the roof or the counter is wrong. `gputrace calibrate` measures the roof "
                      "anew.",
                      *summary.gbps, roof->value));
      return;
    }
  }
}

void say_position(std::vector<std::string>& limits, const Report& report) {
  const bool placed = std::any_of(
      report.phases.begin(), report.phases.end(),
      [](const Phase& phase) { return phase.position && is_known(phase.position->intensity); });
  const bool any_work =
      std::any_of(report.phases.begin(), report.phases.end(), [](const Phase& phase) {
        return is_judged(phase.bottleneck) && phase.bottleneck != Bottleneck::kCpu;
      });
  if (placed || !any_work) {
    return;
  }
  const auto warned =
      std::find_if(report.warnings.begin(), report.warnings.end(), [](const Warning& warning) {
        return warning.code == "no_calibration" || warning.code == "calibration_refused" ||
               warning.code == "calibration_flat";
      });
  if (warned != report.warnings.end()) {
    limits.push_back(fmt::format(
        "No place on the roofline: the warning {} says why, and what to run.", warned->code));
  } else if (!report.machine || report.machine->source.empty()) {
    limits.emplace_back(
        "No place on the roofline: there is no calibration of this GPU. `gputrace calibrate` makes "
        "one.");
  } else if (report.machine->fit.use == analysis::CalibrationUse::kRefused) {
    std::string text = "No place on the roofline: the calibration does not fit this recording.";
    add_sentence(text, upper_first(report.machine->fit.why));
    add_sentence(text, "`gputrace calibrate` under the same conditions makes one that does");
    limits.push_back(text);
  } else {
    limits.emplace_back(
        "No place on the roofline: the busy fractions fit no workload of the calibration.");
  }
}

/// Time in which nothing was sampled: suspended, or rows that an imported file does not have.
void say_holes(std::vector<std::string>& limits, const Answer& answer, const Report& report) {
  constexpr double kHoleS = 1;  // shorter ones are no change of phase
  double seconds = answer.total_s;
  for (const Phase& phase : report.phases) {
    seconds -= phase.end_s - phase.start_s;
  }
  if (seconds >= kHoleS && seconds >= kSmallShare * answer.total_s) {
    limits.push_back(fmt::format("{} without any sample: nothing is known of that time.",
                                 time_share(seconds, answer.total_s)));
  }
}

void say_registers(std::vector<std::string>& limits, const Report& report) {
  if (report.units.empty()) {
    return;  // nothing was read at all, which is told
  }
  std::string names;
  for (const UnknownRegister& reg : report.unknown_registers) {
    names += (names.empty() ? "" : ", ") + reg.name;
  }
  if (!names.empty()) {
    limits.push_back(
        fmt::format("{} not recorded: fewer limits can be told apart, and less surely.", names));
  }
}

}  // namespace

std::string evidence_of(const Phase& phase) {
  constexpr std::string_view kCannotTell = "Cannot tell: ";
  std::string text;
  for (const std::string& sentence : phase.evidence) {
    const bool repeats = sentence.rfind(kCannotTell, 0) == 0;
    add_sentence(text, upper_first(repeats ? std::string_view(sentence).substr(kCannotTell.size())
                                           : std::string_view(sentence)));
  }
  return text;
}

std::string time_share(double seconds, double total_s) {
  return fmt::format("{} ({})", format_duration(seconds), format_percent(seconds / total_s));
}

std::vector<std::string> limits_of(const Answer& answer, const Report& report,
                                   const std::vector<ClassSummary>& classes) {
  std::vector<std::string> limits;
  say_unjudged(limits, answer, classes);
  say_holes(limits, answer, report);
  say_witness(limits, answer, report);
  say_roof(limits, report, classes);
  say_position(limits, report);
  say_registers(limits, report);
  return limits;
}

}  // namespace gputrace::report
