#include "kernels/bench/tests/occupancy/occupancy_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kKeptBlock = 16;
/// Lanes after these keep the words of the first ones.
constexpr std::uint32_t kDistinctLanes = 64;
constexpr std::uint32_t kWordsPerNode = kNodeBytes / 4;

using Quad = std::array<std::uint32_t, 4>;

/// What kept[index] holds, word by word.
std::uint32_t kept_word(std::size_t index) {
  return static_cast<std::uint32_t>(index * 0x9e3779b9U + 0x7f4a7c15U);
}

Quad kept_quad(std::uint32_t lane, std::uint32_t quad) {
  const std::size_t first = (std::size_t{lane} + std::size_t{kDistinctLanes} * quad) * 4;
  return {kept_word(first), kept_word(first + 1), kept_word(first + 2), kept_word(first + 3)};
}

/// The shader's own sum: every word that was to be kept is in it.
std::uint32_t expected_result(const OccupancyShape& shape, std::uint32_t lane, std::uint32_t end) {
  Quad sum{end, 1, 2, 3};
  for (std::uint32_t block = 0; block < shape.kept_words / kKeptBlock; ++block) {
    const Quad a = kept_quad(lane, 4 * block);
    const Quad b = kept_quad(lane, 4 * block + 1);
    const Quad c = kept_quad(lane, 4 * block + 2);
    const Quad d = kept_quad(lane, 4 * block + 3);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum.at(i) = sum.at(i) * 3 + (a.at(i) ^ (b.at(i) * 5)) + (c.at(i) ^ (d.at(i) * 7));
    }
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[index * sizeof(value)], sizeof(value));
  return value;
}

Status check_census(const std::string& id, const Launch& launch,
                    std::span<const std::byte> census) {
  const std::uint32_t live = word_at(census, 0);
  const std::uint32_t peak = word_at(census, 1);
  const std::uint32_t arrived = word_at(census, 2);
  const std::uint64_t groups = std::uint64_t{launch.groups} * launch.repeats;
  if (arrived != groups || live != 0) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: of {} groups {} counted themselves in, and {} never out", id,
                            groups, arrived, live));
  }
  if (peak == 0 || peak > launch.groups) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}: {} groups in flight of {} launched", id, peak, launch.groups));
  }
  return {};
}

Status check_results(const std::string& id, const OccupancyShape& shape, const RandomCycle& cycle,
                     const Launch& launch, std::span<const std::byte> results) {
  const std::uint64_t hops = std::uint64_t{kDwellHopsPerTrip} * launch.trips;
  const std::uint32_t end = cycle.at(cycle.position_of(0) + hops) * kWordsPerNode;
  std::array<std::uint32_t, kDistinctLanes> expected{};
  for (std::uint32_t lane = 0; lane < kDistinctLanes; ++lane) {
    expected.at(lane) = expected_result(shape, lane, end);
  }
  for (std::uint32_t thread = 0; thread < shape.group_threads; ++thread) {
    if (word_at(results, thread) != expected.at(thread % kDistinctLanes)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: lane {} has {:#x}, and on the CPU {:#x}", id, thread,
                              word_at(results, thread), expected.at(thread % kDistinctLanes)));
    }
  }
  return {};
}

std::uint32_t waves_of(const OccupancyShape& shape) {
  return (shape.group_threads + kDistinctLanes - 1) / kDistinctLanes;
}

/// As RDNA's registers allow in waves of 64: 512 a lane and SIMD, up to 16 waves.
std::uint32_t waves_per_simd(const OccupancyShape& shape) {
  constexpr std::uint32_t kMostWaves = 16;
  constexpr std::uint32_t kRegisters = 512;
  constexpr std::uint32_t kOwnRegisters = 8;  ///< beside those that are kept
  const std::uint32_t by_registers = kRegisters / (shape.kept_words + kOwnRegisters);
  return std::clamp(by_registers, 1U, kMostWaves);
}

/// All lanes of a wave follow one chain: it is described as one thread.
Stimulus describe(const std::string& id, const OccupancyShape& shape, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = id;
  stimulus.threads =
      static_cast<double>(launch.groups) * waves_of(shape) * static_cast<double>(launch.repeats);
  stimulus.launches = launch.repeats;
  stimulus.group_threads = 1;
  stimulus.waves_per_simd = waves_per_simd(shape);
  stimulus.group_local_bytes = static_cast<double>(shape.shared_bytes) / waves_of(shape);
  stimulus.steps = static_cast<double>(kDwellHopsPerTrip) * launch.trips;
  stimulus.access = Access::kChase;
  stimulus.read_bytes = stimulus.steps * 4;
  stimulus.footprint_bytes = static_cast<double>(kDwellNodes) * kNodeBytes;
  return stimulus;
}

}  // namespace

KernelCase occupancy_case(const OccupancyShape& shape, std::shared_ptr<const RandomCycle> cycle,
                          std::shared_ptr<CensusReading> reading) {
  GPUTRACE_CHECK(shape.kept_words % kKeptBlock == 0 && shape.kept_words <= kMaxKeptWords);
  KernelCase kernel;
  kernel.id = fmt::format("occupancy.t{}.r{}.s{}", shape.group_threads, shape.kept_words,
                          shape.shared_bytes);
  kernel.description = fmt::format(
      "census of groups of {} threads, {} words a thread in registers, {} bytes of "
      "local memory",
      shape.group_threads, shape.kept_words, shape.shared_bytes);
  kernel.shader = "occupancy.comp";
  kernel.constants = {shape.group_threads, shape.kept_words / kKeptBlock,
                      std::max((shape.shared_bytes + 3) / 4, 1U)};
  kernel.group_threads = shape.group_threads;
  kernel.buffers = {
      {.binding = 0, .bytes = 16, .fill = nullptr},
      {.binding = 1,
       .bytes = cycle->bytes(),
       .fill = [cycle](std::span<std::byte> memory) { cycle->write_indices(memory); },
       .fill_at = nullptr,
       .shared = cycle},
      {.binding = 2,
       .bytes = std::uint64_t{kMaxKeptWords} * kDistinctLanes * 4,
       .fill =
           [](std::span<std::byte> memory) {
             for (std::size_t i = 0; i < memory.size() / 4; ++i) {
               const std::uint32_t word = kept_word(i);
               std::memcpy(&memory[i * 4], &word, sizeof(word));
             }
           }},
      {.binding = 3, .bytes = std::uint64_t{shape.group_threads} * 4, .fill = nullptr}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const> /*buffers*/) {
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &launch.trips, sizeof(launch.trips));
    return bytes;
  };
  kernel.formula = {{.operation = Operation::kLoad4, .per_trip = kDwellHopsPerTrip, .once = 0}};
  kernel.read_bytes_per_trip = static_cast<double>(kDwellHopsPerTrip) * 4;
  kernel.check = [id = kernel.id, shape, cycle = std::move(cycle), reading = std::move(reading)](
                     const Launch& launch, const Outputs& outputs) -> Status {
    if (const Status census = check_census(id, launch, outputs.buffers[0]); !census) {
      return census;
    }
    if (reading) {
      reading->peak = word_at(outputs.buffers[0], 1);
    }
    return check_results(id, shape, *cycle, launch, outputs.buffers[3]);
  };
  kernel.stimulus = [id = kernel.id, shape](const Launch& launch) {
    return describe(id, shape, launch);
  };
  return kernel;
}

}  // namespace gputrace::bench
