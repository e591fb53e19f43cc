#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kNameWidth = 19;
constexpr std::size_t kMeanWidth = 10;
constexpr std::size_t kRangeWidth = 17;
constexpr std::size_t kCountWidth = 6;
constexpr std::size_t kBeforeSource =
    2 + kNameWidth + 1 + kMeanWidth + 2 + kRangeWidth + 1 + kCountWidth + 2;
constexpr std::string_view kSimulated = "simulated ";
constexpr std::size_t kMinSourceWidth = 11;  // "gpu_metrics"
/// A stretch that is not covered is worth words above this share and this length: the first and the
/// last reading are always a little inside.
constexpr double kUncovered = 0.02;
constexpr double kUncoveredS = 0.5;

struct Key {
  std::string_view name;
  std::string_view title;
};

// What a reader looks for first. The others are counted; --json has them.
constexpr std::array kPower{Key{"package_power", "package power"}, Key{"gfx_power", "gfx power"},
                            Key{"cpu_power", "CPU power"}, Key{"power_cap", "power cap"}};
constexpr std::array kClocks{
    Key{"gfx_clock", "gfx clock"}, Key{"gfx_clock_average", "gfx clock, average"},
    Key{"mem_clock", "memory clock"}, Key{"mem_clock_average", "mem clock, average"}};
constexpr std::array kTemperatures{
    Key{"junction_temperature", "junction"}, Key{"edge_temperature", "edge"},
    Key{"gfx_temperature", "gfx"},           Key{"mem_temperature", "memory"},
    Key{"cpu_temperature", "CPU"},           Key{"fan_speed", "fan"}};
constexpr std::array kMemory{Key{"vram_used", "VRAM used"}, Key{"gtt_used", "GTT used"}};
constexpr std::array kActivity{Key{"gfx_activity", "gfx"}, Key{"mem_activity", "memory"},
                               Key{"media_activity", "media"}};

struct Group {
  std::string_view title;
  std::span<const Key> keys;
};
constexpr std::array<Group, 5> kGroups{Group{"power", kPower}, Group{"clocks", kClocks},
                                       Group{"temperature", kTemperatures},
                                       Group{"memory", kMemory}, Group{"activity", kActivity}};

/// How a unit is written: value times `scale`, with so many decimals.
struct Style {
  double scale = 1;
  int decimals = 0;
  std::string unit;
};

Style style_of(std::string_view unit, double value) {
  constexpr double kKibi = 1024;
  const double size = std::abs(value);
  if (unit == "bytes") {
    return size >= kKibi * kKibi * kKibi ? Style{1 / (kKibi * kKibi * kKibi), 2, "GiB"}
                                         : Style{1 / (kKibi * kKibi), 0, "MiB"};
  }
  if (unit == "bytes/s") {
    return {1e-9, 1, "GB/s"};
  }
  if (unit == "V") {
    return {1, 3, "V"};
  }
  const bool whole = unit == "MHz" || unit == "RPM" || unit == "C" || unit == "%";
  return {1, whole || size >= 1000 ? 0 : 1, std::string(unit)};
}

std::string number(double value, const Style& style) {
  return fmt::format("{:.{}f}", value * style.scale, style.decimals);
}

/// Little is not nothing.
std::string gbps_text(double gbps) {
  return gbps > 0 && gbps < 0.05 ? "<0.1" : fmt::format("{:.1f}", gbps);
}

std::string joules_text(double joules) {
  if (joules >= 1e7) {
    return fmt::format("{:.1f} MJ", joules / 1e6);
  }
  if (joules >= 1e4) {
    return fmt::format("{:.1f} kJ", joules / 1e3);
  }
  return fmt::format("{:.{}f} J", joules, joules < 100 ? 1 : 0);
}

std::string range_text(const Sensor& sensor, const Style& style) {
  if (!sensor.min || !sensor.max) {
    return "";
  }
  const std::string low = number(*sensor.min, style);
  const std::string high = number(*sensor.max, style);
  return *sensor.min == *sensor.max ? "constant" : fmt::format("{} - {}", low, high);
}

