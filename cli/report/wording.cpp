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

/// "SPI 99 % (±<1), EA 41 % (±2)": the units that show the class.
std::string units_text(const ClassSummary& summary, bool intervals, std::string_view between) {
  std::string text;
  for (const UnitNames& names : class_words(summary.bottleneck).units) {
    const UnitMean* unit = find_mean(summary, names);
    if (unit != nullptr) {
      text += fmt::format(
          "{}{} {}", text.empty() ? "" : between, short_name(unit->name),
          intervals ? busy_text(unit->busy, unit->ci95) : busy_text(unit->busy, std::nullopt));
    }
  }
  return text;
}

std::string short_evidence(const ClassSummary& summary, const Report& report) {
  std::string text = units_text(summary, false, " ");
  const bool of_memory = summary.bottleneck == Bottleneck::kBandwidth ||
                         summary.bottleneck == Bottleneck::kLatency ||
                         summary.bottleneck == Bottleneck::kMemory;
  if (summary.gbps && of_memory) {
    text += fmt::format("{}DRAM {}", text.empty() ? "" : "; ",
                        traffic_text(report, *summary.gbps, "/"));
  }
  return text;
}

/// What was seen, for after a colon; may be empty.
std::string evidence_text(const ClassSummary& summary, const Report& report) {
  std::string text;
  switch (summary.bottleneck) {
    case Bottleneck::kBandwidth:
    case Bottleneck::kLatency:
    case Bottleneck::kMemory: {
      if (summary.gbps) {
        text = fmt::format("DRAM moved {}", traffic_text(report, *summary.gbps, " of "));
      }
      constexpr UnitNames kInFlight{"EA", ""};
      if (const UnitMean* unit = find_mean(summary, kInFlight)) {
        return fmt::format("{}{}requests to it were in flight {} of the time", text,
                           text.empty() ? "" : "; ", busy_text(unit->busy, unit->ci95));
      }
      const std::string units = units_text(summary, true, ", ");
      return text.empty() || units.empty() ? text + units : text + "; " + units;
    }
    case Bottleneck::kCpu:
    case Bottleneck::kIdle:
      if (const UnitMean* unit =
              find_mean(summary, class_words(summary.bottleneck).units.front())) {
        return fmt::format("it had work {} of the time", busy_text(unit->busy, unit->ci95));
      }
      return "";
    default:
      text = units_text(summary, true, ", ");
      return text.empty() ? "" : "busy " + text;
  }
}

/// The first sentence of evidence of the longest phase; may be empty.
std::string first_evidence(const ClassSummary& summary) {
  const std::vector<std::string>& evidence = summary.phases.front()->evidence;
  return evidence.empty() ? "" : evidence.front();
}

std::string why_text(const ClassSummary& summary, const Report& report) {
  const ClassWords& words = class_words(summary.bottleneck);
  std::string text;
  if (summary.bottleneck == Bottleneck::kUnknown) {
    const std::string reason = first_evidence(summary);
    add_sentence(text, reason.empty() ? words.sentence : upper_first(reason));
    return text;
  }
  const std::string evidence = evidence_text(summary, report);
  const bool told = summary.confidence >= kGuess;
  const std::string_view sentence = told ? words.sentence : "What was seen";
  if (evidence.empty()) {
    add_sentence(text, told ? sentence : std::string_view());
  } else {
    add_sentence(text, fmt::format("{}: {}", sentence, evidence));
  }
  const PowerFacts power = power_facts(summary, report);
  if (summary.bottleneck == Bottleneck::kCompute && power.limit == PowerLimit::kAtLimit &&
      power.power_w && power.cap_w) {
    add_sentence(text, fmt::format("Power was at its limit, {:.0f} of {:.0f} W, which bounds the "
                                   "clock",
                                   *power.power_w, *power.cap_w));
  }
  return text.empty() ? std::string(words.sentence) + "." : text;
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

std::string headline_text(const ClassSummary& main, const std::vector<ClassSummary>& classes,
                          double total_s) {
  const ClassWords& words = class_words(main.bottleneck);
  std::string text(words.headline);
  if (is_judged(main.bottleneck)) {
    const auto second =
        std::find_if(classes.begin(), classes.end(), [&main](const ClassSummary& other) {
          return is_judged(other.bottleneck) && other.bottleneck != main.bottleneck;
        });
    if (main.confidence < kGuess) {
      return fmt::format("Cannot tell what limited it; {} fits best", words.limit);
    }
    const bool idle_first = classes.front().bottleneck == Bottleneck::kIdle;
    const bool unknown_first = classes.front().bottleneck == Bottleneck::kUnknown;
    if (idle_first) {
      text = "Mostly idle, otherwise " + lower_first(text);
    } else if (unknown_first) {
      text = "Cannot tell for most of it, otherwise " + lower_first(text);
    } else if (second != classes.end() && main.seconds < kNotAlone * total_s &&
               second->seconds >= kWorthNaming * total_s && second->confidence >= kGuess) {
      const bool by = text.rfind("Limited by", 0) == 0;
      text += fmt::format("; at other times {}by {}", by ? "" : "limited ",
                          class_words(second->bottleneck).limit);
    }
    if (main.confidence < kLikely) {
      text = "A guess: " + lower_first(text);
    }
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
  std::string text = upper_first(analysis::certainty_word(main.confidence));
  if (main.bottleneck == Bottleneck::kUnknown) {
    text = "Cannot tell";
  } else {
    const double percent = std::floor(100 * main.confidence + 1e-9);
    text +=
        fmt::format(": {} of trials with the figures moved within their error gave the same class",
                    percent >= 100 ? std::string("all") : fmt::format("{:.0f} %", percent));
  }
  text += ".";
  add_sentence(text, upper_first(main.phases.front()->would_change));
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
    answer.headline = headline_text(main, classes, answer.total_s);
    answer.how_long = how_long_text(main, answer.total_s);
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
      if (&summary != &main) {
        answer.next += fmt::format("{}{} {}", answer.next.empty() ? "" : ", ",
                                   class_words(summary.bottleneck).limit,
                                   time_share(summary.seconds, answer.total_s));
      }
    }
    answer.limits = limits_of(answer, report, classes);
  }
  if (report.gpu.simulated) {
    answer.headline = "SIMULATED: " + lower_first(answer.headline);
  }
  return answer;
}

}  // namespace gputrace::report
