#include "daemon/recorder/lost_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

std::string describe_lost(const std::vector<sampler::LostRegister>& lost) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // few: each is looked at in turn
  for (const sampler::LostRegister& reg : lost) {
    const auto same = std::find_if(by_reason.begin(), by_reason.end(),
                                   [&](const auto& row) { return row.first == reg.reason; });
    if (same == by_reason.end()) {
      by_reason.emplace_back(reg.reason, reg.name);
    } else {
      same->second += ", " + reg.name;
    }
  }
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names, reason);
  }
  return text;
}

}  // namespace gputrace::recorder
