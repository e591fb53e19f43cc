#include "kernels/bench/tests/local/local_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {

namespace {

// local_bandwidth.glsl
constexpr std::uint32_t kApart = 8;
constexpr std::uint32_t kSlack = 64;

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kGroupThreads = 256;
/// Lanes of the widest waves.
constexpr std::uint32_t kMostLanes = 64;
constexpr std::uint32_t kMostStride = 64;
/// Of a group. As large for every stride, so that as many groups are in flight.
constexpr std::uint32_t kMostBytes = 32768;
constexpr std::uint32_t kGpuGroups = 512;
constexpr std::uint32_t kCpuGroups = 16;
constexpr std::uint64_t kCheckedThreads = 512;
constexpr std::uint32_t kBanks = 32;

std::uint32_t wave_lanes(const vulkan::DeviceFacts& facts) {
  const std::uint32_t widest =
      facts.subgroup_sizes.empty() ? facts.subgroup_size : facts.subgroup_sizes.back();
  return std::max(widest, facts.is_cpu ? 1U : kMostLanes);
}

/// A power of two, and with the slack behind it within the group's local memory.
std::uint32_t elements_of(const LocalRead& read, const vulkan::DeviceFacts& facts) {
  const std::uint32_t most =
      std::min(facts.max_shared_bytes, kMostBytes + kSlack * read.words * kWordBytes);
  std::uint32_t elements = kSlack;
  while ((2 * elements + kSlack) * read.words * kWordBytes <= most &&
         elements < kMostLanes * kMostStride) {
    elements *= 2;
  }
  return elements;
}

/// What a lane's reads add up to, as the shader does it.
std::uint32_t sum_of(const LocalRead& read, std::uint32_t elements, std::uint32_t lane,
                     std::uint32_t trips) {
  std::array<std::uint32_t, 4> sums{};
  std::uint32_t place = lane * read.stride & (elements - 1);
  for (std::uint32_t trip = 0; trip < trips; ++trip) {
    for (std::uint32_t k = 0; k < kLocalReadsPerTrip; ++k) {
      for (std::uint32_t word = 0; word < read.words; ++word) {
        sums.at(word) += pattern_word(std::uint64_t{place + k * kApart} * read.words + word);
      }
    }
    place = (place + kSlack) & (elements - 1);
  }
  return sums[0] + 3 * sums[1] + 5 * sums[2] + 7 * sums[3];
}

Status check_reads(const std::string& id, const LocalRead& read, std::uint32_t elements,
                   std::uint32_t group_threads, const Launch& launch, const Outputs& outputs) {
  for (const std::uint64_t thread :
       sample_of(std::uint64_t{launch.groups} * group_threads, kCheckedThreads)) {
    const std::uint32_t wanted =
        sum_of(read, elements, static_cast<std::uint32_t>(thread % group_threads), launch.trips);
    const auto got = read_at<std::uint32_t>(outputs.buffers[0], thread);
    if (got != wanted) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: thread {} read a sum of {:#010x}, the CPU {:#010x}", id, thread,
                              got, wanted));
    }
  }
  return {};
}

std::string_view shader_of(const LocalRead& read) {
  switch (read.words) {
    case 1:
      return "local_bandwidth1.comp";
    case 2:
      return "local_bandwidth2.comp";
    default:
      return "local_bandwidth4.comp";
  }
}

}  // namespace

std::string name_of(const LocalRead& read) {
  return read.words == 1 ? "float" : fmt::format("vec{}", read.words);
}

bool fits(const LocalRead& read, const vulkan::DeviceFacts& facts) {
  const std::uint32_t elements = elements_of(read, facts);
  return (elements + kSlack) * read.words * kWordBytes <= facts.max_shared_bytes &&
         wave_lanes(facts) * read.stride <= elements;
}

double lanes_at_one_bank(const LocalRead& read) {
  // In a pass of 32 words as many lanes are served as the words of one allow.
  return std::gcd(read.stride, kBanks / read.words);
}

std::uint32_t local_groups(const vulkan::DeviceFacts& facts) {
  const std::uint32_t wanted = facts.is_cpu ? kCpuGroups : kGpuGroups;
  return std::clamp(facts.max_groups_x, 1U, wanted);
}

KernelCase local_read_case(const LocalRead& read, const vulkan::DeviceFacts& facts) {
  const std::uint32_t elements = elements_of(read, facts);
  const std::uint32_t group_bytes = (elements + kSlack) * read.words * kWordBytes;
  KernelCase kernel;
  kernel.id = fmt::format("local.read.{}.s{}", name_of(read), read.stride);
  kernel.description = fmt::format("reads of {} from local memory, {} apart from lane to lane",
                                   name_of(read), read.stride);
  kernel.shader = shader_of(read);
  kernel.group_threads = std::min(kGroupThreads, std::max(facts.max_group_threads, 1U));
  kernel.constants = {kernel.group_threads, read.stride, elements};
  kernel.buffers = {
      {.binding = 0,
       .bytes = std::uint64_t{local_groups(facts)} * kernel.group_threads * kWordBytes,
       .fill = nullptr}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const> /*buffers*/) {
    vulkan::PushConstants push{};
    write_at(push, 0, launch.trips);
    return push;
  };
  kernel.formula = {{.operation = Operation::kSharedLoad, .per_trip = kLocalReadsPerTrip},
                    {.operation = Operation::kStore4, .once = 1}};
  kernel.written_bytes_once = kWordBytes;
  kernel.check = [id = kernel.id, read, elements, threads = kernel.group_threads](
                     const Launch& launch, const Outputs& outputs) {
    return check_reads(id, read, elements, threads, launch, outputs);
  };
  kernel.stimulus = [id = kernel.id, read, threads = kernel.group_threads,
                     group_bytes](const Launch& launch) {
    Stimulus stimulus;
    stimulus.kernel = id;
    stimulus.threads = static_cast<double>(launch.groups) * threads * launch.repeats;
    stimulus.launches = launch.repeats;
    stimulus.group_threads = threads;
    stimulus.steps = launch.trips;
    stimulus.local_bytes =
        static_cast<double>(kLocalReadsPerTrip) * read.words * kWordBytes * launch.trips;
    stimulus.group_local_bytes = group_bytes;
    stimulus.sharers = lanes_at_one_bank(read);
    return stimulus;
  };
  return kernel;
}

}  // namespace gputrace::bench
