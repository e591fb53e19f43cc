// Clock and link levels from any text: a value is possible and was marked, everything else has a
// reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/os/sensors/value_format.h"

namespace {

using gputrace::os::ParsedValue;
using gputrace::os::TextForm;
using gputrace::os::ValueFormat;
using gputrace::os::ValueState;

void parse(std::string_view text, const ValueFormat& format) {
  const ParsedValue parsed = gputrace::os::parse_value(text, format);
  GPUTRACE_CHECK(parsed.state != ValueState::kFormBroken);
  GPUTRACE_CHECK(parsed.reason.empty() == (parsed.state == ValueState::kValue));
  if (parsed.state == ValueState::kValue) {
    GPUTRACE_CHECK(parsed.value >= format.min && parsed.value <= format.max);
    GPUTRACE_CHECK(text.find('*') != std::string_view::npos);
    GPUTRACE_CHECK(text.find(':') != std::string_view::npos);
  }
  if (gputrace::os::clean_text(text).empty()) {
    GPUTRACE_CHECK(parsed.state == ValueState::kAbsent);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parse(text, {TextForm::kDpmClock, 1, 0, 10'000, false, false});
  parse(text, {TextForm::kDpmPcie, 1, 0, 1e12, false, false});
  return 0;
}
