#include "cli/commands/calibration/vulkan_driver.h"

#include <vector>

#include "cli/commands/calibration/calibration_summary.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kBetween = ", ";

}  // namespace

std::optional<std::string> driver_text(std::string_view name, std::string_view info) {
  if (name.empty()) {
    return std::nullopt;
  }
  std::string text(name);
  if (!info.empty()) {
    text.append(kBetween).append(info);
  }
  return text;
}

std::optional<std::string> driver_of(const store::ResultRun& run) {
  return driver_text(run.driver, run.driver_info);
}

void enter_driver(const std::optional<std::string>& driver, store::ResultRun& run) {
  const std::string text = driver.value_or("");
  const std::size_t end = text.find(kBetween);
  run.driver = text.substr(0, end);
  run.driver_info = end == std::string::npos ? "" : text.substr(end + kBetween.size());
}

std::optional<std::string> driver_of(const store::SessionReader& session) {
  const Result<std::vector<store::ResultRun>> runs = session.results();
  if (!runs) {
    return std::nullopt;
  }
  for (const store::ResultRun& run : *runs) {
    if (!is_summary(run)) {
      return driver_of(run);
    }
  }
  return std::nullopt;
}

}  // namespace gputrace::commands
