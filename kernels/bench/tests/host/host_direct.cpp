#include "kernels/bench/tests/host/host_direct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/copy/cpu_cores.h"
#include "kernels/bench/tests/host/host_cases.h"
#include "kernels/bench/tests/host/word_swap.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::DerivedValue;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr std::int64_t kTimeoutNs = 30'000'000'000;
constexpr double kNsPerUs = 1000;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kSmallestTouch = 4096;
constexpr std::uint64_t kLargestTouch = 256 * kMiB;
constexpr std::uint64_t kMemoryShare = 4;
/// What a copy moves at least: slower ones are slower than any bus of a GPU.
constexpr double kSlowCopyBytesPerNs = 16;
/// Of such a copy's time.
constexpr double kHiddenCopy = 0.5;
constexpr std::uint32_t kRounds = 200;
constexpr int kGames = 7;
constexpr std::int64_t kPatienceNs = 50'000'000;
/// Trips of eight looks. Over a bus a look takes a microsecond, and no kernel may seem to hang.
constexpr std::uint32_t kSwapBudget = 8000;

TestResult result_of(std::string_view id, std::string_view unit, std::string_view axis,
                     std::string_view axis_unit) {
  TestResult test;
  test.id = id;
  test.unit = unit;
  test.axis = axis;
  test.axis_unit = axis_unit;
  return test;
}

BenchPoint& add_point(TestResult& test, std::string_view name, double x) {
  auto series = std::ranges::find(test.series, name, &BenchSeries::name);
  if (series == test.series.end()) {
    series = test.series.insert(series, {.name = std::string(name), .points = {}});
  }
  BenchPoint& point = series->points.emplace_back();
  point.x = x;
  point.label = fmt::format("{}.{}.{:g}", test.id, name, x);
  return point;
}

void enter(DirectPart& part, TestResult& test, BenchPoint& point,
           const Result<std::optional<Timing>>& timing, double unit_ns) {
  if (!timing) {
    enter_error(timing.error(), point);
    part.lost = device_is_lost(timing.error()) ? std::optional(timing.error()) : part.lost;
    return;
  }
  if (const auto& timed = *timing) {
    enter_timing(*timed, point);
    point.median = timed->median_ns / unit_ns;
    point.p5 = timed->p5_ns / unit_ns;
    point.p95 = timed->p95_ns / unit_ns;
    test.result = combine(test.result, Proof::kPassed);
  }
}

/// The kernel that touches a word, with its buffers.
struct Toucher {
  vulkan::Pipeline pipeline;
  vulkan::Buffer from;
  vulkan::Buffer seen;
  std::uint32_t place = 0;
  std::uint32_t dispatches = 0;  ///< so far

  static Result<Toucher> create(vulkan::Device& device, std::uint64_t bytes) {
    auto pipeline =
        device.create_pipeline(vulkan::ComputeShader{.spirv = shader_code("host_touch.comp")});
    if (!pipeline) {
      return tl::unexpected(pipeline.error());
    }
    auto from = device.create_host_buffer(bytes);
    if (!from) {
      return tl::unexpected(from.error());
    }
    auto seen = device.create_buffer(kSeenBytes, vulkan::MemoryUse::kReadBack);
    if (!seen) {
      return tl::unexpected(seen.error());
    }
    return Toucher{.pipeline = std::move(*pipeline),
                   .from = std::move(*from),
                   .seen = std::move(*seen),
                   .place = static_cast<std::uint32_t>(bytes / 4 - 1)};
  }

  /// The CPU writes a word, the GPU sees it, as often as it is told to.
  Result<vulkan::RunTime> run(vulkan::Device& device, std::uint32_t repeats, bool barriers) {
    const std::uint32_t word = 0x51ED270BU * (dispatches + 1);
    std::memcpy(&from.mapped()[std::size_t{place} * 4], &word, sizeof word);
    if (const Status flushed = device.flush(from, from.size()); !flushed) {
      return tl::unexpected(flushed.error());
    }
    const vulkan::Work work = vulkan::Dispatch{.pipeline = &pipeline,
                                               .bindings = {.storage = {&from, &seen}},
                                               .push = touch_push(place),
                                               .repeat = repeats,
                                               .barriers = barriers};
    auto time = device.run({&work, 1}, kTimeoutNs);
    if (!time) {
      return time;
    }
    dispatches += repeats;
    std::uint32_t got = 0;
    std::uint32_t count = 0;
    std::memcpy(&got, &seen.mapped()[kSeenWord * 4], sizeof got);
    std::memcpy(&count, &seen.mapped()[kCountWord * 4], sizeof count);
    if (got != word || count != dispatches) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the CPU wrote {:#x} and the GPU saw {:#x}; {} of {} dispatches ran",
                              word, got, count, dispatches));
    }
    return time;
  }
};

