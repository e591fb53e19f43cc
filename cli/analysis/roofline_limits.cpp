#include "cli/analysis/roofline_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace::analysis {

namespace {

/// A workload may be measured at another moment than the ceilings.
constexpr double kAboveRoof = 1.05;
/// One load of 4 bytes by each of 64 lanes: what a wave has in flight that waits for each load.
constexpr double kBytesOfWave = 256;
constexpr std::string_view kPoint = "point.";
constexpr std::string_view kIntensity = ".intensity";

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

/// Of tests that are ok, unless `suspect` asks for those of suspect ones.
const DerivedValue* find_value(const BenchRun& run, std::string_view what, std::string_view unit,
                               bool* suspect = nullptr) {
  for (const TestResult& test : run.tests) {
    const bool is_suspect = test.status == TestStatus::kSuspect;
    if (test.status != TestStatus::kOk && !(is_suspect && suspect != nullptr)) {
      continue;
    }
    for (const DerivedValue& value : test.derived) {
      if (value.what == what && value.unit == unit && is_positive(value.value)) {
        if (suspect != nullptr) {
          *suspect = is_suspect;
        }
        return &value;
      }
    }
  }
  return nullptr;
}

/// Of all streams of the level, by the name of its ceilings: "level 2", "DRAM".
double best_bandwidth(const Roofline& roofline, std::string_view name) {
  double best = 0;
  for (const Ceiling& ceiling : roofline.bandwidth) {
    const bool is_it = ceiling.name.starts_with(name) &&
                       (ceiling.name.size() == name.size() || ceiling.name[name.size()] == ' ');
    best = is_it ? std::max(best, ceiling.value) : best;
  }
  return best;
}

const DerivedValue* size_of_level(const BenchRun& run, int number) {
  return find_value(run, fmt::format("level.{}.size", number), "B");
}

/// The level that a workload works in.
std::string level_of(const BenchRun& run, const Roofline& roofline, std::string_view workload) {
  const DerivedValue* const working_set =
      find_value(run, fmt::format("point.{}.working_set", workload), "B");
  for (int number = 1; working_set != nullptr; ++number) {
    const DerivedValue* const size = size_of_level(run, number);
    if (size == nullptr) {
      break;
    }
    const std::string name = fmt::format("level {}", number);
    // A working set at the end of its level may well be served by it.
    if (working_set->value <= size->upper.value_or(size->value) &&
        best_bandwidth(roofline, name) > 0) {
      return name;
    }
  }
  return "DRAM";
}

void judge(const BenchRun& run, const RooflinePoint& point, Roofline& roofline) {
  const auto compute = std::ranges::find(roofline.compute, "GFLOPS", &Ceiling::unit);
  const std::string level = level_of(run, roofline, point.label);
  const double gbps = best_bandwidth(roofline, level);
  double roof = compute == roofline.compute.end() ? 0 : compute->value;
  std::string name = compute == roofline.compute.end() ? "" : compute->name;
  if (gbps > 0 && (roof <= 0 || gbps * point.intensity < roof)) {
    roof = gbps * point.intensity;
    name = level;
  }
  if (roof > 0 && point.gflops > kAboveRoof * roof) {
    roofline.warnings.push_back(fmt::format(
        "{} reaches {:.4g} GFLOPS at {:.3g} FLOP/B, which is {:.0f} % above the roof of {} ({:.4g} "
        "GFLOPS): that roof is too low.",
        point.label, point.gflops, point.intensity, 100 * (point.gflops / roof - 1), name, roof));
  }
}

}  // namespace

void add_workload_points(const BenchRun& run, Roofline& roofline) {
  for (const TestResult& test : run.tests) {
    for (const DerivedValue& value : test.derived) {
      if (!value.what.starts_with(kPoint) || !value.what.ends_with(kIntensity) ||
          value.what.size() <= kPoint.size() + kIntensity.size()) {
        continue;
      }
      const std::string name =
          value.what.substr(kPoint.size(), value.what.size() - kPoint.size() - kIntensity.size());
      bool suspect = false;
      const DerivedValue* const gflops =
          find_value(run, fmt::format("point.{}.gflops", name), "GFLOPS", &suspect);
      const bool is_known = std::ranges::any_of(
          roofline.points, [&name](const RooflinePoint& point) { return point.label == name; });
      if (gflops == nullptr || !is_positive(value.value) || is_known) {
        continue;
      }
      roofline.points.push_back(
          {name, value.value, gflops->value, gflops->lower, gflops->upper, suspect});
      if (!suspect) {
        judge(run, roofline.points.back(), roofline);
      }
    }
  }
}

void add_concurrency_roofs(const BenchRun& run, Roofline& roofline) {
  const DerivedValue* const slots = find_value(run, "slots", "groups");
  if (slots == nullptr) {
    return;
  }
  std::vector<Ceiling> roofs;
  const auto add = [&](const std::string& latency_name, const std::string& level) {
    const DerivedValue* const latency = find_value(run, latency_name, "ns");
    const double gbps = best_bandwidth(roofline, level);
    if (latency == nullptr || gbps <= 0) {
      return;
    }
    const double roof = slots->value * kBytesOfWave / latency->value;
    if (roof < gbps) {
      roofs.push_back({level + ", a load a wave", roof, std::nullopt, std::nullopt, "GB/s"});
    }
  };
  for (int number = 1; size_of_level(run, number) != nullptr; ++number) {
    add(fmt::format("level.{}.latency", number), fmt::format("level {}", number));
  }
  add("memory.latency", "DRAM");
  roofline.bandwidth.insert(roofline.bandwidth.end(), roofs.begin(), roofs.end());
}

}  // namespace gputrace::analysis