std::string without_simulated(std::string source) {
  if (source.rfind(kSimulated, 0) == 0) {  // the column's head says so
    source.erase(0, kSimulated.size());
  }
  return source;
}

/// The whole source where it fits, else what is read as a whole: "gpu_metrics".
std::string source_text(const std::string& whole, std::size_t room) {
  const std::string source = without_simulated(whole);
  if (room == 0 || display_width(source) <= room) {
    return room == 0 ? "" : source;
  }
  const std::size_t space = source.rfind(' ');
  return clip(space == std::string::npos ? source : source.substr(0, space), room);
}

class SensorBlock {
 public:
  SensorBlock(Page& page, const Report& report) : page_(page), report_(report) {}

  void append() {
    page_.line();
    page_.line(fmt::format("{:<{}} {:>{}}  {:<{}} {:>{}}{}", "Sensors", kNameWidth + 2, "mean",
                           kMeanWidth, "min - max", kRangeWidth, "n", kCountWidth, source_head()),
               Ink::kBold);
    for (const Group& group : kGroups) {
      append_group(group);
    }
    append_throttling();
    append_rest();
  }

 private:
  [[nodiscard]] std::string_view source_head() const {
    return room() == 0 ? "" : report_.gpu.simulated ? "  source (simulated)" : "  source";
  }

  /// Columns for sources; 0 in a narrow terminal.
  [[nodiscard]] std::size_t room() const {
    return page_.text_width() < kBeforeSource + kMinSourceWidth
               ? 0
               : page_.text_width() - kBeforeSource;
  }

  void append_group(const Group& group) {
    const bool power = group.keys.data() == kPower.data();
    const bool memory = group.keys.data() == kMemory.data();
    std::vector<std::pair<std::string_view, const Sensor*>> rows;
    for (const Key& key : group.keys) {
      if (const Sensor* sensor = best(key.name)) {
        rows.emplace_back(key.title, sensor);
      }
    }
    const bool energy = power && !report_.energy.empty();
    const bool dram = memory && report_.dram.has_value();
    if (rows.empty() && !energy && !dram) {
      return;
    }
    page_.line(fmt::format(" {}", group.title), Ink::kBold);
    if (dram) {
      append_dram(*report_.dram);
    }
    for (const auto& [title, sensor] : rows) {
      append_row(title, *sensor);
    }
    if (energy) {
      append_energy();
    }
  }

  /// The one that was read most often; the first of equals.
  [[nodiscard]] const Sensor* best(std::string_view name) const {
    const Sensor* found = nullptr;
    for (const Sensor& sensor : report_.sensors) {
      const bool better = found == nullptr || sensor.samples > found->samples;
      if (sensor.name == name && sensor.mean && better) {
        found = &sensor;
      }
    }
    return found;
  }

  void append_line(std::string_view name, std::string_view mean, std::string_view range,
                   std::uint64_t samples, const std::string& source) {
    std::string line = fmt::format("  {:<{}} {:>{}}  {:<{}} {:>{}}  {}", name, kNameWidth, mean,
                                   kMeanWidth, range, kRangeWidth, format_count(samples),
                                   kCountWidth, source_text(page_.safe(source), room()));
    line.erase(line.find_last_not_of(' ') + 1);
    page_.line(line);
  }

  void append_covers(const std::string& covers) {
    if (!covers.empty()) {
      page_.paragraph(fmt::format("    covers {}", page_.safe(covers)), 4, Ink::kDim);
    }
  }

