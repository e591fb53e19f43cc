#include "kernels/bench/tests/copy/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "kernels/bench/proven_kernel.h"
#include "kernels/bench/tests/copy/copy_buffers.h"
#include "kernels/bench/tests/copy/copy_proof.h"
#include "kernels/bench/tests/copy/cpu_cores.h"
#include "kernels/bench/tests/direct_timing.h"
#include "kernels/bench/tests/point_loop.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

enum class Way { kWrite, kRead, kUpload, kDownload };
constexpr std::array kWays{Way::kWrite, Way::kRead, Way::kUpload, Way::kDownload};
constexpr std::array<std::string_view, 4> kIds{"copy.write", "copy.read", "copy.upload",
                                               "copy.download"};

constexpr unsigned kOtherCores = 2;
/// A copy by the CPU that takes longer is left out: reads of what it does not cache may take 20 ns
/// a byte.
constexpr double kLongestNs = 250e6;
constexpr double kLongestQuickNs = 5e6;
constexpr double kPointNs = 40e6;
constexpr double kQuickPointNs = 12e6;
constexpr double kQuickRunNs = 0.5e6;
/// Copies of a size that tells how fast a kind of memory is.
constexpr std::uint64_t kTrialBytes = std::uint64_t{64} * 1024;
constexpr int kTrials = 2;

bool by_cpu(Way way) {
  return way == Way::kWrite || way == Way::kRead;
}

/// Not known to the compiler, which could else leave out copies that a later one overwrites.
void* (*volatile const kCopyBytes)(void*, const void*, std::size_t) = std::memcpy;

struct Job {
  Way way = Way::kWrite;
  std::size_t place = 0;  ///< of CopyBuffers::mapped, or of DeviceFacts::queues
  std::size_t core = 0;   ///< of the chosen ones
  std::uint64_t bytes = 0;
  unsigned rank = 0;
  std::optional<BenchPoint> point = std::nullopt;
};

