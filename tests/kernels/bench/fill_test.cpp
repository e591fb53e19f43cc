#include "kernels/bench/tests/fill/fill.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/bench/isa_check.h"
#include "kernels/bench/tests/fill/fill_cases.h"
#include "kernels/bench/tests/texel_formats.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)
using vulkan::Format;

namespace {

/// R8 texels of a shape, as the CPU computes them.
std::vector<std::byte> drawn(const FillShape& shape, std::uint32_t trips) {
  std::vector<std::byte> bytes;
  for (std::uint32_t y = 0; y < shape.target.height; ++y) {
    for (std::uint32_t x = 0; x < shape.target.width; ++x) {
      const float value = fill_value(shape, x, y, trips);
      bytes.push_back(static_cast<std::byte>(std::lround(value * 255)));
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("every pixel of the fill test holds what the CPU calculates, and no trip more or less") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const KernelCase& kernel : fill_cases(runner->facts())) {
    if (kernel.blend) {
      const auto prepared = runner->prepare(kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status right = (*prepared)->check_result({.groups = 3, .trips = 2, .repeats = 1});
      CHECK_MESSAGE(right, test::error_text(right));
      continue;
    }
    test::check_on_device(*runner, kernel, {.groups = 2, .trips = 32, .repeats = 2});
  }
}

TEST_CASE("one wrong pixel among those looked at is found, with its place and both values") {
  const FillShape shape{.target = {.width = 64, .height = 32, .format = Format::kR8},
                        .content = FillContent::kNoise};
  const KernelCase kernel = fill_case(shape);
  const Launch launch{.groups = 1, .trips = 5, .repeats = 1};
  Outputs outputs;
  outputs.target = drawn(shape, launch.trips);
  CHECK(kernel.check(launch, outputs));
  outputs.target.back() ^= std::byte{0x10};  // a corner
  const Status wrong = kernel.check(launch, outputs);
  REQUIRE(!wrong);
  CHECK(wrong.error().code == ErrorCode::kCorrupt);
  CHECK(wrong.error().message.find("pixel 63, 31") != std::string::npos);
  outputs.target.pop_back();
  CHECK(!kernel.check(launch, outputs));
}

TEST_CASE("noise leaves nothing to compress, a gradient steps, a constant is one") {
  const auto mean_step = [](FillContent content) {
    const FillShape shape{.target = {.width = 256, .height = 64, .format = Format::kR8},
                          .content = content};
    double sum = 0;
    for (std::uint32_t y = 0; y < 64; ++y) {
      for (std::uint32_t x = 1; x < 256; ++x) {
        sum += static_cast<double>(
            std::abs(fill_value(shape, x, y, 0) - fill_value(shape, x - 1, y, 0)));
      }
    }
    return sum / (255.0 * 64);
  };
  CHECK(mean_step(FillContent::kConstant) == 0);
  CHECK(mean_step(FillContent::kGradient) > 0.0005);
  CHECK(mean_step(FillContent::kGradient) < 0.005);
  CHECK(mean_step(FillContent::kNoise) > 0.1);
}

TEST_CASE("targets of the fill test have the bytes that they shall have, as far as a device goes") {
  vulkan::DeviceFacts facts = test::integrated_gpu();
  facts.max_image_side = 16'384;
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  const auto rgba8 = fill_target(facts, Format::kRgba8, 64 * kMiB);
  CHECK(rgba8.width == 4096);
  CHECK(rgba8.height == 4096);
  const auto r8 = fill_target(facts, Format::kR8, 32 * kMiB);
  CHECK(r8.width == 8192);
  CHECK(r8.height == 4096);
  facts.memory_bytes = 64 * kMiB;
  CHECK(fill_target(facts, Format::kRgba8, 64 * kMiB).height == 1024);
  facts.max_image_side = 256;
  CHECK(fill_target(facts, Format::kRgba8, 64 * kMiB).width == 256);
}

TEST_CASE("small floats are decoded as their formats say") {
  CHECK(half_to_double(0x3c00) == 1);
  CHECK(half_to_double(0xc000) == -2);
  CHECK(half_to_double(0x0001) == 0x1p-24);
  const std::uint32_t packed = (15U << 6U) | (16U << 6U | 32U) << 11U | (14U << 5U) << 22U;
  std::array<std::byte, 4> bytes{};
  std::memcpy(bytes.data(), &packed, sizeof packed);
  const Components texel = decode_texel(Format::kR11G11B10f, bytes);
  CHECK(texel.count == 3);
  CHECK(texel.values[0] == 1);
  CHECK(texel.values[1] == 3);
  CHECK(texel.values[2] == 0.5);
}

TEST_CASE("bench fill gives every format its rates and says what they came from") {
  test::FakeRunner runner;
  runner.device.max_image_side = 16'384;
  runner.device.listed.type = "integrated GPU";
  // 50 pixels a ns, 200 bytes a ns, 1000 FMAs or additions a ns, whichever takes longest.
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    const double threads = threads_of(kernel, launch);
    const double operations = kernel.formula.front().per_trip * launch.trips;
    const double bytes = kernel.target ? kernel.written_bytes_once + kernel.read_bytes_once : 0;
    return threads * std::max({1 / 50.0, bytes / 200, operations / 1000});
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = false};
  const std::vector<analysis::TestResult> results = run_fill(context);
  REQUIRE(results.size() == 8);
  for (const analysis::TestResult& test : results) {
    INFO(test.id);
    CHECK(test.unit == "GPixel/s");
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.result == analysis::Proof::kPassed);
    CHECK_FALSE(test.series.empty());
    for (const analysis::BenchSeries& series : test.series) {
      CHECK(std::is_sorted(series.points.begin(), series.points.end(),
                           [](const auto& one, const auto& other) { return one.x < other.x; }));
    }
  }
  const analysis::TestResult& rgba8 = results.front();
  CHECK(rgba8.id == "fill.rgba8");
  CHECK(rgba8.rate == analysis::Proof::kPassed);
  REQUIRE(rgba8.series.size() == 3);
  CHECK(rgba8.series[2].name == "noise");
  REQUIRE(rgba8.series[2].points.size() == 7);
  CHECK(*rgba8.series[2].points.front().median == doctest::Approx(50));
  CHECK(*rgba8.series[2].points.back().median == doctest::Approx(1000.0 / 512));
  REQUIRE(rgba8.derived.size() == 3);
  CHECK(rgba8.derived[0].what == "fill.rgba8.peak");
  CHECK(rgba8.derived[0].value == doctest::Approx(50));
  CHECK(rgba8.derived[0].by.find("0 FMA/pixel, n = 20") != std::string::npos);
  CHECK(rgba8.derived[1].what == "fill.rgba8.written");
  CHECK(rgba8.derived[1].value == doctest::Approx(200));
  CHECK(rgba8.derived[2].what == "fill.rgba8.flops");
  CHECK(rgba8.derived[2].value == doctest::Approx(2000));
  // Blending reads what it writes over.
  const analysis::TestResult& overdraw = results[5];
  CHECK(overdraw.id == "fill.overdraw");
  REQUIRE(overdraw.series.size() == 2);
  CHECK(*overdraw.series[0].points.back().median == doctest::Approx(50));
  CHECK(*overdraw.series[1].points.back().median == doctest::Approx(25));
  CHECK(results[6].series.front().points.back().x == 64 * 1024 * 1024);
}

TEST_CASE("a format that the device cannot draw to is skipped by name, and the rest is measured") {
  test::FakeRunner runner;
  runner.device.max_image_side = 1024;
  runner.result = [](const KernelCase& kernel, const Launch& /*launch*/) -> Status {
    if (kernel.id.find("r11g11b10f") != std::string::npos) {
      return fail(ErrorCode::kUnsupported, "the device does not draw to R11G11B10F");
    }
    return {};
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  for (const analysis::TestResult& test : run_fill(context)) {
    INFO(test.id);
    const bool lacks = test.id == "fill.r11g11b10f";
    CHECK((test.status == analysis::TestStatus::kSkipped) == lacks);
    CHECK((test.why.find("R11G11B10F") != std::string::npos) == lacks);
    CHECK(test.derived.empty() == (lacks || test.id == "fill.target" || test.id == "fill.tile"));
  }
}

TEST_CASE("the memory of a tile ends where blending falls for good, between two sizes") {
  constexpr double kMiB = 1048576;
  test::FakeRunner runner;
  runner.device.max_image_side = 16'384;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    const double bytes = kernel.target ? 4.0 * kernel.target->width * kernel.target->height : 0;
    const bool leaves = kernel.blend && bytes > 21 * kMiB;
    return std::max(threads_of(kernel, launch) / (leaves ? 20.0 : 60.0), 1000.0);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = false};
  const std::vector<analysis::TestResult> results = run_fill(context);
  const analysis::TestResult& tile = results.back();
  CHECK(tile.id == "fill.tile");
  REQUIRE(tile.series.size() == 1);
  CHECK(tile.series.front().points.size() == 7);
  CHECK(tile.series.front().points.front().x == kMiB);
  REQUIRE(tile.derived.size() == 1);
  CHECK(tile.derived.front().what == "tile.size");
  CHECK(tile.derived.front().value == 16 * kMiB);
  CHECK(*tile.derived.front().upper == 32 * kMiB);
  // Where nothing falls nothing is said.
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    return std::max(threads_of(kernel, launch) / 60.0, 1000.0);
  };
  CHECK(run_fill(context).back().derived.empty());
}

