// gputraced's configuration from any text: no crash, and a fault is one line that names the place.
#include "daemon/service/config.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void parse(std::string_view text) {
  const auto config = gputrace::service::parse_config(text, "fuzz");
  if (!config) {
    const std::string& message = config.error().message;
    GPUTRACE_CHECK(message.starts_with("fuzz:"));
    GPUTRACE_CHECK(message.find('\n') == std::string::npos && message.size() < 1000);
    return;
  }
  GPUTRACE_CHECK(config->socket.is_absolute() && config->data_dir.is_absolute());
  GPUTRACE_CHECK(config->limits.max_rate_hz >= 1 && config->limits.max_rate_hz <= 20'000);
  GPUTRACE_CHECK(config->limits.clients >= 1 && config->limits.recordings_per_user >= 1);
  GPUTRACE_CHECK(config->limits.bytes_per_user >= 1U << 20U);
  GPUTRACE_CHECK(config->retention.sessions_days > 0 && config->retention.background_days > 0);
  GPUTRACE_CHECK(config->background.burst_s > 0 &&
                 config->background.burst_s <= config->background.every_s);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parse({reinterpret_cast<const char*>(data), size});
  return 0;
}