void derive(TestResult& test, std::string_view what, const Result<std::optional<Timing>>& timed,
            double unit_ns, std::string_view unit, std::string_view by) {
  const std::optional<Timing> known = timed.value_or(std::nullopt);
  if (!known) {
    return;
  }
  const Timing& timing = *known;
  test.derived.push_back({.what = std::string(what),
                          .value = timing.median_ns / unit_ns,
                          .lower = timing.p5_ns / unit_ns,
                          .upper = timing.p95_ns / unit_ns,
                          .unit = std::string(unit),
                          .confidence = "",
                          .by = fmt::format("{}, n = {}", by, timing.samples)});
}

void fail_test(DirectPart& part, TestResult& test, const Error& error) {
  const bool lacks = error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kNoSpace;
  test.status = lacks ? TestStatus::kSkipped : TestStatus::kFailed;
  test.why = error.message;
  part.lost = device_is_lost(error) ? std::optional(error) : part.lost;
}

/// With time to spare, one more point or repeat.
bool goes_on(const DirectPart& part) {
  return !part.lost && !(part.options.cancelled && part.options.cancelled());
}

/// Of no work, from a thread that stays on one core.
Result<std::optional<Timing>> submissions_from(DirectPart& part, const NamedCore& core) {
  const auto stays = PinnedThread::to(core.cpu);
  if (!stays) {
    return tl::unexpected(stays.error());
  }
  return time_submissions(part.options, part.clock,
                          [&part] { return part.device.run({}, kTimeoutNs); });
}

}  // namespace

std::uint64_t touch_bytes(const vulkan::DeviceFacts& facts) {
  std::uint64_t most = std::min(kLargestTouch, facts.max_storage_range);
  if (const vulkan::MemoryKind* const host = vulkan::host_side(facts.memory_kinds)) {
    most = std::min(most, host->heap_bytes / kMemoryShare);
  }
  return std::max(most / kSmallestTouch * kSmallestTouch, kSmallestTouch);
}

TestResult measure_launch(DirectPart& part) {
  TestResult test = result_of("host.launch", "us", "dispatches", "");
  auto toucher = Toucher::create(part.device, kSmallestTouch);
  if (!toucher) {
    fail_test(part, test, toucher.error());
    return test;
  }
  const auto empty =
      time_submissions(part.options, part.clock, [&] { return part.device.run({}, kTimeoutNs); });
  enter(part, test, add_point(test, "empty", 0), empty, kNsPerUs);
  derive(test, "host.submit", empty, kNsPerUs, "us", "submit to fence of no work");
  for (const NamedCore& core : cores_to_compare()) {
    if (goes_on(part)) {
      enter(part, test, add_point(test, fmt::format("empty, {}", core.name), 0),
            submissions_from(part, core), kNsPerUs);
    }
  }
  const std::vector<std::uint32_t> counts = part.context.quick
                                                ? std::vector<std::uint32_t>{1, 100}
                                                : std::vector<std::uint32_t>{1, 10, 100, 1000};
  for (const bool barriers : {true, false}) {
    const std::string_view name = barriers ? "with barriers" : "without barriers";
    for (const std::uint32_t count : counts) {
      if (goes_on(part)) {
        const auto timing = time_submissions(
            part.options, part.clock, [&] { return toucher->run(part.device, count, barriers); });
        enter(part, test, add_point(test, name, count), timing, kNsPerUs);
      }
    }
    if (goes_on(part)) {
      const auto each = time_repeats(part.options, part.clock, [&](std::uint32_t repeats) {
        return toucher->run(part.device, repeats, barriers);
      });
      const std::string_view what = barriers ? "host.dispatch.barrier" : "host.dispatch";
      if (!each) {
        test.why +=
            fmt::format("{}{}: {}", test.why.empty() ? "" : "; ", what, each.error().message);
        part.lost = device_is_lost(each.error()) ? std::optional(each.error()) : part.lost;
      }
      derive(test, what, each, 1, "ns",
             barriers ? "dispatches of one thread, a barrier behind each"
                      : "dispatches of one thread that may overlap");
    }
  }
  return test;
}

