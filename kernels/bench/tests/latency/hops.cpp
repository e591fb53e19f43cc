#include "kernels/bench/tests/latency/hops.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/bench/measurement.h"
#include "kernels/bench/proven_kernel.h"

namespace gputrace::bench {

namespace {

using analysis::BenchPoint;
using analysis::BenchSeries;
using analysis::Proof;
using analysis::TestResult;
using analysis::TestStatus;

constexpr double kBinsAnOctave = 8;
/// A bin with fewer of all hops belongs to no peak.
constexpr std::size_t kFewest = 2000;
/// The first hops of a run fill caches that are emptied between runs: they are walked, not kept.
constexpr std::uint64_t kMostBefore = 8192;
/// Sets so far apart lie in different levels of every GPU.
constexpr double kFarApart = 64;
constexpr double kDiffers = 1.1;

struct HopPush {
  std::uint64_t base = 0;
  std::uint32_t trips = 0;
};

std::uint32_t hops_of_run(std::uint64_t nodes) {
  const std::uint64_t before =
      std::min((nodes + kKeptHops - 1) / kKeptHops * kKeptHops, kMostBefore);
  return static_cast<std::uint32_t>(before) + kKeptHops;
}

std::uint32_t word_at(std::span<const std::byte> memory, std::size_t word) {
  std::uint32_t value = 0;
  std::memcpy(&value, &memory[word * sizeof(value)], sizeof(value));
  return value;
}

Status check_and_log(const std::string& id, const ChaseTrack& track, HopLog& log,
                     const Launch& launch, const Outputs& outputs) {
  const std::uint64_t walked = log.walked + std::uint64_t{launch.trips} * launch.repeats;
  const std::uint32_t found = word_at(outputs.buffers[0], 0);
  const std::uint32_t expected = track.place(track.cycle->at(walked));
  if (found != expected) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: after {} hops the chain is at place {:#x}, and on the CPU at {:#x}", id,
                    walked, found, expected));
  }
  log.walked = walked;
  log.readings.clear();
  for (std::uint32_t i = 0; i < kKeptHops; ++i) {
    // The oldest stands where the next one would have been written.
    log.readings.push_back(word_at(outputs.buffers[2], (launch.trips + i) % kKeptHops));
  }
  return {};
}

double median_of(std::vector<std::uint32_t> clocks) {
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

BenchSeries series_of(const HopPoint& point) {
  BenchSeries series{.name = point.series, .points = {}};
  if (point.status != TestStatus::kOk && point.times.clocks.empty()) {
    BenchPoint why;
    why.status = point.status;
    why.why = point.why;
    series.points.push_back(std::move(why));
    return series;
  }
  const auto hops = static_cast<double>(point.times.clocks.size());
  for (const HopBin& bin : hop_bins(point.times.clocks)) {
    BenchPoint entry = point.chase.median;
    entry.x = (static_cast<double>(bin.first) + static_cast<double>(bin.end - 1)) / 2;
    entry.median = static_cast<double>(bin.hops) / hops;
    entry.samples = static_cast<std::uint32_t>(point.times.clocks.size());
    entry.status = point.status;
    entry.why = point.why;
    series.points.push_back(std::move(entry));
  }
  return series;
}

/// Nullopt: they cannot be compared.
std::optional<bool> clock_tells_sets_apart(const std::vector<HopPoint>& points) {
  const HopPoint* smallest = nullptr;
  const HopPoint* largest = nullptr;
  for (const HopPoint& point : points) {
    if (point.times.clocks.empty()) {
      continue;
    }
    if (smallest == nullptr || point.chase.nodes < smallest->chase.nodes) {
      smallest = &point;
    }
    if (largest == nullptr || point.chase.nodes > largest->chase.nodes) {
      largest = &point;
    }
  }
  if (smallest == nullptr || static_cast<double>(largest->chase.nodes) <
                                 kFarApart * static_cast<double>(smallest->chase.nodes)) {
    return std::nullopt;
  }
  return median_of(largest->times.clocks) > kDiffers * median_of(smallest->times.clocks);
}

}  // namespace

