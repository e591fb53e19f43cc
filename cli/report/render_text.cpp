#include "cli/report/render_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

/// A report opens with its unknown samples above this share.
constexpr double kUnknownHeadline = 0.05;
/// A longer command is cut; --json has all of it.
constexpr std::size_t kCommandLines = 4;

void append_banners(Page& page, const Report& report) {
  if (report.gpu.simulated) {
    page.paragraph(fmt::format("SIMULATED GPU, scenario {}: no hardware was measured.",
                               page.safe(report.gpu.scenario)),
                   0, Ink::kCaution);
  }
  if (unknown_share(report.sampling) > kUnknownHeadline && !report.units.empty()) {
    page.paragraph(fmt::format("{} of the samples are unknown ({}). All shares below are of the "
                               "others and may not speak for the whole.",
                               format_percent(unknown_share(report.sampling)),
                               page.safe(reasons_text(report.sampling))),
                   0, Ink::kCaution);
  }
}

std::string when_text(const Session& session) {
  std::string text = "at an unknown time";
  if (session.started_at) {
    const std::string& time = *session.started_at;  // 2026-11-29T22:27:15.123Z
    text =
        time.size() > 19 ? fmt::format("{} {} UTC", time.substr(0, 10), time.substr(11, 8)) : time;
  }
  if (session.duration_s) {
    text += fmt::format(", {}", format_duration(*session.duration_s));
  }
  if (session.signal) {
    text += fmt::format(", ended by signal {}", *session.signal);
  } else if (session.exit_code) {
    text += fmt::format(", exit status {}", *session.exit_code);
  }
  return text + (session.cut ? ", CUT: its end is missing" : "");
}

std::string gpu_text(const Page& page, const Gpu& gpu) {
  std::string text = gpu.name.empty() ? "not named in the file" : page.safe(gpu.name);
  text += gpu.simulated ? " (SIMULATED)" : "";
  text += gpu.gc ? fmt::format(", GC {}", *gpu.gc) : ", GC version unknown";
  return gpu.pci ? fmt::format("{}, {}", text, page.safe(*gpu.pci)) : text;
}

void append_header(Page& page, const Report& report) {
  const Session& session = report.session;
  page.line(clip(session.label ? page.safe(*session.label) : "gputrace report", page.text_width()),
            Ink::kBold);
  if (session.command) {
    page.entry("command",
               clip(page.safe(quote_command(*session.command)), kCommandLines * page.text_width()));
  }
  page.entry("GPU", gpu_text(page, report.gpu));
  page.entry(session.imported ? "imported" : "recorded",
             session.imported
                 ? fmt::format("from {}; {}", page.safe(session.origin), when_text(session))
                 : when_text(session));
  if (report.selection) {
    page.entry("selected", fmt::format("{} to {} of it", format_duration(report.selection->from_s),
                                       format_duration(report.selection->to_s)));
  }
  page.entry("file", page.safe(session.file));
}

std::string registers_text(const Page& page, const std::vector<SampledRegister>& registers) {
  // Registers that one call reads share source and cost.
  std::vector<std::pair<std::string, std::string>> groups;  // how -> names
  for (const SampledRegister& reg : registers) {
    const std::string how = reg.read_cost_ns ? fmt::format("{}, {:.1f} us", page.safe(reg.source),
                                                           *reg.read_cost_ns / 1000)
                                             : page.safe(reg.source);
    const auto it = std::find_if(groups.begin(), groups.end(),
                                 [&how](const auto& group) { return group.first == how; });
    if (it == groups.end()) {
      groups.emplace_back(how, page.safe(reg.name));
    } else {
      it->second += " " + page.safe(reg.name);
    }
  }
  std::string text;
  for (const auto& [how, names] : groups) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", names, how);
  }
  return text;
}

