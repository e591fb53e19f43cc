#include "cli/commands/record/gpu_choice.h"

#include <algorithm>

namespace gputrace::commands {

namespace {

constexpr double kLeastShare = 0.01;
constexpr double kTimesMore = 10;

/// Copies and video may well be done elsewhere than the drawing.
std::uint64_t work_ns(const ipc::ClientReading& client) {
  std::uint64_t sum_ns = 0;
  for (const char* engine : {"gfx", "compute"}) {
    const auto found = client.engine_ns.find(engine);
    sum_ns += found == client.engine_ns.end() ? 0 : found->second;
  }
  return sum_ns;
}

}  // namespace

std::optional<std::string> GpuChoice::take(const ipc::ProcessesOrder& reading) {
  std::map<Client, std::uint64_t> busy_ns;
  std::map<std::string, double> grown_ns;  // by device
  for (const ipc::ClientReading& client : reading.clients) {
    const Client key{client.pdev, client.client_id};
    const std::uint64_t now_ns = work_ns(client);
    busy_ns[key] = now_ns;
    // What a new client has done may be long ago: it may have been open before.
    if (const auto before = busy_ns_.find(key);
        before != busy_ns_.end() && now_ns > before->second) {
      grown_ns[client.pdev] += static_cast<double>(now_ns - before->second);
    }
  }
  const std::int64_t passed_ns = reading.time_ns - last_ns_.value_or(reading.time_ns);
  busy_ns_ = std::move(busy_ns);
  last_ns_ = reading.time_ns;
  if (passed_ns <= 0) {
    return std::nullopt;
  }
  const auto most = std::max_element(
      grown_ns.begin(), grown_ns.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  const bool another = most != grown_ns.end() && most->first != recorded_ &&
                       most->second >= kLeastShare * static_cast<double>(passed_ns) &&
                       most->second >= kTimesMore * grown_ns[recorded_];
  const std::string before = std::exchange(candidate_, another ? most->first : std::string());
  return another && before == candidate_ ? std::optional(candidate_) : std::nullopt;
}

void GpuChoice::switched_to(const std::string& pdev) {
  recorded_ = pdev;
  candidate_.clear();
}

}  // namespace gputrace::commands
