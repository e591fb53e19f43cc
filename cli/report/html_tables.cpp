#include <algorithm>
#include <cmath>

#include "cli/report/html_page.h"
#include "cli/report/html_stage.h"
#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

std::string interval_text(const std::optional<analysis::Interval>& interval) {
  return interval ? format_interval(*interval) : "–";
}
std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? format_count(*count) : "–";
}

/// Opens a folded section with a table; its head has the columns, numbers marked with a "#".
void begin_table(HtmlPage& page, std::string_view title, std::string_view note,
                 std::initializer_list<std::string_view> columns) {
  page.add("<details>\n<summary><h2>{}</h2></summary>\n", title);
  if (!note.empty()) {
    page.add("<p class=\"quiet\">{}</p>\n", note);
  }
  page.raw("<div class=\"scroll\"><table><thead><tr>");
  for (const std::string_view column : columns) {
    const bool number = column.starts_with('#');
    page.add("<th scope=\"col\"{}>{}</th>", number ? " class=\"num\"" : "",
             column.substr(number ? 1 : 0));
  }
  page.raw("</tr></thead><tbody>\n");
}
void end_table(HtmlPage& page) {
  page.raw("</tbody></table></div>\n</details>\n");
}

void add_units(HtmlPage& page, const Report& report) {
  if (report.units.empty() && report.unknown_registers.empty()) {
    return;
  }
  begin_table(page, "Units",
              "Share of the time, while the GPU was awake, in which a unit had work. The first "
              "interval is about this very recording, the second, wider one about a repeat of the "
              "same steady load.",
              {"unit", "register", "#busy", "#95 %", "#95 % of a repeat", "#n", "what it is"});
  std::vector<const Unit*> units;
  units.reserve(report.units.size());
  for (const Unit& unit : report.units) {
    units.push_back(&unit);
  }
  std::stable_sort(units.begin(), units.end(),
                   [](const Unit* a, const Unit* b) { return stage_of(*a) < stage_of(*b); });
  for (const Unit* unit : units) {
    page.add(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td>"
        "</tr>\n",
        safe(unit_label(*unit)), safe(unit->register_name),
        safe(format_percent(unit->busy, unit->ci95_run)), interval_text(unit->ci95_run),
        interval_text(unit->ci95), count_text(unit->samples), safe(unit->meaning));
  }
  for (const UnknownRegister& missing : report.unknown_registers) {
    std::string names;
    for (const std::string& unit : missing.units) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", short_name(unit));
    }
    page.add("<tr><th scope=\"row\">{}</th><td>{}</td><td colspan=\"5\">unknown: {}</td></tr>\n",
             names.empty() ? "–" : safe(names), safe(missing.name), safe(missing.reason));
  }
  end_table(page);
}

struct Shown {
  double scale = 1;
  std::string unit;
};
Shown shown_unit(const std::string& unit, double value) {
  constexpr double kMebi = 1024.0 * 1024;
  constexpr double kGibi = kMebi * 1024;
  if (unit == "bytes") {
    return std::abs(value) >= kGibi ? Shown{1 / kGibi, "GiB"} : Shown{1 / kMebi, "MiB"};
  }
  if (unit == "bytes/s") {
    return {1e-9, "GB/s"};
  }
  return {1, unit == "C" ? "°C" : unit};
}
std::string value_text(const std::optional<double>& value, const Shown& shown) {
  if (!value) {
    return "–";
  }
  const double at = *value * shown.scale;
  const double size = std::abs(at);
  return fmt::format("{:.{}f}", at, size >= 100 || at == std::floor(at) ? 0 : size >= 10 ? 1 : 2);
}

void add_sensor(HtmlPage& page, const Sensor& sensor) {
  const std::optional<double> mean =
      sensor.kind == SensorKind::kCounter ? sensor.total : sensor.mean;
  const Shown shown = shown_unit(sensor.unit, sensor.max.value_or(mean.value_or(0)));
  page.add(
      "<tr><th scope=\"row\">{}</th><td class=\"num\">{}{}</td><td class=\"num\">{}</td><td "
      "class=\"num\">{}</td><td>{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
      safe(sensor.name), value_text(mean, shown),
      sensor.kind == SensorKind::kCounter && mean ? " in all" : "", value_text(sensor.min, shown),
      value_text(sensor.max, shown), safe(shown.unit), format_count(sensor.samples),
      safe(sensor.source + (sensor.covers.empty() ? "" : "; covers " + sensor.covers)));
}