void append_sampling_quality(Page& page, const Report& report) {
  const Sampling& sampling = report.sampling;
  if (sampling.missed && sampling.dropped) {
    page.entry("missed",
               fmt::format("{} periods; {} samples dropped", format_count(*sampling.missed),
                           format_count(*sampling.dropped)));
  }
  if (sampling.late_p50_us && sampling.late_p99_us) {
    page.entry("late", fmt::format("half of the reads by up to {:.0f} us, 99 % by up to {:.0f} us",
                                   *sampling.late_p50_us, *sampling.late_p99_us));
  }
  if (sampling.unknown) {
    page.entry("unknown",
               *sampling.unknown == 0
                   ? std::string("0 samples")
                   : fmt::format("{} of the samples: {}", format_percent(unknown_share(sampling)),
                                 page.safe(reasons_text(sampling))));
  }
  page.entry("asleep",
             sampling.asleep_s ? format_duration(*sampling.asleep_s) : std::string("not known"));
  if (sampling.cpu_s) {
    const double length = report.session.duration_s.value_or(0);
    page.entry("own cost",
               length > 0 ? fmt::format("{:.2f} s of CPU time, {} of one core", *sampling.cpu_s,
                                        format_percent(*sampling.cpu_s / length))
                          : fmt::format("{:.2f} s of CPU time", *sampling.cpu_s));
  }
}

void append_sampling(Page& page, const Report& report) {
  const Sampling& sampling = report.sampling;
  page.line();
  page.line(
      report.selection ? "Sampling (missed, late and cost: of the whole recording)" : "Sampling",
      Ink::kBold);
  std::string rate = "number of samples not known";
  if (sampling.samples) {
    rate = fmt::format("{} sample{}", format_count(*sampling.samples),
                       *sampling.samples == 1 ? "" : "s");
  }
  if (sampling.achieved_hz) {
    rate = fmt::format("{:.1f} Hz reached; {}", *sampling.achieved_hz, rate);
  }
  if (sampling.rate_hz) {
    rate = fmt::format("{:g} Hz asked, {}", *sampling.rate_hz, rate);
  }
  page.entry("rate", rate);
  append_sampling_quality(page, report);
  if (!sampling.registers.empty()) {
    page.entry("registers", registers_text(page, sampling.registers));
  }
  if (sampling.kept_gfx_awake.value_or(false)) {
    page.entry("note",
               "reading more often than 10 times a second kept the graphics core powered "
               "(no GFXOFF), so idle power was higher than without gputrace");
  }
  if (sampling.kept_device_awake.value_or(false)) {
    page.entry("note",
               "a GPU that suspends when unused does not while it is sampled; one that is "
               "suspended is not woken");
  }
}

void append_segments(Page& page, const Report& report) {
  if (report.segments.empty()) {
    return;
  }
  page.line();
  page.line("Segments (* = described above)", Ink::kBold);
  for (const Segment& segment : report.segments) {
    page.paragraph(fmt::format("  {} {} to {}: {}{}; {} registers; {}", segment.main ? '*' : ' ',
                               format_duration(segment.start_s), format_duration(segment.end_s),
                               page.safe(segment.gpu),
                               segment.rate_hz ? fmt::format(", {:g} Hz", *segment.rate_hz) : "",
                               segment.registers.size(), page.safe(segment.reason)),
                   6);
  }
}

void append_warnings(Page& page, const Report& report) {
  if (report.warnings.empty()) {
    return;
  }
  page.line();
  page.line("Warnings", Ink::kBold);
  for (const Warning& warning : report.warnings) {
    page.paragraph(fmt::format("  {}: {}", page.safe(warning.code), page.safe(warning.text)), 4,
                   Ink::kCaution);
    if (!warning.hint.empty()) {
      page.paragraph(fmt::format("    What to do: {}", page.safe(warning.hint)), 4);
    }
  }
}

}  // namespace

std::string reasons_text(const Sampling& sampling) {
  std::string text;
  for (const auto& [reason, count] : sampling.unknown_reasons) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, format_count(count));
  }
  return text;
}

std::string render_text(const Report& report, const TextOptions& options) {
  Page page(options);
  append_banners(page, report);
  append_answer(page, report);
  page.line();
  append_header(page, report);
  append_band(page, report);
  append_phases(page, report, options.width >= kMinWidth);
  append_units(page, report);
  append_roofline(page, report, options);
  append_warnings(page, report);
  append_sampling(page, report);
  append_segments(page, report);
  append_sensors(page, report);
  append_processes(page, report);
  return page.take();
}

}  // namespace gputrace::report
