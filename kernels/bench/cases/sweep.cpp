#include "kernels/bench/cases/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/turning_pairs.h"

namespace gputrace::bench {
namespace {

/// sweep.comp: four vectors, of which two hold p and two hold q.
constexpr std::uint64_t kVectors = 4;
constexpr std::uint64_t kVectorFloats = 4;
constexpr std::uint64_t kThreadFloats = kVectors * kVectorFloats;
constexpr std::uint64_t kThreadBytes = kThreadFloats * sizeof(float);
constexpr double kFmasOfTrip = kThreadFloats;
constexpr double kMinWaves = 12;
constexpr std::uint64_t kCheckedThreads = 64;
constexpr std::uint64_t kCheckedRounds = 4'000'000;
constexpr std::uint64_t kMiB = 1U << 20U;

/// Where float `component` of vector `vector` of a thread lies.
std::uint64_t place_of(std::uint64_t thread, std::uint32_t group_threads, std::uint64_t vector,
                       std::uint64_t component) {
  const std::uint64_t group = thread / group_threads;
  const std::uint64_t lane = thread % group_threads;
  return ((group * kVectors + vector) * group_threads + lane) * kVectorFloats + component;
}

Status check(const std::string& id, std::uint32_t group_threads, const Launch& launch,
             const Outputs& outputs) {
  const Turning<float> turning{.x = static_cast<float>(kTurnX),
                               .y = static_cast<float>(kTurnY),
                               .rounds = launch.trips,
                               .rounds_of_a_trip = 1,
                               .rounding_unit = 0x1p-24};
  const std::span<const std::byte> result = outputs.buffers.at(1);
  const std::uint64_t threads = static_cast<std::uint64_t>(launch.groups) * group_threads;
  const std::uint64_t affordable =
      kCheckedRounds * 2 / (std::max<std::uint64_t>(launch.trips, 1) * kThreadFloats);
  std::vector<TurnedPair<float>> pairs;
  for (const std::uint64_t thread :
       sample_of(threads, std::clamp<std::uint64_t>(affordable, 2, kCheckedThreads))) {
    for (std::uint64_t vector = 0; vector < kVectors / 2; ++vector) {
      for (std::uint64_t component = 0; component < kVectorFloats; ++component) {
        const std::uint64_t p = place_of(thread, group_threads, vector, component);
        const std::uint64_t q = place_of(thread, group_threads, vector + kVectors / 2, component);
        pairs.push_back(
            {.name = fmt::format("thread {}, vector {}, component {}", thread, vector, component),
             .p = pattern_float(p),
             .q = pattern_float(q),
             .got_p = read_at<float>(result, p),
             .got_q = read_at<float>(result, q)});
      }
    }
  }
  return check_turned<float>(id, turning, fp32_multiply_adds(), pairs);
}

}  // namespace

std::vector<std::uint32_t> sweep_trips(std::optional<std::pair<double, double>> ridges) {
  constexpr auto kLowest = static_cast<std::uint32_t>(kSweepLowest / kSweepStep);
  constexpr auto kHighest = static_cast<std::uint32_t>(kSweepHighest / kSweepStep);
  std::vector<std::uint32_t> all;
  for (std::uint32_t trips = kLowest; trips <= kHighest; trips *= 2) {
    all.push_back(trips);
    const double between = trips * std::numbers::sqrt2;
    const double intensity = between * kSweepStep;
    // Between one trip and two there is nothing.
    if (ridges && intensity >= ridges->first / 2 && intensity <= ridges->second * 2 && trips >= 2 &&
        trips < kHighest) {
      all.push_back(static_cast<std::uint32_t>(std::lround(between)));
    }
  }
  return all;
}

SizedCase sweep_case(const vulkan::DeviceFacts& facts, std::uint32_t trips, std::uint64_t bytes,
                     std::optional<std::uint32_t> group_threads) {
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = fmt::format("sweep.n{}", trips) + group_suffix(group_threads);
  kernel.description = fmt::format("16 numbers loaded, {} FMAs on each, stored: {:g} FLOP/B", trips,
                                   trips * kSweepStep);
  kernel.shader = "sweep.comp";
  kernel.group_threads = group_threads.value_or(memory_group_threads(facts));
  kernel.constants = {kernel.group_threads};

  sized.launch.groups =
      stream_groups(facts, bytes, static_cast<double>(kThreadBytes) * kernel.group_threads,
                    2 * kFmasOfTrip * trips * kernel.group_threads);
  sized.launch.trips = trips;
  const std::uint64_t taken =
      static_cast<std::uint64_t>(sized.launch.groups) * kernel.group_threads * kThreadBytes;

  kernel.buffers = {{.binding = 0, .bytes = taken, .fill = fill_with_floats},
                    {.binding = 1, .bytes = taken, .fill = {}}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    write_at(push, 2, static_cast<float>(kTurnX));
    write_at(push, 4, static_cast<float>(kTurnY));
    return push;
  };
  kernel.formula = {{.operation = Operation::kFmaF32, .per_trip = kFmasOfTrip},
                    {.operation = Operation::kLoad16, .once = kVectors},
                    {.operation = Operation::kStore16, .once = kVectors}};
  kernel.flops_per_trip = 2 * kFmasOfTrip;
  kernel.read_bytes_once = kThreadBytes;
  kernel.written_bytes_once = kThreadBytes;
  kernel.min_waves_per_simd = kMinWaves;
  kernel.min_arithmetic_share = 0.95;
  kernel.min_dual_issued_share = 0.9;
  kernel.check = [id = kernel.id, group_threads = kernel.group_threads](const Launch& launch,
                                                                        const Outputs& outputs) {
    return check(id, group_threads, launch, outputs);
  };
  kernel.stimulus =
      stimulus_of(kernel, Arithmetic::kFp32,
                  {.access = Access::kStream, .footprint_bytes = 2 * static_cast<double>(taken)});
  return sized;
}

std::uint64_t sweep_bytes(const vulkan::DeviceFacts& facts, bool quick) {
  const std::uint64_t wanted = facts.is_cpu ? (quick ? 4 : 16) * kMiB : (quick ? 64 : 256) * kMiB;
  // A null device has no memory, and compiles alone.
  return facts.memory_bytes == 0 ? wanted : std::min(wanted, facts.memory_bytes / 8);
}

}  // namespace gputrace::bench
