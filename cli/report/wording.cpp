#include "cli/report/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/class_summary.h"
#include "cli/report/class_words.h"
#include "cli/report/sentences.h"
#include "cli/report/text_format.h"
#include "cli/report/wording_limits.h"

namespace gputrace::report {
namespace {

using analysis::Bottleneck;

constexpr double kLikely = 0.7;
/// Two classes share the headline when the first has less than that and the second at least this.
constexpr double kNotAlone = 0.6;
constexpr double kWorthNaming = 0.25;
constexpr double kNearlyAll = 0.9995;
/// More are in the table.
constexpr std::size_t kMostNext = 3;

double total_of(const Report& report) {
  double phases = 0;
  for (const Phase& phase : report.phases) {
    phases += std::max(0.0, phase.end_s - phase.start_s);
  }
  const double shown = report.selection ? report.selection->to_s - report.selection->from_s
                                        : report.session.duration_s.value_or(0);
  return std::max(shown, phases);
}

std::string traffic_text(const Report& report, double gbps, std::string_view between) {
  const analysis::Ceiling* roof = memory_roof(report);
  return roof == nullptr ? fmt::format("{:.0f} GB/s", gbps)
                         : fmt::format("{:.0f}{}{:.0f} GB/s", gbps, between, roof->value);
}

constexpr std::size_t kFewUnits = 3;

/// "EA 93 % TA 83 %; DRAM 71/73 GB/s": the units that show the class, and traffic.
std::string short_evidence(const ClassSummary& summary, const Report& report) {
  const bool of_memory = summary.bottleneck == Bottleneck::kBandwidth ||
                         summary.bottleneck == Bottleneck::kLatency ||
                         summary.bottleneck == Bottleneck::kMemory;
  const bool traffic = summary.gbps && of_memory;
  std::string text;
  std::size_t count = 0;
  for (const UnitNames& names : class_words(summary.bottleneck).units) {
    const UnitMean* unit = find_mean(summary, names);
    if (unit != nullptr && count < (traffic ? kFewUnits - 1 : kFewUnits)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : " ", short_name(unit->name),
                          busy_text(unit->busy, std::nullopt));
      ++count;
    }
  }
  if (traffic) {
    text += fmt::format("{}DRAM {}", text.empty() ? "" : "; ",
                        traffic_text(report, *summary.gbps, "/"));
  }
  return text;
}

/// The means of the units that show the class, with intervals, for where a phase brings no
/// sentences.
std::string means_text(const ClassSummary& summary) {
  std::string text;
  for (const UnitNames& names : class_words(summary.bottleneck).units) {
    if (const UnitMean* unit = find_mean(summary, names)) {
      text += fmt::format("{}{} {}", text.empty() ? "Busy: " : ", ", short_name(unit->name),
                          busy_text(unit->busy, unit->ci95));
    }
  }
  return text;
}

std::string why_text(const ClassSummary& summary, const Report& report) {
  const ClassWords& words = class_words(summary.bottleneck);
  const Phase& longest = *summary.phases.front();
  const bool told = summary.confidence >= kGuess && summary.bottleneck != Bottleneck::kUnknown;
  std::string text;
  const std::string evidence = evidence_of(longest);
  // Evidence of waiting and of idleness says the same.
  const bool repeats =
      summary.bottleneck == Bottleneck::kCpu || summary.bottleneck == Bottleneck::kIdle;
  if (told && (evidence.empty() || !repeats)) {
    add_sentence(text, words.sentence);
  }
  if (summary.phases.size() > 1) {
    const bool fine = longest.end_s < kFineClockS;
    text += fmt::format("{}In the longest phase, {} to {}:", text.empty() ? "" : " ",
                        format_clock(longest.start_s, fine), format_clock(longest.end_s, fine));
  }
  add_sentence(text, evidence.empty() ? means_text(summary) : evidence);
  const PowerFacts power = power_facts(summary, report);
  if (summary.bottleneck == Bottleneck::kCompute && power.limit == PowerLimit::kAtLimit &&
      power.power_w && power.cap_w) {
    add_sentence(text, fmt::format("Power was at its limit, {:.0f} of {:.0f} W, which bounds the "
                                   "clock",
                                   *power.power_w, *power.cap_w));
  }
  if (text.empty()) {
    add_sentence(text, words.sentence);
  }
  return text;
}

std::string player_text(const ClassSummary& summary, const Report& report) {
  if (summary.confidence < kGuess) {
    return "";
  }
  std::string text(class_words(summary.bottleneck).player);
  const PowerFacts power = power_facts(summary, report);
  if (!power.power_w || !power.cap_w) {
    return text;
  }
  if (summary.bottleneck == Bottleneck::kBandwidth && power.limit == PowerLimit::kBelowLimit) {
    add_sentence(text, fmt::format("More GPU power will not help: at most {:.0f} of the {:.0f} W "
                                   "allowed were drawn",
                                   *power.power_w, *power.cap_w));
  } else if (summary.bottleneck == Bottleneck::kCompute && power.limit == PowerLimit::kAtLimit) {
    add_sentence(text, "Raise the power limit, if cooling allows");
  }
  return text;
}

/// "; at other times by the shader cores": a second class that is worth the headline, or nothing.
std::string also_text(const ClassSummary& main, const std::vector<ClassSummary>& classes,
                      double total_s) {
  const auto second =
      std::find_if(classes.begin(), classes.end(), [&main](const ClassSummary& other) {
        return is_judged(other.bottleneck) && other.bottleneck != main.bottleneck;
      });
  const bool worth = is_judged(main.bottleneck) && main.confidence >= kGuess &&
                     main.seconds < kNotAlone * total_s && second != classes.end() &&
                     second->seconds >= kWorthNaming * total_s && second->confidence >= kGuess;
  if (!worth) {
    return "";
  }
  const bool by = class_words(main.bottleneck).headline.rfind("Limited by", 0) == 0;
  return fmt::format("; at other times {}by {}", by ? "" : "limited ",
                     class_words(second->bottleneck).limit);
}

std::string headline_text(const ClassSummary& main, const std::vector<ClassSummary>& classes) {
  const ClassWords& words = class_words(main.bottleneck);
  std::string text(words.headline);
  if (!is_judged(main.bottleneck)) {
    return text;
  }
  if (main.confidence < kGuess) {
    return fmt::format("Cannot tell what limited it; {} fits best", words.limit);
  }
  if (main.confidence < kLikely) {
    text = "A guess: " + lower_first(text);
  }
  if (classes.front().bottleneck == Bottleneck::kIdle) {
    text = "Mostly idle, otherwise " + lower_first(text);
  } else if (classes.front().bottleneck == Bottleneck::kUnknown) {
    text = "Cannot tell for most of it, otherwise " + lower_first(text);
  }
  return text;
}

std::string how_long_text(const ClassSummary& main, double total_s) {
  const std::string phases =
      main.phases.size() > 1 ? fmt::format(", in {} phases", main.phases.size()) : "";
  return main.seconds >= kNearlyAll * total_s
             ? fmt::format("all {}{}", format_duration(total_s), phases)
             : fmt::format("{} of {} ({}){}", format_duration(main.seconds),
                           format_duration(total_s), format_percent(main.seconds / total_s),
                           phases);
}

std::string how_sure_text(const ClassSummary& main) {
  std::string text = "Cannot tell.";
  if (main.bottleneck != Bottleneck::kUnknown) {
    text = fmt::format("{} (confidence {:.0f} %).",
                       upper_first(analysis::certainty_word(main.confidence)),
                       std::floor(100 * main.confidence + 1e-9));
  }
  add_sentence(text, upper_first(main.phases.front()->would_change));
  return text;
}

/// The classes beside the main one, most time first.
std::string next_text(const ClassSummary& main, const std::vector<ClassSummary>& classes,
                      double total_s) {
  std::string text;
  std::size_t count = 0;
  for (const ClassSummary& summary : classes) {
    const bool named = count < kMostNext && summary.seconds >= kSmallShare * total_s;
    if (&summary != &main && named) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", class_words(summary.bottleneck).beside,
                      time_share(summary.seconds, total_s));
      ++count;
    }
  }
  return text;
}