HopTimes hop_times(std::span<const std::uint32_t> readings) {
  HopTimes times;
  if (readings.empty()) {
    return times;
  }
  const std::uint32_t highest = *std::max_element(readings.begin(), readings.end());
  const auto bits = static_cast<std::uint32_t>(std::bit_width(highest));
  const std::uint64_t period = std::uint64_t{1} << bits;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const std::uint64_t before = readings[i - 1];
    const std::uint64_t now = readings[i];
    if (now >= before) {
      times.clocks.push_back(static_cast<std::uint32_t>(now - before));
    } else if (before >= period / 4 * 3 && now < period / 4) {
      times.counter_bits = bits;
      times.clocks.push_back(static_cast<std::uint32_t>(now + period - before));
    } else {
      ++times.dropped;
    }
  }
  return times;
}

std::vector<HopBin> hop_bins(std::span<const std::uint32_t> clocks) {
  if (clocks.empty()) {
    return {};
  }
  const std::uint32_t most = *std::max_element(clocks.begin(), clocks.end());
  std::vector<HopBin> bins;
  std::uint64_t begin = 0;
  // Clocks are whole: the first octaves have fewer bins.
  for (int step = 0; begin <= most; ++step) {
    const auto end = static_cast<std::uint64_t>(std::llround(std::exp2(step / kBinsAnOctave)));
    if (end > begin) {
      bins.push_back({.first = begin, .end = end, .hops = 0});
      begin = end;
    }
  }
  for (const std::uint32_t value : clocks) {
    const auto bin = std::upper_bound(
        bins.begin(), bins.end(), value,
        [](std::uint32_t wanted, const HopBin& each) { return wanted < each.end; });
    ++bin->hops;
  }
  const auto counts = [&](const HopBin& bin) { return bin.hops * kFewest >= clocks.size(); };
  const auto first = std::find_if(bins.begin(), bins.end(), counts);
  const auto last = std::find_if(bins.rbegin(), bins.rend(), counts);
  return first == bins.end() ? std::vector<HopBin>() : std::vector<HopBin>(first, last.base());
}

KernelCase hop_case(const ChaseTrack& track, const std::shared_ptr<HopLog>& log) {
  KernelCase kernel;
  kernel.id = fmt::format("latency.hops.{}", size_in_id(track.bytes));
  kernel.description =
      fmt::format("chase of 1 chain through {} KiB, each hop timed", track.bytes / 1024);
  kernel.shader = "chase_hops.comp";
  kernel.group_threads = 1;
  kernel.needs = {Requirement::kBufferAddresses, Requirement::kInt64, Requirement::kShaderClock};
  BufferNeed places{.binding = 0, .bytes = 4, .fill = nullptr};
  places.fill = [track, log](std::span<std::byte> memory) {
    const std::uint32_t place = track.place(track.cycle->at(log->walked));
    std::memcpy(memory.data(), &place, sizeof(place));
  };
  GPUTRACE_CHECK(track.nodes.has_value());
  kernel.buffers = {std::move(places),
                    track.nodes.value_or(BufferNeed{}),
                    {.binding = 2, .bytes = std::uint64_t{kKeptHops} * 4, .fill = nullptr}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const> buffers) {
    const HopPush push{.base = buffers[1]->address(), .trips = launch.trips};
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &push, sizeof(push));
    return bytes;
  };
  kernel.formula = {{.operation = Operation::kLoad8, .per_trip = 1, .once = 0},
                    {.operation = Operation::kSharedStore, .per_trip = 1, .once = 0}};
  kernel.read_bytes_per_trip = 8;
  kernel.check = [id = kernel.id, track, log](const Launch& launch, const Outputs& outputs) {
    return check_and_log(id, track, *log, launch, outputs);
  };
  kernel.stimulus = [id = kernel.id, bytes = track.bytes](const Launch& launch) {
    Stimulus stimulus;
    stimulus.kernel = id;
    stimulus.threads = static_cast<double>(launch.groups) * launch.repeats;
    stimulus.launches = launch.repeats;
    stimulus.group_threads = 1;
    stimulus.steps = launch.trips;
    stimulus.access = Access::kChase;
    stimulus.read_bytes = 8.0 * launch.trips;
    stimulus.footprint_bytes = static_cast<double>(bytes);
    return stimulus;
  };
  return kernel;
}