  void append_row(std::string_view title, const Sensor& sensor) {
    const double mean = sensor.mean.value_or(0);
    const Style style = style_of(sensor.unit, std::max(mean, sensor.max.value_or(mean)));
    std::string name(title);
    const std::string label = page_.safe(sensor.label);
    // A label that repeats the name ("edge") says nothing.
    if (!label.empty() && sensor.name.rfind(sensor.label, 0) != 0 &&
        display_width(name) + display_width(label) + 3 <= kNameWidth) {
      name += fmt::format(" ({})", label);
    }
    append_line(clip(name, kNameWidth),
                fmt::format("{} {}", number(mean, style), page_.safe(style.unit)),
                range_text(sensor, style), sensor.samples, sensor.source);
    append_covers(sensor.covers);
  }

  void append_dram(const DramTraffic& dram) {
    const auto part = [](std::string_view name, const std::optional<double>& gbps) {
      return gbps ? fmt::format("{} {}", name, gbps_text(*gbps)) : std::string();
    };
    const std::string read = part("rd", dram.read_gbps);
    const std::string write = part("wr", dram.write_gbps);
    std::string mean = "?";
    std::string split =
        fmt::format("{}{}{}", read, read.empty() || write.empty() ? "" : ", ", write);
    if (dram.total_gbps) {
      mean = gbps_text(*dram.total_gbps) + " GB/s";
    } else {
      split += " GB/s only";
    }
    append_line("DRAM traffic", mean, split, dram.samples, dram.source);
    append_covers(dram.covers);
  }

  [[nodiscard]] std::optional<double> shown_s() const {
    if (report_.selection) {
      return report_.selection->to_s - report_.selection->from_s;
    }
    return report_.session.duration_s;
  }

  void append_energy() {
    for (const Energy& energy : report_.energy) {
      const std::optional<double> length = shown_s();
      const double missing_s = length.value_or(0) - energy.covered_s;
      const bool partly = length && missing_s > std::max(kUncovered * *length, kUncoveredS);
      const std::string over =
          partly ? fmt::format("{} of {}, the rest is not known", format_duration(energy.covered_s),
                               format_duration(*length))
                 : format_duration(energy.covered_s);
      page_.paragraph(
          fmt::format("  {:<{}} {:>{}}  over {} (n {}); {} {}{}{}", "energy", kNameWidth,
                      joules_text(energy.joules), kMeanWidth, over, format_count(energy.samples),
                      energy.counted ? "counted by" : "power x time of",
                      page_.safe(without_simulated(energy.source)),
                      energy.covers.empty() ? "" : "; covers ", page_.safe(energy.covers)),
          2 + kNameWidth + 1 + kMeanWidth + 2);
    }
  }

  void append_throttling() {
    if (!report_.throttling) {
      return;
    }
    const Throttling& throttling = *report_.throttling;
    const std::string n = format_count(throttling.samples);
    page_.line(" throttling", Ink::kBold);
    std::string unsupported;
    for (const ThrottleBit& bit : throttling.bits) {
      if (!bit.evidence.empty()) {
        page_.paragraph(
            fmt::format("  held back by {} for {} ({} set {} of the time, n {}): {}", bit.group,
                        format_duration(bit.supported_s), page_.safe(bit.name),
                        format_percent(bit.share), n, page_.safe(bit.evidence)),
            4, Ink::kCaution);
      } else {
        unsupported += fmt::format("{}{} ({} of the time)", unsupported.empty() ? "" : ", ",
                                   page_.safe(bit.name), format_percent(bit.share));
      }
    }
    if (!unsupported.empty()) {
      page_.paragraph(fmt::format("  raw bits set without supporting evidence, which prove "
                                  "nothing: {}; n {}",
                                  unsupported, n),
                      4, Ink::kDim);
    }
    if (throttling.bits.empty()) {
      page_.line(fmt::format("  no bit was set in {} readings", n));
    }
  }

  void append_rest() {
    page_.line(
        fmt::format(" {} series in all, and the cost of reads: --json", report_.sensors.size()),
        Ink::kDim);
  }

  Page& page_;
  const Report& report_;
};

}  // namespace

void append_sensors(Page& page, const Report& report) {
  if (!report.sensors.empty()) {
    SensorBlock(page, report).append();
  }
}

}  // namespace gputrace::report