void answer_without_phases(Answer& answer, const Report& report) {
  answer.headline = "Cannot tell what limited it";
  const double asleep = report.sampling.asleep_share.value_or(0);
  if (report.units.empty() && asleep >= 1) {
    answer.headline = "The GPU slept";
    answer.why = "It was asleep for all of the recording, which is certain.";
    answer.how_sure = "Sure.";
  } else if (report.units.empty()) {
    answer.why = "There is no valid sample: how busy each unit was is unknown, not 0.";
    answer.how_sure = "Cannot tell. `gputrace doctor` says what can be read here.";
  } else {
    answer.why = "There is too little to find a stretch with one limit.";
    answer.how_sure = "Cannot tell. Record for longer: some seconds of steady load are enough.";
  }
}

}  // namespace

std::string_view limit_words(analysis::Bottleneck bottleneck) {
  return class_words(bottleneck).limit;
}

std::string_view headline_words(analysis::Bottleneck bottleneck) {
  return class_words(bottleneck).headline;
}

Answer answer_of(const Report& report) {
  Answer answer;
  answer.total_s = total_of(report);
  const std::vector<ClassSummary> classes = summarize_classes(report.phases);
  if (classes.empty()) {
    answer_without_phases(answer, report);
  } else {
    const auto judged =
        std::find_if(classes.begin(), classes.end(),
                     [](const ClassSummary& summary) { return is_judged(summary.bottleneck); });
    const ClassSummary& main = judged == classes.end() ? classes.front() : *judged;
    answer.bottleneck = main.bottleneck;
    answer.confidence = main.confidence;
    const std::string also = also_text(main, classes, answer.total_s);
    answer.headline = headline_text(main, classes);
    answer.how_long = how_long_text(main, answer.total_s);
    answer.first_line =
        is_judged(main.bottleneck) || main.bottleneck == Bottleneck::kIdle
            ? fmt::format("{} for {}{}. {}.", answer.headline, answer.how_long, also,
                          upper_first(analysis::certainty_word(main.confidence)))
            : fmt::format("{} ({}).", answer.headline, answer.how_long);
    answer.headline += also;
    answer.next = next_text(main, classes, answer.total_s);
    answer.why = why_text(main, report);
    answer.player = player_text(main, report);
    answer.developer = main.confidence < kGuess ? "" : class_words(main.bottleneck).developer;
    answer.how_sure = how_sure_text(main);
    for (const ClassSummary& summary : classes) {
      answer.classes.push_back({.bottleneck = summary.bottleneck,
                                .seconds = summary.seconds,
                                .share = summary.seconds / answer.total_s,
                                .phases = summary.phases.size(),
                                .confidence = summary.confidence,
                                .evidence = short_evidence(summary, report)});
    }
    answer.limits = limits_of(answer, report, classes);
  }
  if (answer.first_line.empty()) {
    answer.first_line = answer.headline + ".";
  }
  if (report.gpu.simulated) {
    answer.headline = "SIMULATED: " + lower_first(answer.headline);
    answer.first_line = "SIMULATED: " + lower_first(answer.first_line);
  }
  return answer;
}

}  // namespace gputrace::report