void add_sensors(HtmlPage& page, const Report& report) {
  const bool any = std::any_of(report.sensors.begin(), report.sensors.end(),
                               [](const Sensor& one) { return one.kind != SensorKind::kBits; });
  if (!any && report.energy.empty() && !report.dram) {
    return;
  }
  begin_table(page, "Sensors", "", {"sensor", "#mean", "#least", "#most", "unit", "#n", "source"});
  for (const Sensor& sensor : report.sensors) {
    if (sensor.kind != SensorKind::kBits) {
      add_sensor(page, sensor);
    }
  }
  for (const Energy& energy : report.energy) {
    page.add(
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{:.0f} in all</td><td></td><td></td>"
        "<td>J</td><td class=\"num\">{}</td><td>{}{}{}</td></tr>\n",
        safe(energy.name), energy.joules, format_count(energy.samples), safe(energy.source),
        energy.counted ? "" : "; power times time",
        energy.covers.empty() ? "" : safe("; covers " + energy.covers));
  }
  if (report.dram) {
    const DramTraffic& dram = *report.dram;
    const Shown gbps{1, "GB/s"};
    for (const auto& [name, value] :
         {std::pair("DRAM reads", dram.read_gbps), std::pair("DRAM writes", dram.write_gbps),
          std::pair("DRAM in all", dram.total_gbps)}) {
      if (value) {
        page.add(
            "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td></td><td></td><td>GB/s"
            "</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
            name, value_text(value, gbps), format_count(dram.samples),
            safe(dram.source + (dram.covers.empty() ? "" : "; covers " + dram.covers)));
      }
    }
  }
  end_table(page);
}

void add_throttling(HtmlPage& page, const Report& report) {
  if (!report.throttling || report.throttling->bits.empty()) {
    return;
  }
  begin_table(page, "Throttling",
              "Bits by which the firmware says that it holds clocks back. Without something that "
              "agrees they are no claim.",
              {"bit", "about", "#of the time", "what agrees"});
  for (const ThrottleBit& bit : report.throttling->bits) {
    page.add("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
             safe(bit.name), safe(bit.group), safe(format_percent(bit.share)),
             bit.evidence.empty() ? "nothing" : safe(bit.evidence));
  }
  end_table(page);
}

std::string mebibytes(const std::optional<std::uint64_t>& bytes) {
  constexpr double kMebi = 1024.0 * 1024;
  return bytes ? fmt::format("{:.0f} MiB", static_cast<double>(*bytes) / kMebi) : "–";
}

