// A file of amdgpu's hwmon folder from any name, label and text. The input's lines: name, label,
// pwm_max, then the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/os/sensors/hwmon_files.h"
#include "daemon/os/sensors/value_format.h"

namespace {

using gputrace::os::ParsedValue;
using gputrace::os::SensorFile;
using gputrace::os::TextForm;
using gputrace::os::ValueState;

std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_series_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void check_value(std::string_view text, const SensorFile& file) {
  const ParsedValue parsed = gputrace::os::parse_value(text, file.format);
  GPUTRACE_CHECK(parsed.reason.empty() == (parsed.state == ValueState::kValue));
  if (parsed.state == ValueState::kValue) {
    GPUTRACE_CHECK(parsed.value >= file.format.min && parsed.value <= file.format.max);
    GPUTRACE_CHECK(!file.format.zero_is_absent || parsed.value != 0);
  }
  if (parsed.state == ValueState::kFormBroken) {
    GPUTRACE_CHECK(file.format.form == TextForm::kPower && !file.format.plain_microwatts);
    GPUTRACE_CHECK(gputrace::os::is_plain_microwatts(text));
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = take_line(text);
  const std::string label = take_line(text);
  const std::string pwm_max = take_line(text);
  auto file = gputrace::os::describe_amdgpu_file(name, {label, pwm_max}, false);
  if (!file) {
    return 0;
  }
  const auto& series = file->description;
  GPUTRACE_CHECK(!series.name.empty() && series.name.size() < 100);
  GPUTRACE_CHECK(std::all_of(series.name.begin(), series.name.end(), is_series_character));
  GPUTRACE_CHECK(series.label.empty() || series.label == label || label.empty() ||
                 series.label.size() <= 32);
  GPUTRACE_CHECK(series.source == "hwmon " + name && !series.unit.empty());
  check_value(text, *file);
  file->format.plain_microwatts = true;
  check_value(text, *file);
  return 0;
}
