#include "kernels/bench/tests/copy/copy.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/bench/tests/copy/copy_buffers.h"
#include "kernels/bench/tests/copy/copy_proof.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

constexpr vulkan::MemoryKind kVram{.type = 0, .device_local = true, .heap_bytes = 1};
constexpr vulkan::MemoryKind kBar{
    .type = 1, .device_local = true, .host_visible = true, .host_coherent = true, .heap_bytes = 1};
constexpr vulkan::MemoryKind kUncached{
    .type = 2, .host_visible = true, .host_coherent = true, .heap_bytes = 1};
constexpr vulkan::MemoryKind kCached{
    .type = 3, .host_visible = true, .host_coherent = true, .host_cached = true, .heap_bytes = 1};
constexpr vulkan::MemoryKind kIncoherent{
    .type = 4, .host_visible = true, .host_cached = true, .heap_bytes = 1};

}  // namespace

TEST_CASE("sizes of copies reach from 4 KiB to what there is room for, the largest first") {
  const vulkan::DeviceFacts gpu = test::integrated_gpu();
  const auto full = copy_sizes(gpu, false, UINT64_MAX);
  CHECK(full.size() == 17);
  CHECK(full.front().bytes == 4096);
  CHECK(full.back().bytes == 256 * kMiB);
  const auto quick = copy_sizes(gpu, true, UINT64_MAX);
  CHECK(quick.size() <= 4);
  CHECK(quick.back().bytes == 32 * kMiB);
  CHECK(copy_sizes(test::rasteriser(), true, UINT64_MAX).back().bytes == 8 * kMiB);
  // Tiny memory: its own size, and never none.
  CHECK(copy_sizes(gpu, false, 100'000).back().bytes == 100'000);
  const auto tiny = copy_sizes(gpu, true, 0);
  REQUIRE(tiny.size() == 1);
  CHECK(tiny.front().bytes == 4096);
  for (const auto& sizes : {full, quick, tiny}) {
    CHECK(std::ranges::is_sorted(sizes, {}, &CopySize::bytes));
    CHECK(std::ranges::count(sizes, 0U, &CopySize::rank) == 1);
    CHECK(sizes.back().rank == 0);
  }
}

TEST_CASE("a small heap bounds all copies, so that each kind can be compared") {
  vulkan::DeviceFacts facts;
  facts.memory_kinds = {kVram, kBar};
  facts.memory_kinds[0].heap_bytes = 8192 * kMiB;
  facts.memory_kinds[1].heap_bytes = 256 * kMiB;  // a BAR that was not resized
  CHECK(copy_room(facts) == 16 * kMiB);
}

TEST_CASE("copies that would take seconds are left out, all but the shortest") {
  const auto sizes = copy_sizes(test::integrated_gpu(), false, UINT64_MAX);
  CHECK(longest_copy(sizes, 0.1, 250e6) == 256 * kMiB);
  // 20 ns a byte: an uncached read over a bus.
  CHECK(longest_copy(sizes, 20, 250e6) == 8 * kMiB);
  CHECK(longest_copy(sizes, 1e6, 250e6) == 4096);
}

TEST_CASE("copy commands go between cached host memory and what only the GPU sees") {
  CHECK(*vulkan::host_side({kVram, kBar, kUncached, kCached}) == kCached);
  CHECK(*vulkan::host_side({kVram, kBar, kUncached, kIncoherent}) == kIncoherent);
  CHECK(*vulkan::host_side({kVram, kBar, kUncached}) == kUncached);
  CHECK(*vulkan::host_side({kVram, kBar}) == kBar);
  CHECK(vulkan::host_side({kVram}) == nullptr);
  CHECK(vulkan::host_side({}) == nullptr);
  CHECK(*vulkan::device_side({kCached, kBar, kVram}) == kVram);
  CHECK(*vulkan::device_side({kCached, kBar}) == kBar);
  CHECK(*vulkan::device_side({kCached}) == kCached);
  CHECK(vulkan::device_side({}) == nullptr);
}

TEST_CASE("a byte that did not arrive is found, and so is what an earlier copy left") {
  for (const std::uint64_t bytes : {std::uint64_t{3}, std::uint64_t{4096}, 3 * kMiB + 5}) {
    CAPTURE(bytes);
    std::vector<std::byte> source(bytes);
    fill_pattern(source);
    stamp_blocks(source, 1);
    std::vector<std::byte> arrived = source;
    arrived.resize(bytes + 100);
    CHECK(check_arrival("copy", source, arrived));
    // The last byte, and the first.
    for (const std::size_t at : {std::size_t{0}, static_cast<std::size_t>(bytes - 1)}) {
      arrived[at] ^= std::byte{0x40};
      const Status wrong = check_arrival("copy.write", source, arrived);
      REQUIRE(!wrong);
      CHECK(wrong.error().code == ErrorCode::kCorrupt);
      CHECK(wrong.error().message.find("copy.write: byte " + std::to_string(at) + " is") == 0);
      arrived[at] ^= std::byte{0x40};
    }
    stamp_blocks(source, 2);
    CHECK(!check_arrival("copy", source, arrived));
  }
  // A copy of which the second half was lost.
  std::vector<std::byte> source(3 * kMiB);
  fill_pattern(source);
  std::vector<std::byte> half(source.size());
  std::copy_n(source.begin(), source.size() / 2, half.begin());
  CHECK(!check_arrival("copy", source, half));
}

TEST_CASE("bench copy on a real device: every way has rates, all of them proven") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  std::size_t done = 0;
  context.options.progress = [&](std::size_t now, std::size_t of, double) {
    done = now;
    CHECK(now <= of);
  };
  const auto results = run_copy(context);
  REQUIRE(results.size() == 4);
  CHECK(done > 0);
  for (const analysis::TestResult& test : results) {
    CAPTURE(test.id);
    CHECK_MESSAGE(test.status == analysis::TestStatus::kOk, test.why);
    CHECK(test.result == analysis::Proof::kPassed);
    CHECK(test.unit == "GB/s");
    REQUIRE(!test.series.empty());
    CHECK(test.derived.size() == test.series.size());
    for (const analysis::BenchSeries& series : test.series) {
      CHECK(std::ranges::is_sorted(series.points, {}, &analysis::BenchPoint::x));
      for (const analysis::BenchPoint& point : series.points) {
        REQUIRE(point.median);
        CHECK(*point.median > 0);
        CHECK(*point.p5 <= *point.median);
        CHECK(point.samples >= kFewestSamples);
      }
    }
  }
}

