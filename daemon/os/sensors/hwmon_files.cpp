#include "daemon/os/sensors/hwmon_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

namespace fs = std::filesystem;

/// "temp2_input" = {"temp", 2, "input"}; "pwm1" has no attribute.
struct Channel {
  std::string_view type;
  unsigned number = 0;
  std::string_view attribute;
};

std::optional<Channel> parse_channel(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  const std::size_t end = name.find('_');
  if (digits == 0 || digits == std::string_view::npos || digits > end) {
    return std::nullopt;
  }
  const auto number = number_after(name.substr(0, end), name.substr(0, digits));
  if (!number) {
    return std::nullopt;
  }
  return Channel{name.substr(0, digits), *number,
                 end == std::string_view::npos ? std::string_view() : name.substr(end + 1)};
}

/// amdgpu gives each channel one constant label (amdgpu_pm.c); a label that is not here names its
/// own series.
struct KnownLabel {
  std::string_view type;
  unsigned number;
  std::string_view label;
  std::string_view series;
};
constexpr std::array kAmdgpuLabels{KnownLabel{"temp", 1, "edge", "edge_temperature"},
                                   KnownLabel{"temp", 2, "junction", "junction_temperature"},
                                   KnownLabel{"temp", 3, "mem", "mem_temperature"},
                                   KnownLabel{"freq", 1, "sclk", "gfx_clock"},
                                   KnownLabel{"freq", 2, "mclk", "mem_clock"},
                                   KnownLabel{"in", 0, "vddgfx", "gfx_voltage"},
                                   KnownLabel{"in", 1, "vddnb", "soc_voltage"},
                                   KnownLabel{"power", 1, "PPT", "package_power"}};

std::string series_part(std::string_view label) {
  std::string part;
  for (const char c : label) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    part += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '_';
  }
  return part;
}