TestResult measure_touch(DirectPart& part) {
  TestResult test = result_of("host.touch", "us", "buffer", "B");
  std::uint64_t largest = touch_bytes(part.device.facts());
  std::vector<std::uint64_t> sizes{kSmallestTouch};
  if (!part.context.quick && largest > kMiB) {
    sizes.push_back(kMiB);
  }
  sizes.push_back(largest);
  std::vector<double> medians;
  for (std::uint64_t bytes : sizes) {
    auto toucher = Toucher::create(part.device, bytes);
    while (!toucher && toucher.error().code == ErrorCode::kNoSpace && bytes >= 2 * kSmallestTouch) {
      bytes /= 2;
      toucher = Toucher::create(part.device, bytes);
      test.why =
          fmt::format("too little memory: {} KiB instead of {}", bytes / 1024, sizes.back() / 1024);
    }
    if (!toucher) {
      fail_test(part, test, toucher.error());
      return test;
    }
    if (!goes_on(part)) {
      return test;
    }
    const auto timing = time_submissions(part.options, part.clock,
                                         [&] { return toucher->run(part.device, 1, true); });
    const std::string_view name =
        toucher->from.is_imported() ? "pages of the process" : "host memory";
    BenchPoint& point = add_point(test, name, static_cast<double>(bytes));
    enter(part, test, point, timing, kNsPerUs);
    if (point.median) {
      medians.push_back(*point.median * kNsPerUs);
    }
    largest = bytes;
  }
  if (medians.size() == sizes.size() && largest > kMiB) {
    const double more_ns = medians.back() - medians.front();
    const double copy_ns = static_cast<double>(largest) / kSlowCopyBytesPerNs;
    const bool copies = more_ns > kHiddenCopy * copy_ns;
    test.derived.push_back(
        {.what = "host.touch.copy",
         .value = 100 * std::max(more_ns, 0.0) / copy_ns,
         .lower = std::nullopt,
         .upper = std::nullopt,
         .unit = "%",
         .confidence = "",
         .by = fmt::format("{} KiB took {:.1f} us longer than {} KiB, and a copy at 16 GB/s takes "
                           "{:.0f} us: {}",
                           largest / 1024, more_ns / kNsPerUs, kSmallestTouch / 1024,
                           copy_ns / kNsPerUs,
                           copies ? "the buffer is copied" : "nothing is copied")});
  }
  return test;
}

TestResult measure_swap(DirectPart& part) {
  TestResult test = result_of("host.swap", "ns a round", "rounds", "");
  auto words = part.device.create_host_buffer(kSwapBytes);
  auto pipeline =
      part.device.create_pipeline(vulkan::ComputeShader{.spirv = shader_code("host_swap.comp")});
  if (!words || !pipeline) {
    fail_test(part, test, !words ? words.error() : pipeline.error());
    return test;
  }
  const vulkan::MemoryKind* const host = vulkan::host_side(part.device.facts().memory_kinds);
  if (!words->is_imported() && (host == nullptr || !host->host_coherent)) {
    fail_test(part, test, {ErrorCode::kUnsupported, "host memory is not coherent"});
    return test;
  }
  const std::uint32_t budget = part.device.facts().is_cpu ? kMaxTrips : kSwapBudget;
  std::vector<double> rounds_ns;
  std::string why;
  for (int game = 0; game < kGames && goes_on(part); ++game) {
    std::ranges::fill(words->mapped(), std::byte{0});
    auto* const word = reinterpret_cast<std::uint32_t*>(words->mapped().data());
    WordSwap swap;
    const vulkan::Work work = vulkan::Dispatch{.pipeline = &*pipeline,
                                               .bindings = {.storage = {&*words}},
                                               .push = swap_push(kRounds, budget)};
    const auto ran = part.device.run({&work, 1}, kTimeoutNs, {.while_running = [&] {
                                       swap = swap_words(word[kAskedWord], word[kAnsweredWord],
                                                         kRounds, kPatienceNs, part.clock);
                                     }});
    if (!ran) {
      fail_test(part, test, ran.error());
      return test;
    }
    if (!swap.why.empty()) {
      why =
          fmt::format("{}; the kernel saw {} and ended after {} of {} looks", swap.why,
                      word[kLastWord] == kStopAsking ? "the end" : std::to_string(word[kLastWord]),
                      std::uint64_t{word[kTripsWord]} * 8, std::uint64_t{budget} * 8);
      continue;
    }
    if (word[kLastWord] != kRounds) {
      fail_test(part, test,
                {ErrorCode::kCorrupt,
                 fmt::format("the GPU counted {} rounds of {}", word[kLastWord], kRounds)});
      return test;
    }
    rounds_ns.push_back(swap.round_ns);
  }
  if (rounds_ns.empty()) {
    test.status = TestStatus::kSkipped;
    test.why = why.empty() ? "stopped by a signal" : why;
    return test;
  }
  test.result = Proof::kPassed;
  BenchPoint& point =
      add_point(test, words->is_imported() ? "pages of the process" : "host memory", kRounds);
  point.median = quantile(rounds_ns, 0.5);
  point.p5 = quantile(rounds_ns, 0.05);
  point.p95 = quantile(rounds_ns, 0.95);
  point.samples = static_cast<std::uint32_t>(rounds_ns.size());
  if (static_cast<int>(rounds_ns.size()) < kGames) {
    test.why = fmt::format("{} of {} games were finished: {}", rounds_ns.size(), kGames, why);
  }
  return test;
}

}  // namespace gputrace::bench