TEST_CASE("past its share bench copy has the largest size of each series on one core") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  context.options.share_end_ns = 0;
  for (const analysis::TestResult& test : run_copy(context)) {
    CAPTURE(test.id);
    CHECK(test.status == analysis::TestStatus::kOk);
    CHECK(test.why.find("points left out") != std::string::npos);
    for (const analysis::BenchSeries& series : test.series) {
      CHECK(series.points.size() == 1);
    }
  }
}

TEST_CASE("a signal leaves what was copied until then") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  TestContext context{.runner = *runner, .options = test::brief_options(), .quick = true};
  context.options.cancelled = [] { return true; };
  for (const analysis::TestResult& test : run_copy(context)) {
    CHECK(test.series.empty());
    CHECK(test.status != analysis::TestStatus::kFailed);
  }
}

TEST_CASE("buffers that do not fit are made smaller, and it is said") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  vulkan::Device& device = *runner->device();
  const auto make_up_to = [&](std::uint64_t most) {
    return [&device, most](std::uint64_t bytes) -> Result<CopyBuffers> {
      if (bytes > most) {
        return fail(ErrorCode::kNoSpace, "out of memory");
      }
      return CopyBuffers::create(device, bytes);
    };
  };
  const auto whole = create_where_it_fits(kMiB, make_up_to(kMiB));
  REQUIRE(whole);
  CHECK(whole->note.empty());
  const auto less = create_where_it_fits(kMiB, make_up_to(kMiB / 3));
  REQUIRE(less);
  CHECK(less->bytes == kMiB / 4);
  CHECK(less->note == "too little memory for 1024 KiB: 256 KiB instead");
  const auto nothing = create_where_it_fits(kMiB, make_up_to(0));
  REQUIRE(!nothing);
  CHECK(nothing.error().code == ErrorCode::kNoSpace);
}

TEST_CASE("a simulated GPU has nothing to copy to, and says so") {
  test::FakeRunner runner;
  runner.is_simulated = true;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_copy(context);
  REQUIRE(results.size() == 1);
  CHECK(results.front().status == analysis::TestStatus::kSkipped);
  CHECK(results.front().why.find("simulated") != std::string::npos);
  // A device that was lost and could not be opened again.
  runner.is_simulated = false;
  CHECK(run_copy(context).front().status == analysis::TestStatus::kFailed);
}