HopPoint hop_point(const vulkan::DeviceFacts& facts, const ChaseTrack& track) {
  const auto log = std::make_shared<HopLog>();
  return {.log = log,
          .chase = chase_point({}, hop_case(track, log), facts, track),
          .series = track.bytes % 1024 == 0 ? fmt::format("{} KiB", track.bytes / 1024)
                                            : fmt::format("{} B", track.bytes)};
}

std::string missing_for_hops(const Runner& runner) {
  const vulkan::DeviceFacts& facts = runner.facts();
  if (runner.simulated()) {
    return "a simulated GPU executes nothing that could read a clock";
  }
  std::string missing;
  if (!facts.shader_clock) {
    missing = "a clock for shaders (VK_KHR_shader_clock)";
  } else if (!facts.buffer_addresses || !facts.int64) {
    missing = "64-bit buffer addresses (VK_KHR_buffer_device_address, shaderInt64)";
  }
  return missing.empty() ? missing : fmt::format("{} has no {}", facts.listed.name, missing);
}

std::optional<Error> measure_hops(TestContext& context, const MeasurementOptions& options,
                                  std::size_t hops, HopPoint& point, TestResult& test) {
  point.is_done = true;
  const auto failed = [&](const Error& error) {
    BenchPoint entered;
    enter_error(error, entered);
    point.status = entered.status;
    point.why = entered.why;
    return error;
  };
  if (const Status warm = walk_all(context.runner, point.chase, options); !warm) {
    return failed(warm.error());
  }
  const Launch launch{.groups = 1, .trips = hops_of_run(point.chase.nodes), .repeats = 1};
  const auto proven = prepare_and_prove(context.runner, point.chase.kernel, launch);
  if (!proven) {
    return failed(proven.error());
  }
  enter_proofs(*proven, point.chase.median, test);
  point.status = point.chase.median.status;
  point.why = point.chase.median.why;
  if (point.status == TestStatus::kFailed) {
    return std::nullopt;
  }
  // The first run compiled the code; its hops are left out.
  while (point.times.clocks.size() < hops && !(options.cancelled && options.cancelled())) {
    if (const Status ran = proven->kernel->check_result(launch); !ran) {
      return failed(ran.error());
    }
    const HopTimes times = hop_times(point.log->readings);
    if (std::all_of(times.clocks.begin(), times.clocks.end(),
                    [](std::uint32_t clocks) { return clocks == 0; })) {
      return failed({ErrorCode::kCorrupt, point.chase.kernel.id + ": the clock does not advance"});
    }
    point.times.clocks.insert(point.times.clocks.end(), times.clocks.begin(), times.clocks.end());
    point.times.counter_bits = std::max(point.times.counter_bits, times.counter_bits);
    point.times.dropped += times.dropped;
  }
  return std::nullopt;
}

void enter_hops(const std::vector<HopPoint>& points, TestResult& test) {
  const std::optional<bool> told = clock_tells_sets_apart(points);
  test.rate = told ? (*told ? Proof::kPassed : Proof::kFailed) : test.rate;
  for (const HopPoint& point : points) {
    BenchSeries series = series_of(point);
    if (told == false) {
      for (BenchPoint& entry : series.points) {
        entry.status = entry.status == TestStatus::kOk ? TestStatus::kSuspect : entry.status;
        entry.why =
            "hops through the largest set take as many clocks as through the smallest: the "
            "clock was read before the data had come";
      }
    }
    test.series.push_back(std::move(series));
    if (!point.times.clocks.empty()) {
      test.derived.push_back(
          {.what = fmt::format("{}, median hop", point.series),
           .value = median_of(point.times.clocks),
           .lower = std::nullopt,
           .upper = std::nullopt,
           .unit = "clk",
           .confidence = "",
           .by = point.times.counter_bits > 0
                     ? fmt::format("{} hops, a counter of {} bits", point.times.clocks.size(),
                                   point.times.counter_bits)
                     : fmt::format("{} hops", point.times.clocks.size())});
    }
  }
}

}  // namespace gputrace::bench