TEST_CASE("targets that a small device would cut are not drawn twice") {
  vulkan::DeviceFacts facts = test::integrated_gpu();
  facts.max_image_side = 16'384;
  CHECK(tile_sizes(facts, true).size() == 7);
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  facts.memory_bytes = 64 * kMiB;
  CHECK(tile_sizes(facts, true) == std::vector<std::uint64_t>{kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB});
  facts.max_image_side = 128;  // less than a target of 1 MiB has
  CHECK(tile_sizes(facts, true).empty());
}

TEST_CASE("without time for more a format is drawn once, and what was left out is told") {
  test::FakeRunner runner;
  runner.device.max_image_side = 16'384;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    const double operations = kernel.formula.front().per_trip * launch.trips;
    return threads_of(kernel, launch) * std::max(1 / 50.0, operations / 1000);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  const std::vector<analysis::TestResult> results = run_fill(context);
  const analysis::TestResult& rgba8 = results.front();
  REQUIRE(rgba8.series.size() == 1);
  CHECK(rgba8.series.front().name == "noise");
  REQUIRE(rgba8.series.front().points.size() == 1);
  CHECK(rgba8.series.front().points.front().x == 0);
  CHECK(rgba8.status == analysis::TestStatus::kOk);
  CHECK(rgba8.why == "5 of 6 points left out: the test's share of the time was spent");
  const analysis::TestResult& tile = results.back();
  CHECK(tile.series.front().points.size() == 3);
  // Of which nothing was measured is skipped, not ok.
  const analysis::TestResult& overdraw = results[5];
  CHECK(overdraw.status == analysis::TestStatus::kSkipped);
  CHECK(overdraw.why.find("6 of 6 points left out") != std::string::npos);
  // A calibration has no ranks: it gets all of its points.
  context.options.share_end_ns.reset();
  CHECK(run_fill(context).front().why.empty());
}
