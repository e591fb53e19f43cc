#include "kernels/bench/tests/icache/icache_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kUsualLanes = 64;
/// With their product 1 and sum between -3 and 1 the pair turns on an ellipse.
constexpr float kA = -1.25F;
constexpr float kB = -0.8F;
constexpr double kAddBytes = 4;
constexpr double kFmaBytes = 8;

struct StraightPush {
  std::uint32_t trips = 0;
  float a = kA;
  float b = kB;
};

struct Pair {
  float p = 0;
  float q = 0;
};

Pair turned(const StraightShape& shape, const MultiplyAdd<float>& way, std::uint32_t trips,
            Pair pair) {
  const std::uint64_t rounds =
      std::uint64_t{trips} * shape.operations / (std::uint64_t{2} * shape.chains);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (shape.operation == StraightOperation::kAdd) {
      pair.p -= pair.q;
      pair.q += pair.p;
    } else {
      pair.p = way.of(pair.p, kA, pair.q);
      pair.q = way.of(pair.q, kB, pair.p);
    }
  }
  return pair;
}

/// Absent: every number is bit for bit what `way` leads to.
std::optional<std::string> mismatch(const StraightShape& shape, const MultiplyAdd<float>& way,
                                    const Launch& launch, std::span<const std::byte> result) {
  for (std::uint32_t thread = 0; thread < shape.group_threads; ++thread) {
    for (std::uint32_t chain = 0; chain < shape.chains; ++chain) {
      const auto p = static_cast<float>(thread + 2 * chain + 1);
      const Pair wanted = turned(shape, way, launch.trips, {.p = p, .q = p + 1});
      const std::uint64_t at = std::uint64_t{2} * (thread * shape.chains + chain);
      const auto got_p = read_at<float>(result, at);
      const auto got_q = read_at<float>(result, at + 1);
      if (got_p != wanted.p || got_q != wanted.q) {
        return fmt::format("thread {}, chain {} is ({}, {}), the CPU has ({}, {})", thread, chain,
                           got_p, got_q, wanted.p, wanted.q);
      }
    }
  }
  return std::nullopt;
}

Status check(const std::string& id, const StraightShape& shape, const Launch& launch,
             const Outputs& outputs) {
  std::string first;
  for (const MultiplyAdd<float>& way : fp32_multiply_adds()) {
    const auto off = mismatch(shape, way, launch, outputs.buffers.at(0));
    if (!off) {
      return {};
    }
    first = first.empty() ? *off : first;
  }
  return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", id, first));
}

}  // namespace

double assumed_bytes(StraightOperation operation) {
  return operation == StraightOperation::kAdd ? kAddBytes : kFmaBytes;
}

KernelCase straight_case(const vulkan::DeviceFacts& facts, StraightOperation operation,
                         std::uint32_t operations, std::uint32_t chains) {
  const std::uint32_t lanes = facts.subgroup_size == 0 ? kUsualLanes : facts.subgroup_size;
  const StraightShape shape{
      .operation = operation,
      .operations = operations,
      .chains = chains,
      .group_threads = std::min(lanes, std::max(facts.max_group_threads, 1U))};
  const bool adds = operation == StraightOperation::kAdd;
  KernelCase kernel;
  kernel.id = fmt::format("icache.{:.0f}B.{}", assumed_bytes(operation), operations);
  if (chains > 1) {
    kernel.id += fmt::format(".chains{}", chains);
  }
  kernel.description = fmt::format("{} fp32 {} in a row, chains: {}", operations,
                                   adds ? "additions" : "FMAs", chains);
  kernel.code = straight_code(shape);
  kernel.group_threads = shape.group_threads;
  kernel.buffers = {{.binding = 0,
                     .bytes = std::uint64_t{shape.group_threads} * 2 * chains * sizeof(float),
                     .fill = {}}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    const StraightPush push{.trips = launch.trips};
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &push, sizeof(push));
    return bytes;
  };
  kernel.formula = {{.operation = adds ? Operation::kAddF32 : Operation::kFmaF32,
                     .per_trip = static_cast<double>(operations),
                     .once = adds ? 2.0 * chains : 0}};
  kernel.flops_per_trip = static_cast<double>(operations) * (adds ? 1 : 2);
  kernel.max_code_bytes = std::nullopt;
  kernel.check = [id = kernel.id, shape](const Launch& launch, const Outputs& outputs) {
    return check(id, shape, launch, outputs);
  };
  kernel.stimulus = [id = kernel.id, shape,
                     code = operations * assumed_bytes(operation)](const Launch& launch) {
    Stimulus stimulus;
    stimulus.kernel = id;
    stimulus.group_threads = shape.group_threads;
    stimulus.launches = launch.repeats;
    stimulus.threads = static_cast<double>(launch.groups) * shape.group_threads * launch.repeats;
    // An addition takes the place of an FMA.
    stimulus.flops = 2.0 * shape.operations * launch.trips;
    stimulus.code_bytes = code;
    return stimulus;
  };
  return kernel;
}

}  // namespace gputrace::bench
