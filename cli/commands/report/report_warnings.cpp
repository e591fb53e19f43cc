#include "cli/commands/report/report_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/commands/report/sensor_warnings.h"
#include "cli/report/text_format.h"

namespace gputrace::commands {
namespace {

using report::format_count;
using report::format_percent;
using report::Report;
using report::Warning;

// Below these an effect is smaller than what else limits a reading.
constexpr double kMissedShare = 0.01;
constexpr double kUnknownShare = 0.01;

constexpr std::string_view kAllowFifo =
    "allow real-time scheduling: put `YOUR_USER - rtprio 20` into "
    "/etc/security/limits.d/gputrace.conf and log in again; or sample less often with --rate.";
constexpr std::string_view kHadFifo =
    "sample less often with --rate: sampling had real-time scheduling already.";

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

std::string_view unknown_hint(const report::Sampling& sampling) {
  const auto most =
      std::max_element(sampling.unknown_reasons.begin(), sampling.unknown_reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string reason = most == sampling.unknown_reasons.end() ? "" : most->first;
  if (reason == "all_ones") {
    return "reads gave 0xffffffff: the GPU was off the bus, powered down or in reset. Look for "
           "amdgpu messages in `dmesg`.";
  }
  if (reason == "reset") {
    return "the driver reset the GPU: look for the cause in `dmesg`.";
  }
  if (reason == "read_error" || reason == "lost") {
    return "check with `gputrace gpus` that the GPU can be read, and look into `dmesg`.";
  }
  if (reason == "absent") {
    return "the imported file has gaps there; record again without them if they matter.";
  }
  return "record again; if it stays, look for amdgpu messages in `dmesg`.";
}

void warn_origin(const Report& report, bool has_window_means, std::vector<Warning>& out) {
  if (report.gpu.simulated) {
    out.push_back({"simulated",
                   fmt::format("all values come from a model (scenario {}), not from a GPU: they "
                               "say nothing about hardware or about the command.",
                               report.gpu.scenario),
                   "use --gpu with a real GPU to measure one (`gputrace gpus` lists them)."});
  }
  if (report.session.imported) {
    std::string text =
        fmt::format("imported from {}: lateness, sleep and the cost of sampling are not known.",
                    report.session.origin);
    if (has_window_means) {
      text +=
          " Its percentages are kept as they are; without the number of changes there are no "
          "intervals.";
    } else {
      text += " The intervals assume that each sample was taken at a random instant.";
    }
    out.push_back({"imported", text, "`gputrace record` keeps what is missing here."});
  }
  if (std::any_of(report.units.begin(), report.units.end(),
                  [](const report::Unit& unit) { return unit.register_name == "radeontop"; })) {
    out.push_back({"radeontop_names",
                   "radeontop reads all chips with one table of R600 bits: on later chips ee, vgt "
                   "and sh may show other units, or none.",
                   "import again with --gc VERSION, which keeps what means the same there."});
  }
}

void warn_no_samples(const Report& report, std::vector<Warning>& out) {
  if (!report.units.empty()) {
    return;
  }
  const report::Sampling& sampling = report.sampling;
  const std::uint64_t samples = sampling.samples.value_or(0);
  if (samples > 0 && sampling.unknown.value_or(0) == 0 && sampling.asleep_share.value_or(0) > 0) {
    out.push_back({"no_samples", "the GPU was asleep all the time: no unit has a busy fraction.",
                   "record while the GPU has work."});
  } else {
    out.push_back({"no_samples", "there is no valid sample: no unit has a busy fraction.",
                   samples > 0 ? std::string(unknown_hint(sampling))
                               : "record for longer, or select another span."});
  }
}

/// The recorder notes it when SCHED_FIFO was refused.
std::string_view punctuality_hint(const std::vector<store::Event>& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const store::Event& event) { return event.kind == "no_realtime"; })
             ? kAllowFifo
             : kHadFifo;
}

void warn_sampling(const Report& report, const std::vector<store::Event>& events,
                   std::vector<Warning>& out) {
  const report::Sampling& sampling = report.sampling;
  const double unknown = report::unknown_share(sampling);
  if (unknown > kUnknownShare && !report.units.empty()) {
    out.push_back({"unknown",
                   fmt::format("{} of the samples are unknown; busy fractions are of the others.",
                               format_percent(unknown)),
                   std::string(unknown_hint(sampling))});
  }
  const double missed = static_cast<double>(sampling.missed.value_or(0));
  const double periods = missed + static_cast<double>(sampling.ticks.value_or(0));
  if (periods > 0 && missed / periods > kMissedShare) {
    out.push_back({"missed",
                   fmt::format("{} of the periods ended before their read began: moments at which "
                               "the machine was busy are under-represented.",
                               format_percent(missed / periods)),
                   std::string(punctuality_hint(events))});
  }
  if (sampling.rate_hz && sampling.late_p99_us &&
      *sampling.late_p99_us > 0.5e6 / *sampling.rate_hz) {
    out.push_back({"late",
                   fmt::format("1 % of the reads were over {:.0f} us late, more than half a "
                               "period: samples are less evenly spread than the intervals assume.",
                               *sampling.late_p99_us),
                   std::string(punctuality_hint(events))});
  }
  if (const std::uint64_t dropped = sampling.dropped.value_or(0); dropped > 0) {
    out.push_back(
        {"dropped",
         fmt::format("{} could not be written in time and are missing.", plural(dropped, "sample")),
         "record to a faster disk with -o, or sample less often with --rate."});
  }
}

/// What the first event of a kind says, and how many more there were; empty when there is none.
std::string events_text(const std::vector<store::Event>& events, std::string_view kind) {
  std::string first;
  std::uint64_t more = 0;
  for (const store::Event& event : events) {
    if (event.kind == kind && first.empty()) {
      first = event.text;
    } else if (event.kind == kind) {
      ++more;
    }
  }
  return more == 0 ? first : fmt::format("{} (and {} more)", first, plural(more, "time"));
}

void warn_events(const Report& report, const std::vector<store::Event>& events,
                 std::vector<Warning>& out) {
  if (report.session.cut) {
    out.push_back({"cut",
                   "the recording was not finished (killed, crashed or still running): up to the "
                   "last 2 s and the exit status are missing.",
                   "the rest is complete and can be used."});
  }
  if (const std::string steps = events_text(events, "clock_step"); !steps.empty()) {
    out.push_back({"clock_step",
                   steps + ": times of day after that do not fit the start. Times in this report "
                           "are not affected.",
                   ""});
  }
  if (const std::string suspends = events_text(events, "suspend"); !suspends.empty()) {
    out.push_back({"suspended", suspends + "; that time is in no sample.",
                   "use --from and --to to look at one side of it."});
  }
  for (const store::Event& event : events) {
    if (event.kind == "lost") {
      out.push_back({"lost", event.text, ""});
    } else if (event.kind == "warning") {
      out.push_back({report.session.imported ? "import" : "recorder", event.text, ""});
    }
  }
}

void warn_segments(const Report& report, std::vector<Warning>& out) {
  if (report.segments.empty()) {
    return;
  }
  const auto main = std::find_if(report.segments.begin(), report.segments.end(),
                                 [](const report::Segment& segment) { return segment.main; });
  for (const report::Segment& segment : report.segments) {
    if (main != report.segments.end() && segment.gpu != main->gpu) {
      out.push_back({"segment_gpu",
                     fmt::format("{} to {} is of another GPU, {}, and in no number of this report.",
                                 report::format_duration(segment.start_s),
                                 report::format_duration(segment.end_s), segment.gpu),
                     "use --from and --to to look at it."});
    }
  }
  out.push_back(
      {"segments",
       fmt::format("GPU, registers or rate changed while recording: {}. GPU and sampling describe "
                   "the longest, {}; units are summed over the segments of that GPU.",
                   plural(report.segments.size(), "segment"),
                   main == report.segments.end()
                       ? std::string("unknown")
                       : fmt::format("{} to {}", report::format_duration(main->start_s),
                                     report::format_duration(main->end_s))),
       "use --from and --to to look at one of them."});
}

}  // namespace

std::vector<Warning> report_warnings(const Report& report, const std::vector<store::Event>& events,
                                     bool has_window_means) {
  std::vector<Warning> warnings;
  warn_origin(report, has_window_means, warnings);
  warn_no_samples(report, warnings);
  warn_sampling(report, events, warnings);
  warn_segments(report, warnings);
  warn_sensors(report, warnings);
  warn_events(report, events, warnings);
  return warnings;
}

}  // namespace gputrace::commands