void add_processes(HtmlPage& page, const Report& report) {
  if (report.processes.empty()) {
    return;
  }
  begin_table(page, "Processes", "",
              {"process", "#pid", "GPU", "GPU time", "#most VRAM", "#most GTT"});
  for (const Process& process : report.processes) {
    std::string engines;
    for (const auto& [engine, seconds] : process.gpu_s) {
      engines +=
          fmt::format("{}{} {}", engines.empty() ? "" : ", ", engine, format_duration(seconds));
    }
    page.add(
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td>{}</td><td>{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
        safe(process.name), process.pid, safe(process.gpu), safe(engines),
        mebibytes(process.vram_bytes), mebibytes(process.gtt_bytes));
  }
  end_table(page);
}

void entry(HtmlPage& page, std::string_view key, std::string_view markup) {
  if (!markup.empty()) {
    page.add("<dt>{}</dt><dd>{}</dd>\n", key, markup);
  }
}

std::string unknown_text(const Sampling& sampling) {
  if (!sampling.samples || !sampling.unknown) {
    return "not known";
  }
  std::string text =
      fmt::format("{} of {} ({})", format_count(*sampling.unknown), format_count(*sampling.samples),
                  format_percent(unknown_share(sampling)));
  for (const auto& [reason, count] : sampling.unknown_reasons) {
    text += fmt::format("; {} {}", reason, format_count(count));
  }
  return text;
}

std::string registers_text(const Sampling& sampling) {
  std::string text;
  for (const SampledRegister& one : sampling.registers) {
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", one.name, one.source);
    if (one.read_cost_ns) {
      text += fmt::format(" ({:.1f} us a read)", *one.read_cost_ns / 1e3);
    }
  }
  return text;
}

std::string rate_text(const Sampling& sampling) {
  if (!sampling.rate_hz && !sampling.achieved_hz) {
    return "";
  }
  return fmt::format(
      "{} asked, {} reached",
      sampling.rate_hz ? fmt::format("{:.0f} Hz", *sampling.rate_hz) : "not known",
      sampling.achieved_hz ? fmt::format("{:.1f} Hz", *sampling.achieved_hz) : "not known");
}

std::string asleep_text(const Sampling& sampling) {
  if (!sampling.asleep_s && !sampling.asleep_share) {
    return "";
  }
  std::string text;
  if (sampling.asleep_s) {
    text = format_duration(*sampling.asleep_s);
  }
  if (sampling.asleep_share) {
    text += fmt::format("{}{} of the samples", text.empty() ? "" : ", ",
                        format_percent(*sampling.asleep_share));
  }
  return text;
}

std::string awake_text(const Sampling& sampling) {
  if (!sampling.kept_gfx_awake) {
    return "";
  }
  return *sampling.kept_gfx_awake
             ? "The reads kept the graphics core from sleeping (GFXOFF): idle power is higher than "
               "without them."
             : "The reads did not keep the graphics core awake.";
}

std::string files_text(const Report& report) {
  std::string text = report.session.file;
  for (const Segment& segment : report.segments) {
    text += fmt::format("; {} - {}: {} {}", format_duration(segment.start_s),
                        format_duration(segment.end_s), segment.gpu, segment.reason);
  }
  return text;
}

}  // namespace

void add_tables(HtmlPage& page, const Report& report) {
  page.raw("<section id=\"tables\">\n");
  add_units(page, report);
  add_sensors(page, report);
  add_throttling(page, report);
  add_processes(page, report);
  page.raw("</section>\n");
}

void add_method(HtmlPage& page, const Report& report) {
  const Sampling& sampling = report.sampling;
  page.raw("<section id=\"method\">\n<h2>How this was measured</h2>\n<dl class=\"method\">\n");
  if (report.gpu.simulated) {
    entry(
        page, "GPU",
        safe(fmt::format("SIMULATED, scenario {}: no hardware was measured", report.gpu.scenario)));
  }
  entry(page, "Rate", rate_text(sampling));
  entry(page, "Unknown samples", safe(unknown_text(sampling)));
  entry(page, "Asleep", safe(asleep_text(sampling)));
  if (sampling.missed || sampling.dropped) {
    entry(page, "Missed, dropped",
          fmt::format("{} missed, {} dropped", count_text(sampling.missed),
                      count_text(sampling.dropped)));
  }
  if (sampling.late_p50_us && sampling.late_p99_us) {
    entry(page, "Late",
          fmt::format("{:.0f} us (median), {:.0f} us (99th percentile)", *sampling.late_p50_us,
                      *sampling.late_p99_us));
  }
  if (sampling.cpu_s) {
    entry(page, "CPU time", fmt::format("{:.2f} s", *sampling.cpu_s));
  }
  entry(page, "Registers", safe(registers_text(sampling)));
  entry(page, "GFXOFF", awake_text(sampling));
  if (report.frames) {
    entry(page, "Frames",
          fmt::format("{}: median {:.1f} ms, 99th percentile {:.1f} ms, {:.1f} fps",
                      format_count(report.frames->count), report.frames->median_ms,
                      report.frames->p99_ms, report.frames->fps));
  }
  if (report.machine && !report.machine->source.empty()) {
    entry(page, "Calibration", safe(report.machine->source));
  }
  if (report.timeline && report.timeline->window_s > 0) {
    entry(page, "Window drawn",
          fmt::format("{} s; sensors {} s", report.timeline->window_s,
                      report.timeline->sensor_window_s));
  }
  entry(page, "Files", safe(files_text(report)));
  page.raw("</dl>\n</section>\n");
}

}  // namespace gputrace::report
