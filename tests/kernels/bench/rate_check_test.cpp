#include "kernels/bench/rate_check.h"

#include <doctest/doctest.h>

namespace gputrace {
namespace {

using bench::Launch;
using bench::Operation;

bench::KernelCase kernel_of(Operation operation, double per_trip) {
  bench::KernelCase kernel;
  kernel.id = "peak.test";
  kernel.group_threads = 64;
  kernel.formula = {{.operation = operation, .per_trip = per_trip, .once = 8},
                    {.operation = Operation::kStore16, .per_trip = 0, .once = 1}};
  return kernel;
}

constexpr Launch kLaunch{.groups = 10, .trips = 100, .repeats = 2};

TEST_CASE("operations are counted over trips, threads and repeats") {
  const auto rate = bench::lane_operations_per_ns(kernel_of(Operation::kFmaF32, 32), kLaunch, 1e6);
  REQUIRE(rate);
  CHECK(*rate == doctest::Approx((32 * 100 + 8) * 640.0 * 2 / 1e6));
}

TEST_CASE("a rate within a tenth of the additions' passes, one above is a failure") {
  const auto kernel = kernel_of(Operation::kFmaF32, 32);
  const double rate = bench::lane_operations_per_ns(kernel, kLaunch, 1e6).value_or(0);
  CHECK(bench::check_rate(kernel, kLaunch, 1e6, rate / 1.09).proof == analysis::Proof::kPassed);
  const auto failed = bench::check_rate(kernel, kLaunch, 1e6, rate / 1.11);
  CHECK(failed.proof == analysis::Proof::kFailed);
  CHECK(failed.why.find("peak.test") != std::string::npos);
  CHECK(failed.why.find("additions") != std::string::npos);
}

TEST_CASE("a packed operation is half an instruction") {
  const double plain =
      bench::lane_operations_per_ns(kernel_of(Operation::kFmaF32, 32), kLaunch, 1e6).value_or(0);
  const double packed =
      bench::lane_operations_per_ns(kernel_of(Operation::kFmaF16, 32), kLaunch, 1e6).value_or(0);
  CHECK(packed == doctest::Approx(plain / 2));
}

TEST_CASE("nothing is proved without a reference or a class that has one") {
  CHECK(bench::check_rate(kernel_of(Operation::kFmaF32, 32), kLaunch, 1e6, std::nullopt).proof ==
        analysis::Proof::kNotDone);
  auto pixels = kernel_of(Operation::kSample, 4);
  pixels.formula.pop_back();
  CHECK(bench::check_rate(pixels, kLaunch, 1e6, 1.0).proof == analysis::Proof::kNotDone);
}

}  // namespace
}  // namespace gputrace
