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

std::string describe_samples(const ipc::ClosedAnswer& closed) {
  if (closed.samples == 0 || !(closed.seconds > 0)) {
    return "no sample was taken";
  }
  return fmt::format("{} sample{} in {:.2f} s ({:.0f} a second), {} missed", closed.samples,
                     closed.samples == 1 ? "" : "s", closed.seconds,
                     static_cast<double>(closed.samples) / closed.seconds, closed.missed);
}

}  // namespace

std::vector<std::string> summary_lines(const ipc::ReadyAnswer& ready,
                                       const std::optional<ipc::ClosedAnswer>& closed,
                                       const Delivery& delivery) {
  std::vector<std::string> lines{fmt::format("recorded {}{}{}", describe_gpu(ready),
                                             delivery.through.empty() ? "" : " through ",
                                             safe(delivery.through))};
  if (closed) {
    lines.push_back(describe_samples(*closed));
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
  if (closed.dropped > 0) {
    lines.push_back(fmt::format(
        "{} samples were dropped because the disk was too slow; record to a faster one with -o",
        closed.dropped));
  }
  const auto periods =
      static_cast<double>(closed.samples + closed.dropped) + static_cast<double>(closed.missed);
  if (closed.seconds >= kLongEnoughToTellS &&
      static_cast<double>(closed.missed) / periods > kMissedWorthAWarning) {
    lines.push_back(
        fmt::format("{:.1f} % of the periods were missed; `gputrace report` says what helps",
                    static_cast<double>(closed.missed) / periods * 100));
  }
  if (closed.unknown && *closed.unknown > kUnknownWorthAWarning) {
    lines.push_back(
        fmt::format("{:.0f} % of what was read says nothing; `gputrace report` has the reasons",
                    *closed.unknown * 100));
  }
  return lines;
}

}  // namespace gputrace::commands
