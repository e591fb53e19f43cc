#include "kernels/bench/cases/additions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {

namespace {

constexpr std::uint32_t kPairs = 8;
constexpr std::uint32_t kRounds = 8;         // a trip; additions.comp
constexpr std::uint32_t kResultGroups = 64;  // likewise
constexpr std::uint64_t kThreadFloats = 2ULL * kPairs;
constexpr std::uint64_t kThreadBytes = kThreadFloats * sizeof(float);
constexpr std::uint64_t kCheckedThreads = 64;

Status check(const Launch& launch, const Outputs& outputs, std::uint32_t group_threads) {
  const std::span<const std::byte> result = outputs.buffers.at(1);
  const std::uint64_t threads =
      static_cast<std::uint64_t>(std::min(launch.groups, kResultGroups)) * group_threads;
  for (const std::uint64_t thread : sample_of(threads, kCheckedThreads)) {
    for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
      const std::uint64_t begun = thread % group_threads * kThreadFloats + pair;
      float p = pattern_float(begun);
      float q = pattern_float(begun + kPairs);
      for (std::uint64_t round = 0; round < std::uint64_t{launch.trips} * kRounds; ++round) {
        p -= q;
        q += p;
      }
      const std::uint64_t ended = thread * kThreadFloats + pair;
      const auto got_p = read_at<float>(result, ended);
      const auto got_q = read_at<float>(result, ended + kPairs);
      // Additions are rounded in one way only.
      if (got_p != p || got_q != q) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("additions.fp32: thread {}, pair {} is ({}, {}), the CPU has "
                                "({}, {})",
                                thread, pair, got_p, got_q, p, q));
      }
    }
  }
  return {};
}

}  // namespace

SizedCase additions_case(const vulkan::DeviceFacts& facts,
                         std::optional<std::uint32_t> subgroup_size) {
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = subgroup_size ? fmt::format("additions.fp32.wave{}", *subgroup_size)
                            : std::string("additions.fp32");
  kernel.description = "additions of fp32 in registers";
  kernel.shader = "additions.comp";
  kernel.group_threads = facts.is_cpu ? 64 : std::min(256U, facts.max_group_threads);
  kernel.constants = {kernel.group_threads};
  kernel.subgroup_size = subgroup_size;
  kernel.buffers = {
      {.binding = 0, .bytes = kThreadBytes * kernel.group_threads, .fill = fill_with_floats},
      {.binding = 1, .bytes = kThreadBytes * kernel.group_threads * kResultGroups, .fill = {}}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    return push;
  };
  kernel.formula = {{.operation = Operation::kAddF32, .per_trip = 2.0 * kPairs * kRounds},
                    {.operation = Operation::kLoad16, .once = kThreadBytes / 16.0},
                    {.operation = Operation::kStore16, .once = kThreadBytes / 16.0}};
  kernel.flops_per_trip = 2.0 * kPairs * kRounds;
  kernel.read_bytes_once = kThreadBytes;
  kernel.written_bytes_once = kThreadBytes;
  kernel.min_arithmetic_share = 0.9;
  kernel.check = [threads = kernel.group_threads](const Launch& launch, const Outputs& outputs) {
    return check(launch, outputs, threads);
  };
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kFp32,
                                {.access = Access::kResident,
                                 .footprint_bytes = 1.0 * kThreadBytes * kernel.group_threads,
                                 .stores_stay_in_cache = true});
  sized.launch.groups = facts.is_cpu ? 32 : std::min(8192U, facts.max_groups_x);
  sized.scale_trips = true;
  return sized;
}

}  // namespace gputrace::bench
