#include "regdb/throttle.h"

#include <algorithm>
#include <array>

#include "regdb/metrics_tables.h"

namespace gputrace::regdb {
namespace {

std::vector<ThrottleReason> decode_with(const ThrottleList* list, std::uint64_t status) {
  std::vector<ThrottleReason> reasons;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (((status >> bit) & 1U) == 0) {
      continue;
    }
    ThrottleReason reason{bit, "bit " + std::to_string(bit), ThrottleGroup::kOther};
    if (list != nullptr) {
      const auto named = std::find_if(list->bits.begin(), list->bits.end(),
                                      [bit](const auto& entry) { return entry.bit == bit; });
      reason = named != list->bits.end() ? *named : reason;
    }
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace

std::string_view to_string(ThrottleGroup group) {
  switch (group) {
    case ThrottleGroup::kPower:
      return "power";
    case ThrottleGroup::kCurrent:
      return "current";
    case ThrottleGroup::kTemperature:
      return "temperature";
    case ThrottleGroup::kOther:
      break;
  }
  return "other";
}

std::vector<ThrottleReason> decode_throttle_status(const std::optional<GcVersion>& gc,
                                                   std::uint32_t status) {
  const ThrottleList* found = nullptr;
  for (const ThrottleList& list : metrics_tables().throttle) {
    if (std::any_of(list.ranges.begin(), list.ranges.end(),
                    [&](const GcRange& range) { return range.contains(gc); })) {
      found = &list;
    }
  }
  return decode_with(found, status);
}

std::vector<ThrottleReason> decode_independent_throttle_status(std::uint64_t status) {
  const ThrottleList* found = nullptr;
  for (const ThrottleList& list : metrics_tables().throttle) {
    found = list.ranges.empty() ? &list : found;
  }
  return decode_with(found, status);
}

ThrottleGroup throttle_residency_group(std::string_view sensor) {
  constexpr std::string_view kPrefix = "throttle_residency_";
  if (!sensor.starts_with(kPrefix)) {
    return ThrottleGroup::kOther;
  }
  const std::string_view limit = sensor.substr(kPrefix.size());
  if (limit == "prochot" || limit.starts_with("thm_")) {
    return ThrottleGroup::kTemperature;
  }
  constexpr std::array<std::string_view, 4> kPower{"ppt", "spl", "fppt", "sppt"};
  return std::find(kPower.begin(), kPower.end(), limit) != kPower.end() ? ThrottleGroup::kPower
                                                                        : ThrottleGroup::kOther;
}

}  // namespace gputrace::regdb
