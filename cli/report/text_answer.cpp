#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "cli/report/text_format.h"
#include "cli/report/wording.h"

namespace gputrace::report {
namespace {

/// A unit that is busy less than this is not worth a sentence.
constexpr double kHighBusy = 0.5;

const Unit* find_whole_pipe(const std::vector<Unit>& units) {
  const auto it = std::find_if(units.begin(), units.end(), is_whole_pipe);
  return it == units.end() ? nullptr : &*it;
}

/// The busiest unit of each group behind the front end; a whole-GPU bit before an engine's.
std::map<regdb::UnitGroup, const Unit*> busiest_units(const std::vector<Unit>& units) {
  std::map<regdb::UnitGroup, const Unit*> busiest;
  const auto better = [](const Unit& a, const Unit& b) {
    return a.engine.has_value() != b.engine.has_value() ? !a.engine.has_value() : a.busy > b.busy;
  };
  for (const Unit& unit : units) {
    if (unit.group == regdb::UnitGroup::kFrontEnd || unit.busy <= 0) {
      continue;
    }
    const Unit*& best = busiest[unit.group];
    if (best == nullptr || better(unit, *best)) {
      best = &unit;
    }
  }
  return busiest;
}

void append_no_samples(Page& page, const Report& report) {
  const Sampling& sampling = report.sampling;
  const std::uint64_t samples = sampling.samples.value_or(0);
  const bool slept = sampling.asleep_share && *sampling.asleep_share >= 1;
  const std::string why =
      slept ? "the GPU was asleep for all of it, which is certain, and nothing else is known"
      : samples > 0
          ? fmt::format("of {} samples none could be read ({}{})", format_count(samples),
                        page.safe(reasons_text(sampling)),
                        sampling.asleep_share.value_or(0) > 0 ? ", the others asleep" : "")
          : std::string("there is no sample in it");
  page.paragraph(fmt::format("No valid sample: {}. How busy each unit was is unknown, not 0.", why),
                 0);
}

void append_few_samples(Page& page) {
  page.paragraph(fmt::format("Fewer than {} valid samples: too few to say how busy the GPU was.",
                             analysis::kMinSamplesForInterval),
                 0);
}

std::string pipe_sentence(const Page& page, const Report& report, const Unit& pipe) {
  const double asleep = report.sampling.asleep_share.value_or(0);
  const std::string when =
      asleep > 0
          ? fmt::format("the time it was awake; it slept {} of the time", format_percent(asleep))
          : "the time";
  return fmt::format("The GPU had work {} of {} ({}).", format_percent(pipe.busy), when,
                     page.safe(pipe.name));
}

/// What is left to say where no limit is named.
void append_busiest(Page& page, const Report& report) {
  if (has_few_samples(report.units)) {
    append_few_samples(page);
    return;
  }
  if (const Unit* pipe = find_whole_pipe(report.units)) {
    page.paragraph(pipe_sentence(page, report, *pipe), 0);
  }
  const Unit* top = nullptr;
  std::string names;
  for (const auto& [group, unit] : busiest_units(report.units)) {
    names += fmt::format("{}{} {} ({})", names.empty() ? "" : ", ", page.safe(unit_label(*unit)),
                         format_percent(unit->busy), regdb::to_string(group));
    top = top == nullptr || unit->busy > top->busy ? unit : top;
  }
  if (top == nullptr) {
    page.paragraph("No unit behind the front end was seen busy.", 0);
    return;
  }
  page.paragraph(fmt::format("Busiest: {}.", names), 0);
  if (top->busy >= kHighBusy && !top->suggests.empty()) {
    page.paragraph(
        fmt::format("High {} suggests: {}", page.safe(unit_label(*top)), page.safe(top->suggests)),
        0);
  }
  page.paragraph(
      "A busy unit has work in it, which does not mean that it is at its limit: busy bits "
      "alone cannot tell bandwidth from latency, nor name the one unit that limits.",
      0, Ink::kDim);
}

void append_entry(Page& page, std::string_view key, const std::string& text) {
  if (!text.empty()) {
    page.entry(key, page.words(text));
  }
}

}  // namespace

void append_answer(Page& page, const Report& report) {
  const Answer answer = answer_of(report);
  page.paragraph(page.words(answer.first_line), 0, Ink::kBold);
  if (report.phases.empty()) {
    if (report.units.empty()) {
      append_no_samples(page, report);
    } else {
      append_entry(page, "why", answer.why);
      append_entry(page, "how sure", answer.how_sure);
      append_busiest(page, report);
    }
    return;
  }
  append_entry(page, "next", answer.next);
  append_entry(page, "why", answer.why);
  append_entry(page, "try", answer.player);
  append_entry(page, "engine", answer.developer);
  append_entry(page, "how sure", answer.how_sure);
  for (std::size_t i = 0; i < answer.limits.size(); ++i) {
    page.entry(i == 0 ? "limits" : "", page.words(answer.limits[i]));
  }
  const Unit* pipe = find_whole_pipe(report.units);
  if (report.units.empty()) {
    append_no_samples(page, report);
  } else if (has_few_samples(report.units)) {
    append_few_samples(page);
  } else if (pipe != nullptr) {
    page.entry("work", pipe_sentence(page, report, *pipe));
  }
}

}  // namespace gputrace::report
