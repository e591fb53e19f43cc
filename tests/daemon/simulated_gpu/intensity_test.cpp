#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "daemon/simulated_gpu/steady_signal.h"
#include "daemon/simulated_gpu/stimulus.h"
#include "tests/support/error_text.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

struct Shape {
  const char* name;
  int group_threads;
  double read_bytes;
  double written_bytes;
};

SteadySignal signal_of(const Shape& shape, double intensity) {
  const GpuDescription& gpu = simulated_models().front().gpu;
  const std::string text = fmt::format(
      R"({{"threads": 4194304, "group_threads": {}, "flops": {}, "access": "{}",
           "read_bytes": {}, "written_bytes": {}}})",
      shape.group_threads, intensity * (shape.read_bytes + shape.written_bytes),
      shape.read_bytes > 0 ? "stream" : "none", shape.read_bytes, shape.written_bytes);
  const auto played = parse_stimulus(text, gpu);
  REQUIRE_MESSAGE(played.has_value(), error_text(played));
  auto signal =
      SteadySignal::build(gpu, played->workload, {.power_limit_w = 54, .seed = 3, .variants = 1});
  REQUIRE_MESSAGE(signal.has_value(), error_text(signal));
  return std::move(*signal);
}

double busy(const SteadySignal& signal, Unit unit) {
  return static_cast<double>(signal.busy_ns(signal.superblock_ns(), unit, 1)) /
         static_cast<double>(signal.superblock_ns());
}

TEST_CASE("left of the ridge neither throughput nor any busy bit depends on intensity") {
  constexpr Shape kShapes[] = {{"copy, small groups", 64, 64, 64},
                               {"copy, large groups", 1024, 16, 16},
                               {"read", 256, 128, 0},
                               {"write", 1024, 0, 64}};
  constexpr double kIntensities[] = {0.25, 4, 16};  // the ridge is at 64
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.name);
    const SteadySignal none = signal_of(shape, 0);
    for (const double intensity : kIntensities) {
      CAPTURE(intensity);
      const SteadySignal some = signal_of(shape, intensity);
      CHECK(some.operating_point().dram_gbps() ==
            doctest::Approx(none.operating_point().dram_gbps()).epsilon(0.005));
      for (std::size_t i = 0; i < kUnitCount; ++i) {
        CAPTURE(i);
        const auto unit = static_cast<Unit>(i);
        // Misses of the second level of translation come by chance: a few hundred a dispatch.
        const double by_chance = unit == Unit::kUtcl2 ? 0.05 : 0.01;
        CHECK(std::abs(busy(some, unit) - busy(none, unit)) < by_chance);
      }
    }
  }
}

TEST_CASE("right of the ridge they do") {
  const Shape copy{"copy", 256, 64, 64};
  const SteadySignal low = signal_of(copy, 16);
  const SteadySignal high = signal_of(copy, 256);
  CHECK(busy(high, Unit::kEa) < busy(low, Unit::kEa) - 0.3);
  CHECK(busy(high, Unit::kCh) < busy(low, Unit::kCh) - 0.3);
}

}  // namespace
}  // namespace gputrace::test
