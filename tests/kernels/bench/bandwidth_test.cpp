#include "kernels/bench/cases/bandwidth.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/bench/cases/case_data.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"

namespace gputrace::bench {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr auto kStreams = {Stream::kRead, Stream::kWrite, Stream::kCopy, Stream::kTriad};

TEST_CASE("a stream through memory touches each byte of its buffers once") {
  for (const auto& facts : {test::rasteriser(), test::integrated_gpu()}) {
    for (const Stream stream : kStreams) {
      const SizedCase sized = dram_case(facts, stream, 3 * kMiB);
      INFO(sized.kernel.id);
      double sources = 0;
      double targets = 0;
      for (const BufferNeed& need : sized.kernel.buffers) {
        sources += need.binding == 0 || need.binding == 2 ? static_cast<double>(need.bytes) : 0;
        targets += need.binding == 1 ? static_cast<double>(need.bytes) : 0;
      }
      CHECK(sources + targets >= 2.0 * kMiB);  // of one buffer, down to a power of two
      CHECK(read_bytes_of(sized.kernel, sized.launch) == sources);
      const double sums = threads_of(sized.kernel, sized.launch) * 4;
      CHECK(written_bytes_of(sized.kernel, sized.launch) == targets + sums);
    }
  }
}

TEST_CASE("streams keep to a device's limits") {
  auto facts = test::rasteriser();
  facts.max_groups_x = 64;
  facts.max_storage_range = 5 * kMiB;
  const SizedCase sized = dram_case(facts, Stream::kRead, dram_bytes(facts, false));
  CHECK(sized.launch.groups <= 64);
  CHECK(sized.launch.trips <= kMaxTrips);
  CHECK(sized.kernel.buffers[0].bytes == 4 * kMiB);
  facts.memory_bytes = 8 * kMiB;
  CHECK(dram_bytes(facts, false) == kMiB);
}

TEST_CASE("working sets go from 4 KiB to the size of a stream through memory") {
  const auto facts = test::integrated_gpu();
  const auto sizes = working_sets(facts, false);
  CHECK(sizes.front() == 4 * kKiB);
  CHECK(sizes.back() == dram_bytes(facts, false));
  CHECK(sizes.size() == 18);
  CHECK(working_sets(facts, true).size() < sizes.size() / 2 + 2);
}

TEST_CASE("groups with regions of their own have them side by side in one buffer") {
  auto facts = test::integrated_gpu();
  const SizedCase unknown = cache_case(facts, Stream::kRead, {.bytes = 16 * kKiB, .own = true});
  CHECK(unknown.kernel.id == "bandwidth.read.16KiB.own");
  CHECK(unknown.kernel.buffers[0].bytes == 16 * kKiB * unknown.launch.groups);
  facts.cores = 12;
  const SizedCase known = cache_case(facts, Stream::kRead, {.bytes = 16 * kKiB, .own = true});
  CHECK(known.launch.groups == 12);
  // What one core sees, not what all do.
  CHECK(known.kernel.stimulus(known.launch).footprint_bytes == 16 * kKiB);
}

TEST_CASE("a stream whose last trip was lost is wrong") {
  for (const Stream stream : kStreams) {
    const SizedCase sized = dram_case(test::rasteriser(), stream, kMiB);
    INFO(sized.kernel.id);
    // Nothing ran: sums, places and targets are zero.
    const Status status = sized.kernel.check(sized.launch, test::fresh_buffers(sized.kernel));
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("streams through memory run on a device and leave what the CPU calculates") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const Stream stream : kStreams) {
    const SizedCase sized = dram_case(runner->facts(), stream, kMiB);
    test::check_on_device(*runner, sized.kernel, sized.launch);
  }
}

TEST_CASE("regions that all groups share, or that each has, are read and written as claimed") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const Stream stream : {Stream::kRead, Stream::kWrite, Stream::kCopy, Stream::kTriad,
                              Stream::kMix25, Stream::kMix75}) {
    const SizedCase shared = cache_case(runner->facts(), stream, {.bytes = 4 * kKiB});
    test::check_on_device(*runner, shared.kernel, {.groups = 64, .trips = 33});
    const SizedCase own = cache_case(runner->facts(), stream, {.bytes = 4 * kKiB, .own = true});
    test::check_on_device(*runner, own.kernel, {.groups = own.launch.groups, .trips = 9});
  }
}

TEST_CASE("what a mix reads is never what it writes, whichever group does") {
  for (const auto& facts : {test::rasteriser(), test::integrated_gpu()}) {
    for (const Stream stream : {Stream::kMix25, Stream::kMix75}) {
      const std::uint32_t threads = memory_group_threads(facts);
      const std::uint64_t least = least_region(facts, stream);
      CHECK(least >= std::uint64_t{threads} * 4 * 16);
      for (std::uint64_t bytes = least; bytes <= 16 * least; bytes *= 2) {
        const SizedCase sized = cache_case(facts, stream, {.bytes = bytes});
        const vulkan::PushConstants push = sized.kernel.push(sized.launch, {});
        const auto mask = read_at<std::uint32_t>(push, 1);
        const auto group_start = read_at<std::uint32_t>(push, 3);
        CHECK(mask + 1 == bytes / 16);
        // Blocks of a group's width take turns; a group that began elsewhere would mix them up.
        CHECK(group_start % (4 * threads) == 0);
      }
    }
  }
}

TEST_CASE("both widths of word run on a device that has 64-bit integers") {
  const auto runner = test::bench_device_or_skip();
  if (!runner || !runner->facts().int64) {
    return;
  }
  auto facts = runner->facts();
  for (const bool is_cpu : {false, true}) {
    facts.is_cpu = is_cpu;
    const SizedCase sized = dram_case(facts, Stream::kTriad, kMiB);
    CHECK(sized.kernel.shader == (is_cpu ? "bandwidth64.comp" : "bandwidth.comp"));
    test::check_on_device(*runner, sized.kernel, sized.launch);
  }
}

TEST_CASE("a vector that another group wrote, or none, is found") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  SizedCase sized = dram_case(runner->facts(), Stream::kWrite, 64 * kKiB);
  const auto right = sized.kernel.check;
  sized.kernel.check = [&](const Launch& launch, const Outputs& outputs) {
    Outputs other = outputs;
    write_at<std::uint32_t>(other.buffers[0], 1, launch.groups - 1);  // vector 0 is group 0's
    const Status foreign = right(launch, other);
    CHECK_FALSE(foreign);
    other = outputs;
    std::fill_n(other.buffers[0].end() - 16, 16, std::byte{});
    CHECK_FALSE(right(launch, other));
    return right(launch, outputs);
  };
  const auto prepared = runner->prepare(sized.kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  CHECK((*prepared)->check_result(sized.launch));
}

}  // namespace
}  // namespace gputrace::bench