/// Labels reach terminals and files; a folder from a stranger may hold anything in them.
bool is_usable_label(const std::optional<std::string>& label) {
  constexpr std::size_t kMaxLabel = 32;
  return label && !label->empty() && label->size() <= kMaxLabel &&
         std::all_of(label->begin(), label->end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string label_of(const Channel& channel, const std::optional<std::string>& text) {
  if (is_usable_label(text)) {
    return text.value_or("");
  }
  for (const KnownLabel& known : kAmdgpuLabels) {
    if (known.type == channel.type && known.number == channel.number) {
      return std::string(known.label);
    }
  }
  return {};
}

/// "junction", kind "temperature": junction_temperature. Without a label by number.
std::string series_name(const Channel& channel, const std::string& label, std::string_view kind) {
  for (const KnownLabel& known : kAmdgpuLabels) {
    if (known.type == channel.type && known.label == label) {
      return std::string(known.series);
    }
  }
  return label.empty() ? fmt::format("{}_{}", kind, channel.number)
                       : fmt::format("{}_{}", series_part(label), kind);
}

struct Quantity {
  std::string_view type;
  std::string_view attribute;
  std::string_view kind;
  std::string_view unit;
  ValueFormat format;
  std::string_view decision;
};

constexpr std::string_view kZeroVolt = "0 mV is taken as not provided: no rail at work has it";
constexpr std::string_view kZeroCelsius =
    "0 is taken as not provided: firmware without the sensor answers so";
constexpr std::string_view kZeroCap = "0 is taken as not provided";

// The widest that a machine can have, to tell garbage; not what is healthy.
constexpr std::array kQuantities{
    Quantity{"power", "average", "", "W", {TextForm::kPower, 1, 0, 5000, true, false}, ""},
    Quantity{"power", "input", "", "W", {TextForm::kPower, 1, 0, 5000, true, false}, ""},
    Quantity{"power", "cap", "", "W", {TextForm::kInteger, 1e-6, 0, 5000, true, false}, kZeroCap},
    Quantity{"temp",
             "input",
             "temperature",
             "C",
             {TextForm::kInteger, 1e-3, -60, 160, true, false},
             kZeroCelsius},
    Quantity{
        "freq", "input", "clock", "MHz", {TextForm::kInteger, 1e-6, 0, 10'000, false, false}, ""},
    Quantity{
        "in", "input", "voltage", "V", {TextForm::kInteger, 1e-3, 0, 60, true, false}, kZeroVolt},
    // 0 is a fan that stands still, which many cards do when they are cool.
    Quantity{
        "fan", "input", "fan_speed", "RPM", {TextForm::kInteger, 1, 0, 30'000, false, false}, ""},
    Quantity{
        "pwm", "", "fan_pwm", "%", {TextForm::kInteger, 100.0 / 255, 0, 100.5, false, false}, ""},
};

/// A file that is a sensor here.
struct KnownFile {
  Channel channel;
  const Quantity* quantity;  ///< never null
};

std::optional<KnownFile> recognize(std::string_view name) {
  const auto channel = parse_channel(name);
  if (!channel) {
    return std::nullopt;
  }
  for (const Quantity& quantity : kQuantities) {
    if (quantity.type == channel->type && quantity.attribute == channel->attribute) {
      return KnownFile{*channel, &quantity};
    }
  }
  return std::nullopt;
}

SensorFile make_file(const std::string& name, std::string_view driver, const Quantity& quantity) {
  SensorFile file;
  file.path = name;
  file.reader_name = fmt::format("hwmon {} {}", driver, name);
  file.description.source = "hwmon " + name;
  file.description.unit = quantity.unit;
  file.description.decision = quantity.decision;
  file.format = quantity.format;
  return file;
}

void set_pwm_scale(const std::optional<std::string>& pwm_max, SensorFile& file) {
  constexpr std::uint64_t kMost = 65'535;
  const auto most = pwm_max ? parse_number(*pwm_max, kMost) : std::nullopt;
  if (const std::uint64_t full = most.value_or(0); full > 0) {
    file.format.scale = 100.0 / static_cast<double>(full);
  } else {
    file.description.decision = "of 255, hwmon's full scale: its maximum was not read";
  }
}

std::optional<std::string> read_beside(const fs::path& folder, const Channel& channel,
                                       std::string_view attribute) {
  return read_text(folder / fmt::format("{}{}_{}", channel.type, channel.number, attribute));
}

}  // namespace

std::vector<fs::path> find_hwmon(const fs::path& parent, std::string_view driver) {
  std::vector<fs::path> found;
  for (const std::string& name : list_folder(parent)) {
    if (number_after(name, "hwmon") && read_text(parent / name / "name") == driver) {
      found.push_back(parent / name);
    }
  }
  return found;
}

bool has_apu_rail(const fs::path& folder) {
  const std::vector<std::string> names = list_folder(folder);
  return std::find(names.begin(), names.end(), "in1_input") != names.end();
}

std::optional<SensorFile> describe_amdgpu_file(const std::string& name, const HwmonTexts& texts,
                                               bool is_apu) {
  const auto known = recognize(name);
  if (!known) {
    return std::nullopt;
  }
  const Channel& channel = known->channel;
  const Quantity* quantity = known->quantity;
  SensorFile file = make_file(name, "amdgpu", *quantity);
  sampler::SensorDescription& series = file.description;
  if (quantity->type == "fan" || quantity->type == "pwm") {
    series.name = channel.number == 1 ? std::string(quantity->kind)
                                      : fmt::format("{}_{}", quantity->kind, channel.number);
    if (quantity->type == "pwm") {
      set_pwm_scale(texts.pwm_max, file);
    }
    return file;
  }
  series.label = label_of(channel, texts.label);
  if (quantity->type == "power") {
    series.name = quantity->attribute == "cap" ? "power_cap" : "package_power";
    series.covers = is_apu ? "CPU and GPU together" : "";
  } else {
    series.name = series_name(channel, series.label, quantity->kind);
  }
  if (quantity->attribute == "cap") {
    file.max_rate_hz = 1;
  }
  return file;
}

std::vector<SensorFile> amdgpu_hwmon_files(const fs::path& folder, const HwmonOptions& options) {
  std::vector<SensorFile> files;
  for (const std::string& name : list_folder(folder)) {
    const auto known = recognize(name);
    if (!known) {
      continue;
    }
    const Channel& channel = known->channel;
    // The driver answers these from constants, so they need no deadline; fan1_max it asks for.
    HwmonTexts texts;
    if (!options.only_list && channel.type == "pwm") {
      texts.pwm_max = read_beside(folder, channel, "max");
    } else if (!options.only_list && channel.type != "fan") {
      texts.label = read_beside(folder, channel, "label");
    }
    if (auto file = describe_amdgpu_file(name, texts, options.is_apu)) {
      file->path = folder / name;
      files.push_back(std::move(*file));
    }
  }
  return files;
}

std::vector<SensorFile> k10temp_files(const fs::path& folder) {
  const std::vector<std::string> names = list_folder(folder);
  std::vector<SensorFile> files;
  bool has_die = false;
  for (const std::string& name : names) {
    const auto known = recognize(name);
    if (!known || known->quantity->type != "temp") {
      continue;
    }
    SensorFile file = make_file(name, "k10temp", *known->quantity);
    file.path = folder / name;
    file.needs_gpu_awake = false;
    const auto label = read_beside(folder, known->channel, "label");
    file.description.label = is_usable_label(label) ? label.value_or("") : "";
    // Kernels before 5.6 give one channel without a label, which is Tctl.
    const std::string& name_given = file.description.label;
    const auto ccd = number_after(name_given, "Tccd");
    file.description.name = ccd && *ccd > 0 ? fmt::format("ccd_temperature_{}", *ccd - 1)
                                            : std::string("cpu_temperature");
    has_die = has_die || name_given == "Tdie";
    files.push_back(std::move(file));
  }
  // Where there is a Tdie, Tctl is that plus an offset for the fans
  // (Documentation/hwmon/k10temp.rst).
  for (SensorFile& file : files) {
    if (has_die && file.description.label != "Tdie" && file.description.name == "cpu_temperature") {
      file.description.name = "cpu_control_temperature";
    }
  }
  return files;
}

}  // namespace gputrace::os
