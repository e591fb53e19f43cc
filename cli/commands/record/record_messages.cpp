#include "cli/commands/record/record_messages.h"

#include <fmt/format.h>

#include "cli/report/terminal_text.h"

namespace gputrace::commands {

namespace {

constexpr double kUnknownWorthAWarning = 0.05;
constexpr double kMissedWorthAWarning = 0.01;
constexpr double kLongEnoughToTellS = 1;  ///< the first milliseconds of a process are not typical

std::string safe(const std::string& text) {
  return report::escape_for_terminal(text, false);
}

std::string describe_gpu(const ipc::ReadyAnswer& ready) {
  if (!ready.simulated) {
    return safe(ready.gpu_name);
  }
  return fmt::format("{}, SIMULATED (scenario {}, loaded in {:.3f} s)", safe(ready.gpu_name),
                     safe(ready.scenario), ready.load_seconds);
}

/// Absent: the recorder could not say.
std::optional<std::string> describe_samples(const ipc::ClosedAnswer& closed) {
  if (!closed.samples) {
    return std::nullopt;
  }
  const std::uint64_t samples = *closed.samples;
  const double seconds = closed.seconds.value_or(0);
  if (samples == 0 || !(seconds > 0)) {
    return "no sample was taken";
  }
  return fmt::format("{} sample{} in {:.2f} s ({:.0f} a second), {} missed", samples,
                     samples == 1 ? "" : "s", seconds, static_cast<double>(samples) / seconds,
                     closed.missed.value_or(0));
}

}  // namespace

std::vector<std::string> summary_lines(const ipc::ReadyAnswer& ready,
                                       const std::optional<ipc::ClosedAnswer>& closed,
                                       const Delivery& delivery) {
  std::vector<std::string> lines{fmt::format("recorded {}{}{}", describe_gpu(ready),
                                             delivery.through.empty() ? "" : " through ",
                                             safe(delivery.through))};
  if (const auto samples = closed ? describe_samples(*closed) : std::nullopt) {
    lines.push_back(*samples);
  }
  if (delivery.file) {
    lines.push_back(fmt::format("written to {}", safe(delivery.file->string())));
  }
  for (const std::vector<std::string>* notes : {&ready.notes, &delivery.notes}) {
    for (const std::string& note : *notes) {
      lines.push_back("note: " + safe(note));
    }
  }
  if (delivery.still_wal) {
    lines.emplace_back(
        "note: another program is reading the file; the next `gputrace list` completes it");
  }
  if (delivery.file) {
    lines.push_back(fmt::format("report with: gputrace report {}",
                                safe(report::quote_command({delivery.file->string()}))));
  }
  return lines;
}

std::vector<std::string> closing_warnings(const ipc::ClosedAnswer& closed) {
  std::vector<std::string> lines;
  if (closed.cut) {
    lines.push_back(fmt::format("{} could not be finished: {}. What was written before can be read",
                                safe(closed.file), safe(*closed.cut)));
  }
  const std::uint64_t dropped = closed.dropped.value_or(0);
  const std::uint64_t missed = closed.missed.value_or(0);
  if (dropped > 0) {
    lines.push_back(fmt::format(
        "{} samples were dropped because the disk was too slow; record to a faster one with -o",
        dropped));
  }
  const auto periods = static_cast<double>(closed.samples.value_or(0) + dropped + missed);
  const double missed_share = periods > 0 ? static_cast<double>(missed) / periods : 0;
  if (closed.seconds >= kLongEnoughToTellS && missed_share > kMissedWorthAWarning) {
    lines.push_back(
        fmt::format("{:.1f} % of the periods were missed; `gputrace report` says what helps",
                    missed_share * 100));
  }
  if (closed.unknown && *closed.unknown > kUnknownWorthAWarning) {
    lines.push_back(
        fmt::format("{:.0f} % of what was read says nothing; `gputrace report` has the reasons",
                    *closed.unknown * 100));
  }
  return lines;
}

}  // namespace gputrace::commands
