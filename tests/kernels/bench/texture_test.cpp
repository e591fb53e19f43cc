#include "kernels/bench/tests/texture/texture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "kernels/bench/tests/noise_texture.h"
#include "kernels/bench/tests/texture/texture_cases.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)
using vulkan::Format;

TEST_CASE("every texture case fetches what the CPU expects, and no trip more or less") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const KernelCase& kernel : texture_cases(runner->facts())) {
    if (!kernel.needs.empty() && !runner->facts().bc_textures) {
      MESSAGE("skipped: ", kernel.id, ", without BC textures");
      continue;
    }
    test::check_on_device(*runner, kernel, {.groups = 1, .trips = 2, .repeats = 2});
  }
}

TEST_CASE("a texture smaller than its target repeats") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const bool bilinear : {false, true}) {
    const KernelCase kernel = texture_case({.format = Format::kRgba8,
                                            .side = 16,
                                            .bilinear = bilinear,
                                            .access = TextureAccess::kCoherent,
                                            .fetches = 4,
                                            .target_side = 128});
    test::check_on_device(*runner, kernel, {.groups = 1, .trips = 2, .repeats = 1});
  }
}

TEST_CASE("a texel that is not the right one is found") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const bool bilinear : {false, true}) {
    KernelCase kernel = texture_case({.format = Format::kRgba8,
                                      .side = 64,
                                      .bilinear = bilinear,
                                      .access = TextureAccess::kRandom,
                                      .fetches = 16,
                                      .target_side = 64});
    // Rows in another order: what a wrong pitch would do.
    kernel.texture->texels = [] {
      std::vector<std::byte> texels = noise_texels(Format::kRgba8, 64);
      std::rotate(texels.begin(), texels.begin() + std::ptrdiff_t{64} * 4, texels.end());
      return texels;
    };
    const auto prepared = runner->prepare(kernel);
    REQUIRE_MESSAGE(prepared, test::error_text(prepared));
    const Status wrong = (*prepared)->check_result({.groups = 1, .trips = 1, .repeats = 1});
    REQUIRE(!wrong);
    CHECK(wrong.error().code == ErrorCode::kCorrupt);
    CHECK(wrong.error().message.find("on the CPU") != std::string::npos);
  }
}

TEST_CASE("textures have the bytes of their format, and texels that differ") {
  CHECK(noise_texels(Format::kRgba8, 32).size() == 4096);
  CHECK(noise_texels(Format::kR16f, 32).size() == 2048);
  CHECK(noise_texels(Format::kBc7, 32).size() == 1024);
  for (const Format format : {Format::kRgba8, Format::kR16f, Format::kBc7}) {
    std::set<double> reds;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const double red = noise_texel(format, 32, i % 32, i / 2)[0];
      CHECK(red >= 0);
      CHECK(red <= 1);
      reds.insert(red);
    }
    CHECK(reds.size() > 32);
    CHECK(noise_texel(format, 32, 33, 64) == noise_texel(format, 32, 1, 0));
  }
}

TEST_CASE("textures grow to what the device and its memory allow") {
  vulkan::DeviceFacts facts = test::integrated_gpu();
  facts.max_image_side = 16'384;
  facts.memory_bytes = std::uint64_t{8} << 30U;
  CHECK(texture_sides(facts, false) ==
        std::vector<std::uint32_t>{64, 128, 256, 512, 1024, 2048, 4096, 8192});
  CHECK(texture_sides(facts, true) == std::vector<std::uint32_t>{64, 512, 4096});
  facts.memory_bytes = std::uint64_t{512} << 20U;
  CHECK(texture_sides(facts, false).back() == 2048);
  facts.max_image_side = 1024;
  CHECK(texture_sides(facts, false).back() == 1024);
}

