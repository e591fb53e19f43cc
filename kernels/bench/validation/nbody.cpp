#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

// nbody.comp
constexpr std::uint32_t kGroup = 256;
constexpr std::uint32_t kTile = 64;
constexpr float kSoftening = 0.0025F;
constexpr double kBodyBytes = 16;
/// A launch of some tens of milliseconds, and enough threads.
constexpr std::uint32_t kBodies = 32'768;
constexpr std::uint32_t kBodiesOfDiscrete = 65'536;
constexpr std::uint32_t kBodiesOfCpu = 1024;
constexpr std::uint64_t kCheckedBodies = 16;

struct Pull {
  std::array<double, 3> of{};
  std::array<double, 3> magnitude{};
};

double number_of(std::uint64_t body, std::uint64_t component) {
  return pattern_float(body * 4 + component);
}

Pull pull_on(std::uint64_t body, std::uint64_t bodies) {
  Pull pull;
  for (std::uint64_t other = 0; other < bodies; ++other) {
    std::array<double, 3> distance{};
    double square = kSoftening;
    for (std::uint64_t i = 0; i < distance.size(); ++i) {
      distance.at(i) = number_of(other, i) - number_of(body, i);
      square += distance.at(i) * distance.at(i);
    }
    const double strength = number_of(body, 3) * number_of(other, 3) / (square * std::sqrt(square));
    for (std::size_t i = 0; i < distance.size(); ++i) {
      pull.of.at(i) += strength * distance.at(i);
      pull.magnitude.at(i) += std::abs(strength * distance.at(i));
    }
  }
  return pull;
}

Status check(const Launch& launch, const Outputs& outputs) {
  const std::span<const std::byte> pulls = outputs.buffers.at(1);
  const std::uint64_t bodies = std::uint64_t{launch.trips} * kTile;
  // Roundings of a sum are as often up as down: eight times their spread. A root may be off by two
  // units (Vulkan's precision of inversesqrt), which its cube makes six, and a few more roundings.
  const double share = (8 * std::sqrt(static_cast<double>(bodies)) + 32) * 0x1p-24;
  for (const std::uint64_t body :
       sample_of(std::uint64_t{launch.groups} * kGroup, kCheckedBodies)) {
    const auto tiles = read_at<float>(pulls, body * 4 + 3);
    if (tiles != static_cast<float>(launch.trips)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("nbody: body {} met {} tiles, not {}", body, tiles, launch.trips));
    }
    const Pull wanted = pull_on(body, bodies);
    for (std::size_t i = 0; i < wanted.of.size(); ++i) {
      const auto got = read_at<float>(pulls, body * 4 + i);
      const double bound = share * wanted.magnitude.at(i);
      if (!(std::abs(got - wanted.of.at(i)) <= bound)) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("nbody: component {} of the pull on body {} is {}, the CPU has {} "
                                "(+- {:.2g})",
                                i, body, got, wanted.of.at(i), bound));
      }
    }
  }
  return {};
}

std::uint32_t bodies_of(const vulkan::DeviceFacts& facts) {
  if (facts.is_cpu) {
    return kBodiesOfCpu;
  }
  return facts.listed.type == "discrete GPU" ? kBodiesOfDiscrete : kBodies;
}

}  // namespace

SizedCase nbody_case(const vulkan::DeviceFacts& facts) {
  const std::uint32_t bodies = bodies_of(facts);
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = "nbody";
  kernel.description = fmt::format("the pull of {} bodies on each, tiles in shared memory", bodies);
  kernel.shader = "nbody.comp";
  kernel.group_threads = kGroup;
  kernel.constants = {kGroup};
  sized.launch.groups = bodies / kGroup;
  sized.launch.trips = bodies / kTile;
  kernel.buffers = {{.binding = 0, .bytes = std::uint64_t{bodies} * 16, .fill = fill_with_floats},
                    {.binding = 1, .bytes = std::uint64_t{bodies} * 16, .fill = {}}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    write_at(push, 1, kSoftening);
    return push;
  };
  // A pair: three differences, three multiply-adds to the square of the distance, a reciprocal root
  // (not counted), three products, three multiply-adds. At the end the body's own mass.
  kernel.formula = {{.operation = Operation::kFmaF32, .per_trip = 6.0 * kTile},
                    {.operation = Operation::kAddF32, .per_trip = 3.0 * kTile},
                    {.operation = Operation::kMulF32, .per_trip = 3.0 * kTile, .once = 3},
                    {.operation = Operation::kSharedLoad, .per_trip = kTile},
                    {.operation = Operation::kSharedStore, .per_trip = 1},
                    {.operation = Operation::kLoad4, .per_trip = 1},
                    {.operation = Operation::kLoad16, .once = 1},
                    {.operation = Operation::kStore16, .once = 1}};
  kernel.flops_per_trip = 18.0 * kTile;
  kernel.flops_once = 3;
  kernel.read_bytes_per_trip = sizeof(float);
  kernel.read_bytes_once = kBodyBytes;
  kernel.written_bytes_once = kBodyBytes;
  kernel.check = check;
  kernel.stimulus = [described = stimulus_of(kernel, Arithmetic::kFp32,
                                             {.access = Access::kResident,
                                              .footprint_bytes = kBodyBytes * bodies,
                                              .step_each_trip = true})](const Launch& launch) {
    Stimulus stimulus = described(launch);
    // Vector memory gives each thread one number of a tile; all bodies of it come from shared
    // memory.
    stimulus.local_bytes = (kBodyBytes * kTile + sizeof(float)) * launch.trips;
    stimulus.group_local_bytes = kBodyBytes * kTile;
    return stimulus;
  };
  set_dram_bytes(kernel, [](const Launch&) { return 2 * kBodyBytes; });
  return sized;
}

}  // namespace gputrace::bench
