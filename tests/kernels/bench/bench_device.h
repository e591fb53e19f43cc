// Lavapipe (or another device of the machine) behind the interface of the benches, with options
// that make points short.
#pragma once

#include <memory>
#include <utility>

#include "kernels/bench/measurement.h"
#include "kernels/bench/vulkan_runner.h"
#include "tests/support/error_text.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::test {

/// Null: the reason was printed, and the test returns.
inline std::unique_ptr<bench::Runner> bench_device_or_skip() {
  if (!lavapipe_or_skip()) {
    return nullptr;
  }
  auto runner = bench::open_vulkan_runner("", true);
  REQUIRE_MESSAGE(runner, error_text(runner));
  return std::move(*runner);
}

/// Figures of such runs mean little; that they are there and proven is what tests look at.
inline bench::MeasurementOptions brief_options() {
  bench::MeasurementOptions options;
  options.run_ns = 1e6;
  options.samples = bench::kFewestSamples;
  options.warm_up_ns = 1e6;
  options.point_limit_ns = 50e6;
  return options;
}

}  // namespace gputrace::test
