#include "cli/commands/calibration/workload_marks.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace gputrace::commands {

namespace {

using nlohmann::json;

/// Members of a stimulus are few, and its text is a line.
constexpr std::size_t kMaxTextBytes = 8192;
constexpr double kMaxGroupThreads = 65536;

/// Absent where it is missing or no amount.
std::optional<double> amount(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    return std::nullopt;
  }
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string word(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

analysis::StimulatedPoint parse_stimulus(const json& stimulus) {
  analysis::StimulatedPoint point;
  const auto pixels = stimulus.find("pixels");
  point.pixels = pixels != stimulus.end() && pixels->is_boolean() && pixels->get<bool>();
  point.access = word(stimulus, "access");
  point.path = word(stimulus, "path");
  for (const auto& [key, member] :
       {std::pair{"flops", &analysis::StimulatedPoint::flops},
        std::pair{"read_bytes", &analysis::StimulatedPoint::read_bytes},
        std::pair{"written_bytes", &analysis::StimulatedPoint::written_bytes},
        std::pair{"footprint_bytes", &analysis::StimulatedPoint::footprint_bytes},
        std::pair{"stride_bytes", &analysis::StimulatedPoint::stride_bytes},
        std::pair{"local_bytes", &analysis::StimulatedPoint::local_bytes},
        std::pair{"code_bytes", &analysis::StimulatedPoint::code_bytes},
        std::pair{"fetches", &analysis::StimulatedPoint::fetches}}) {
    point.*member = amount(stimulus, key).value_or(0);
  }
  return point;
}

std::optional<WorkloadMark> parse_begin(const store::Event& event) {
  if (event.text.size() > kMaxTextBytes) {
    return std::nullopt;
  }
  const json text = json::parse(event.text, nullptr, /*allow_exceptions=*/false);
  if (!text.is_object()) {
    return std::nullopt;
  }
  const auto label = text.find("label");
  const auto stimulus = text.find("stimulus");
  if (label == text.end() || !label->is_string() || stimulus == text.end() ||
      !stimulus->is_object()) {
    return std::nullopt;
  }
  WorkloadMark mark;
  mark.begin_ns = event.time_ns;
  mark.stimulus = parse_stimulus(*stimulus);
  mark.stimulus.label = label->get<std::string>();
  mark.group_threads = static_cast<std::uint32_t>(
      std::min(amount(*stimulus, "group_threads").value_or(0), kMaxGroupThreads));
  mark.dram_bytes = amount(*stimulus, "dram_bytes");
  return mark;
}

}  // namespace

std::vector<WorkloadMark> workload_marks(std::span<const store::Event> events) {
  std::vector<store::Event> points;
  std::ranges::copy_if(events, std::back_inserter(points), [](const store::Event& event) {
    return event.kind == "point_begin" || event.kind == "point_end";
  });
  std::ranges::stable_sort(points, {}, &store::Event::time_ns);
  std::vector<WorkloadMark> marks;
  std::optional<WorkloadMark> open;
  for (const store::Event& event : points) {
    if (event.kind == "point_begin") {
      open = parse_begin(event);
    } else if (open) {
      open->end_ns = event.time_ns;
      marks.push_back(std::move(*open));
      open.reset();
    }
  }
  return marks;
}

const WorkloadMark* mark_at(std::span<const WorkloadMark> marks, std::int64_t start_ns,
                            std::int64_t end_ns) {
  const auto after = std::ranges::upper_bound(marks, start_ns, {}, &WorkloadMark::begin_ns);
  if (after == marks.begin()) {
    return nullptr;
  }
  const WorkloadMark& mark = *std::prev(after);
  return mark.end_ns >= end_ns ? &mark : nullptr;
}

}  // namespace gputrace::commands
