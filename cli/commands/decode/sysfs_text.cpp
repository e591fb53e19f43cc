#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/decode/decode_metrics.h"
#include "cli/commands/decode/decode_sysfs.h"
#include "cli/commands/decode/sensor_words.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::size_t kWidth = 100;

/// All texts come from files of a folder that anybody may have made.
std::string safe(std::string_view text) {
  return report::escape_for_terminal(text, false);
}

void append_wrapped(std::string& text, const std::string& line, std::size_t indent) {
  for (const std::string& part : report::wrap(line, kWidth, indent)) {
    text += part + "\n";
  }
}

std::string gpu_in_text(const DecodedFolder& decoded) {
  const os::GpuDevice& gpu = decoded.gpu;
  std::string text = safe(gpu.identity.name);
  const auto add = [&](std::string_view what, const std::string& value) {
    text += value.empty() ? "" : fmt::format(", {}{}", what, safe(value));
  };
  add("", gpu.identity.pci);
  add("", gpu.card);
  if (gpu.identity.gc) {
    add("GC ", regdb::to_string(*gpu.identity.gc) + " (" + decoded.gc_source + ")");
  } else {
    text += ", GC version not known (--gc)";
  }
  add("runtime status ", gpu.runtime_status);
  return text;
}

/// The value, and the line of a file of several that it stands in.
std::string raw_in_text(const std::string& raw) {
  std::string line = raw;
  std::replace(line.begin(), line.end(), '\n', '|');
  return safe(report::clip(line, 28));
}

void append_series(std::string& text, const DecodedSeries& series) {
  const sampler::SensorDescription& sensor = series.description;
  const std::string value = series.value
                                ? fmt::format("{} {}", value_in_text(*series.value), sensor.unit)
                                : std::string("-");
  text += fmt::format("  {:<30} {:<20} {}\n", safe(sensor.name), value, raw_in_text(series.raw));
  std::string origin = "      from " + safe(sensor.source);
  origin += sensor.label.empty() ? "" : ", label " + safe(sensor.label);
  origin += sensor.covers.empty() ? "" : "; covers " + safe(sensor.covers);
  append_wrapped(text, origin, 6);
  if (!series.absent.empty()) {
    append_wrapped(text, "      absent: " + safe(series.absent), 6);
  }
  if (!sensor.decision.empty()) {
    append_wrapped(text, "      unit: " + safe(sensor.decision), 6);
  }
}

}  // namespace

std::string folder_to_text(const DecodedFolder& decoded) {
  std::string text = fmt::format("{}: {}\n", safe(decoded.folder), gpu_in_text(decoded));
  text += fmt::format("\n  {:<30} {:<20} {}\n", "series", "value", "raw");
  for (const DecodedSeries& series : decoded.series) {
    append_series(text, series);
  }
  text += "\nSources that give nothing\n";
  bool all_work = true;
  for (const os::SourceFinding& finding : decoded.findings) {
    if (finding.state == os::SourceState::kWorks) {
      continue;
    }
    all_work = false;
    append_wrapped(text,
                   fmt::format("  {:<36} {}: {}", safe(finding.source), state_word(finding.state),
                               safe(finding.reason)),
                   39);
  }
  return text + (all_work ? "  none\n" : "");
}

}  // namespace gputrace::commands