TEST_CASE("bench texture gives rates by fetches and by size, and what the hash costs") {
  test::FakeRunner runner;
  runner.device.max_image_side = 16'384;
  runner.device.bc_textures = true;
  // 20 pixels or 80 fetches a ns, half of that at random; 120 places.
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    if (!kernel.target) {
      return threads_of(kernel, launch) * launch.trips / 10;
    }
    const double pixels = threads_of(kernel, launch);
    double rate = 80;
    rate = kernel.id.find(".random.") != std::string::npos ? 40 : rate;
    rate = kernel.id.find(".hash.") != std::string::npos ? 120 : rate;
    return std::max(pixels / 20, fetches_of(kernel, launch) / launch.repeats / rate);
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const std::vector<analysis::TestResult> results = run_texture(context);
  REQUIRE(results.size() == 4);
  for (const analysis::TestResult& test : results) {
    INFO(test.id);
    CHECK(test.unit == "GTexel/s");
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.result == analysis::Proof::kPassed);
    CHECK_FALSE(test.series.empty());
  }
  const analysis::TestResult& fetches = results[0];
  CHECK(fetches.id == "texture.fetches");
  REQUIRE(fetches.series.size() == 5);
  CHECK(fetches.series[1].name == "RGBA8 bilinear");
  REQUIRE(fetches.series[1].points.size() == 3);
  CHECK(*fetches.series[1].points[0].median == doctest::Approx(20));  // the pixels are the limit
  CHECK(*fetches.series[1].points[2].median == doctest::Approx(80));
  REQUIRE(fetches.derived.size() == 1);
  CHECK(fetches.derived[0].what == "texture.fetches.peak");
  CHECK(fetches.derived[0].value == doctest::Approx(80));
  const analysis::TestResult& random = results[2];
  CHECK(random.id == "texture.random");
  CHECK(random.series.front().points.size() == 3);
  CHECK(*random.series.front().points.back().median == doctest::Approx(40));
  const auto share =
      std::find_if(random.derived.begin(), random.derived.end(),
                   [](const auto& each) { return each.what == "texture.random.hash.4096"; });
  REQUIRE(share != random.derived.end());
  CHECK(share->value == doctest::Approx(100.0 / 3));
  CHECK(share->unit == "%");
}

TEST_CASE("without BC textures those series are skipped by name") {
  test::FakeRunner runner;
  runner.device.max_image_side = 512;
  runner.result = [](const KernelCase& kernel, const Launch& /*launch*/) -> Status {
    return kernel.needs.empty() ? Status() : fail(ErrorCode::kUnsupported, "no BC textures");
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  for (const analysis::TestResult& test : run_texture(context)) {
    INFO(test.id);
    CHECK(test.status == analysis::TestStatus::kOk);
    for (const analysis::BenchSeries& series : test.series) {
      const bool bc7 = series.name.starts_with("BC7");
      CHECK((series.points.front().status == analysis::TestStatus::kSkipped) == bc7);
      CHECK((series.points.front().why == "no BC textures") == bc7);
    }
  }
}

TEST_CASE("textures of the test stay within a small memory and a small side") {
  vulkan::DeviceFacts facts;
  facts.max_image_side = 16'384;
  facts.memory_bytes = 16ULL << 20U;  // a sixteenth holds 512 x 512 texels
  CHECK(texture_sides(facts, false).back() == 512);
  facts.memory_bytes = 1;
  CHECK(texture_sides(facts, false) == std::vector<std::uint32_t>{64});
  facts.memory_bytes = 16ULL << 30U;
  facts.max_image_side = 4096;
  CHECK(texture_sides(facts, false).back() == 4096);
  CHECK(texture_sides(facts, true).back() == 4096);
}

TEST_CASE("without time for more the plain kind is fetched alone, by wall time where need be") {
  test::FakeRunner runner;
  runner.device.max_image_side = 512;
  runner.has_timestamps = false;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  context.options.share_end_ns = runner.clock.now_ns();
  const std::vector<analysis::TestResult> results = run_texture(context);
  const analysis::TestResult& fetches = results.front();
  REQUIRE(fetches.series.size() == 1);
  CHECK(fetches.series.front().name == "RGBA8 nearest");
  CHECK(fetches.series.front().points.size() == 3);
  CHECK(fetches.why == "12 of 15 points left out: the test's share of the time was spent");
  // Random places and their cost are compared, however short the time is.
  CHECK_FALSE(results[2].series.empty());
  CHECK_FALSE(results[3].series.empty());
}