class CopyBench {
 public:
  CopyBench(TestContext& context, vulkan::Device& device, CopyBuffers buffers)
      : context_(context), device_(device), buffers_(std::move(buffers)) {
    options_.point_limit_ns = context.quick ? kQuickPointNs : kPointNs;
    options_.run_ns = context.quick ? kQuickRunNs : options_.run_ns;
    options_.samples = context.options.samples;
    options_.cancelled = context.options.cancelled;
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      tests_[i].id = kIds.at(i);
      tests_[i].unit = "GB/s";
      tests_[i].axis = "size";
      tests_[i].axis_unit = "B";
    }
  }

  std::vector<TestResult> run() {
    plan();
    std::vector<unsigned> ranks;
    ranks.reserve(jobs_.size());
    for (const Job& job : jobs_) {
      ranks.push_back(job.rank);
    }
    const PointLoop loop = for_each_point(
        context_.options, ranks,
        [&](std::size_t index, const MeasurementOptions&) { return measure(jobs_[index]); });
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      finish(kWays.at(i), tests_.at(i), loop);
    }
    return {std::make_move_iterator(tests_.begin()), std::make_move_iterator(tests_.end())};
  }

 private:
  [[nodiscard]] Clock& clock() {
    return context_.options.clock != nullptr ? *context_.options.clock : monotonic_;
  }
  [[nodiscard]] TestResult& test_of(Way way) { return tests_.at(static_cast<std::size_t>(way)); }
  [[nodiscard]] std::size_t core_count() const { return std::max<std::size_t>(cores_.size(), 1); }

  [[nodiscard]] std::string series_of(const Job& job) const {
    if (!by_cpu(job.way)) {
      return std::string(name_of(device_.facts().queues[job.place]));
    }
    return fmt::format("{}; {}", name_of(buffers_.mapped[job.place].kind),
                       cores_.empty() ? "unpinned" : cores_[job.core].name);
  }

  void plan() {
    const auto sizes = copy_sizes(device_.facts(), context_.quick, buffers_.bytes);
    for (const Way way : kWays) {
      const std::size_t places =
          by_cpu(way) ? buffers_.mapped.size() : device_.facts().queues.size();
      for (std::size_t place = 0; place < places; ++place) {
        const std::uint64_t longest =
            by_cpu(way) ? longest_copy(sizes, trial_ns_per_byte(way, place),
                                       context_.quick ? kLongestQuickNs : kLongestNs)
                        : sizes.back().bytes;
        if (longest < sizes.back().bytes) {
          note(way, fmt::format("{}: nothing above {} KiB, which takes too long",
                                name_of(buffers_.mapped[place].kind), longest / 1024));
        }
        for (std::size_t core = 0; core < (by_cpu(way) ? core_count() : 1); ++core) {
          add_jobs(way, place, core, sizes, longest);
        }
      }
    }
  }

  void add_jobs(Way way, std::size_t place, std::size_t core, const std::vector<CopySize>& sizes,
                std::uint64_t longest) {
    for (const CopySize& size : sizes) {
      if (size.bytes <= longest) {
        const unsigned rank = size.bytes == longest ? 0 : size.rank;
        jobs_.push_back({.way = way,
                         .place = place,
                         .core = core,
                         .bytes = size.bytes,
                         .rank = core == 0 ? rank : rank + kOtherCores});
      }
    }
  }

  /// How fast the CPU is there, before anything long is tried.
  [[nodiscard]] double trial_ns_per_byte(Way way, std::size_t place) {
    const Job job{.way = way, .place = place, .bytes = std::min(kTrialBytes, buffers_.bytes)};
    std::int64_t shortest_ns = 0;
    for (int i = 0; i < kTrials; ++i) {
      const std::int64_t start_ns = clock().now_ns();
      if (!copy_once(job)) {
        break;  // the measurement says why
      }
      const std::int64_t took_ns = clock().now_ns() - start_ns;
      shortest_ns = i == 0 ? took_ns : std::min(shortest_ns, took_ns);
    }
    return static_cast<double>(shortest_ns) / static_cast<double>(job.bytes);
  }

  void note(Way way, const std::string& text) {
    std::string& notes = notes_[way];
    notes += notes.empty() ? text : "; " + text;
  }

  /// memcpy, and what makes its bytes seen.
  [[nodiscard]] Status copy_once(const Job& job) {
    const vulkan::Buffer& buffer = buffers_.mapped[job.place].buffer;
    if (job.way == Way::kWrite) {
      kCopyBytes(buffer.mapped().data(), buffers_.plain.data(), job.bytes);
      return device_.flush(buffer, job.bytes);
    }
    const Status seen = device_.invalidate(buffer, job.bytes);
    kCopyBytes(buffers_.plain.data(), buffer.mapped().data(), job.bytes);
    return seen;
  }

  [[nodiscard]] const vulkan::Buffer& host() const { return buffers_.mapped[buffers_.host].buffer; }

  [[nodiscard]] Result<vulkan::RunTime> run_commands(const Job& job, std::uint32_t repeats) {
    const bool up = job.way == Way::kUpload;
    const vulkan::Work work = vulkan::Copy{.from = up ? &host() : &buffers_.device,
                                           .to = up ? &buffers_.device : &host(),
                                           .bytes = job.bytes,
                                           .repeat = repeats};
    return device_.run({&work, 1}, kCopyTimeoutNs, {.queue = job.place});
  }

  /// Marks what is to arrive, at the end where it comes from.
  [[nodiscard]] Status mark(const Job& job) {
    const std::uint64_t number = ++marks_ * 0x9E3779B97F4A7C15U;
    const vulkan::Buffer& from =
        job.way == Way::kRead ? buffers_.mapped[job.place].buffer : buffers_.device;
    if (job.way == Way::kWrite) {
      stamp_blocks(std::span(buffers_.plain).first(job.bytes), number);
      return {};
    }
    if (job.way == Way::kUpload) {
      stamp_blocks(host().mapped().first(job.bytes), number);
      return device_.flush(host(), job.bytes);
    }
    stamp_blocks(buffers_.witness.mapped().first(job.bytes), number);
    return buffers_.put(device_, from, job.bytes);
  }

  /// What came to the other end. Where the GPU is to see it, the GPU brings it here.
  [[nodiscard]] Status prove(const Job& job) {
    const std::string what = label_of(job);
    const auto sent = [&](std::span<const std::byte> all) { return all.first(job.bytes); };
    switch (job.way) {
      case Way::kWrite: {
        const Status got = buffers_.get(device_, buffers_.mapped[job.place].buffer, job.bytes);
        return got ? check_arrival(what, sent(buffers_.plain), buffers_.witness.mapped()) : got;
      }
      case Way::kRead:
        return check_arrival(what, sent(buffers_.witness.mapped()), buffers_.plain);
      case Way::kUpload: {
        if (const Status seen = device_.invalidate(host(), job.bytes); !seen) {
          return seen;
        }
        const Status got = buffers_.get(device_, buffers_.device, job.bytes);
        return got ? check_arrival(what, sent(host().mapped()), buffers_.witness.mapped()) : got;
      }
      case Way::kDownload: {
        const Status seen = device_.invalidate(host(), job.bytes);
        return seen ? check_arrival(what, sent(buffers_.witness.mapped()), host().mapped()) : seen;
      }
    }
    return {};
  }

  [[nodiscard]] std::string label_of(const Job& job) const {
    return fmt::format("{}.{}.{}", kIds.at(static_cast<std::size_t>(job.way)), series_of(job),
                       job.bytes);
  }

  [[nodiscard]] Result<std::optional<Timing>> time(const Job& job) {
    if (!by_cpu(job.way)) {
      return time_repeats(options_, clock(),
                          [&](std::uint32_t repeats) { return run_commands(job, repeats); });
    }
    std::optional<PinnedThread> pinned;
    if (!cores_.empty()) {
      auto stays = PinnedThread::to(cores_[job.core].cpu);
      if (!stays) {
        return tl::unexpected(stays.error());
      }
      pinned.emplace(std::move(*stays));
    }
    return time_calls(options_, clock(), [&] { return copy_once(job); });
  }

  std::optional<Error> measure(Job& job) {
    BenchPoint point;
    point.x = static_cast<double>(job.bytes);
    point.label = label_of(job);
    TestResult& test = test_of(job.way);
    const auto failed = [&](const Error& error) {
      enter_error(error, point);
      job.point = point;
      return error;
    };
    if (const Status marked = mark(job); !marked) {
      return failed(marked.error());
    }
    if (context_.observer != nullptr) {
      point.clock_before_mhz = context_.observer->clock_mhz();
    }
    const auto timing = time(job);
    if (!timing) {
      return failed(timing.error());
    }
    const std::optional<Timing>& timed = *timing;
    if (!timed) {
      return std::nullopt;  // cancelled
    }
    const Status arrived = prove(job);
    if (!arrived && arrived.error().code != ErrorCode::kCorrupt) {
      return failed(arrived.error());
    }
    test.result = combine(test.result, arrived ? Proof::kPassed : Proof::kFailed);
    if (!arrived) {
      return failed(arrived.error());
    }
    enter(*timed, job, point);
    return std::nullopt;
  }

  void enter(const Timing& timing, Job& job, BenchPoint& point) {
    const auto rate = [&](double ns) { return static_cast<double>(job.bytes) / ns; };
    const std::optional<double> before = point.clock_before_mhz;
    enter_timing(timing, point);
    point.clock_before_mhz = before;
    if (context_.observer != nullptr) {
      point.power_w = context_.observer->power_w();
      point.clock_after_mhz = context_.observer->clock_mhz();
    }
    point.median = rate(timing.median_ns);
    point.p5 = rate(std::max(timing.p95_ns, timing.median_ns));
    point.p95 = timing.p5_ns > 0 ? std::optional(rate(timing.p5_ns)) : std::nullopt;
    if (!by_cpu(job.way) && !timing.from_timestamps) {
      point.why = "by wall time: this queue has no timestamps";
    }
    job.point = point;
  }

  void finish(Way way, TestResult& test, const PointLoop& loop) {
    std::size_t left_out = 0;
    std::size_t all = 0;
    for (Job& job : jobs_) {
      if (job.way != way) {
        continue;
      }
      ++all;
      if (!job.point) {
        ++left_out;
        continue;
      }
      const std::string name = series_of(job);
      auto series = std::ranges::find(test.series, name, &analysis::BenchSeries::name);
      if (series == test.series.end()) {
        series = test.series.insert(test.series.end(), {.name = name, .points = {}});
      }
      series->points.push_back(std::move(*job.point));
    }
    finish_test(test,
                {.lost = loop.lost, .left_out = loop.left_out > 0 ? left_out : 0, .points = all});
    for (const std::string& text : {buffers_.note, notes_[way]}) {
      if (!text.empty()) {
        test.why += test.why.empty() ? text : "; " + text;
      }
    }
    derive_peaks(test);
  }

  static void derive_peaks(TestResult& test) {
    for (const analysis::BenchSeries& series : test.series) {
      const auto best = std::ranges::max_element(
          series.points, {}, [](const BenchPoint& point) { return point.median.value_or(0); });
      const double rate = best != series.points.end() ? best->median.value_or(0) : 0;
      if (rate > 0) {
        test.derived.push_back({.what = series.name + ": peak",
                                .value = rate,
                                .lower = best->p5,
                                .upper = best->p95,
                                .unit = test.unit,
                                .confidence = "",
                                .by = fmt::format("{}, {:.0f} KiB, n = {}", series.name,
                                                  best->x / 1024, best->samples)});
      }
    }
  }

  TestContext& context_;
  vulkan::Device& device_;
  CopyBuffers buffers_;
  DirectOptions options_;
  MonotonicClock monotonic_;
  std::vector<NamedCore> cores_ = cores_to_compare();
  std::vector<Job> jobs_;
  std::array<TestResult, kWays.size()> tests_;
  std::map<Way, std::string> notes_;
  std::uint64_t marks_ = 0;
};

std::vector<TestResult> not_run(TestStatus status, std::string why) {
  TestResult test;
  test.id = "copy";
  test.status = status;
  test.why = std::move(why);
  return {std::move(test)};
}

}  // namespace

std::vector<TestResult> run_copy(TestContext& context) {
  if (context.runner.simulated()) {
    return not_run(TestStatus::kSkipped, "a simulated GPU has no memory to copy to");
  }
  vulkan::Device* const device = context.runner.device();
  if (device == nullptr) {
    return not_run(TestStatus::kFailed, "the device is not open");
  }
  const vulkan::DeviceFacts& facts = device->facts();
  const auto sizes = copy_sizes(facts, context.quick, copy_room(facts));
  auto buffers = create_where_it_fits(
      sizes.back().bytes, [&](std::uint64_t bytes) { return CopyBuffers::create(*device, bytes); });
  if (!buffers) {
    const ErrorCode code = buffers.error().code;
    const bool lacks = code == ErrorCode::kUnsupported || code == ErrorCode::kNoSpace;
    return not_run(lacks ? TestStatus::kSkipped : TestStatus::kFailed, buffers.error().message);
  }
  return CopyBench(context, *device, std::move(*buffers)).run();
}

}  // namespace gputrace::bench
