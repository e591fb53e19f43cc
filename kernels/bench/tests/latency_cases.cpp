#include "kernels/bench/tests/latency_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gputrace::bench {

namespace {

/// Of a wave; more have not been met.
constexpr std::uint32_t kMaxLanes = 64;
constexpr std::uint32_t kUsualLanes = 32;
/// Words from the place of a lane's chain to that of its next, as in the shader.
constexpr std::uint32_t kPlacesApart = 64;

struct ChasePush {
  std::uint64_t base = 0;
  std::uint32_t trips = 0;
};

std::uint32_t lanes_of_wave(const vulkan::DeviceFacts& facts) {
  return facts.subgroup_size == 0 ? kUsualLanes : std::min(facts.subgroup_size, kMaxLanes);
}

/// Where chain `chain` of lane `lane` begins: all as far apart on the cycle as they can be.
std::uint64_t first_position(const RandomCycle& cycle, std::uint32_t lanes, std::uint32_t chains,
                             std::uint32_t lane, std::uint32_t chain) {
  const std::uint64_t walkers = std::uint64_t{lanes} * chains;
  return (std::uint64_t{lane} * chains + chain) * cycle.nodes() / walkers;
}

/// The words of the places buffer, in its order.
template <class Visit>
void for_each_walker(std::uint32_t lanes, std::uint32_t chains, Visit visit) {
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      visit(std::size_t{chain} * kPlacesApart + lane, lane, chain);
    }
  }
}

Status check_ends(const std::string& id, const RandomCycle& cycle, std::uint32_t lanes,
                  std::uint32_t chains, const Launch& launch, std::span<const std::byte> places) {
  const std::uint64_t hops =
      std::uint64_t{kHopsPerTrip} * launch.trips * std::uint64_t{launch.repeats};
  Status status;
  for_each_walker(lanes, chains, [&](std::size_t word, std::uint32_t lane, std::uint32_t chain) {
    std::uint32_t offset = 0;
    std::memcpy(&offset, &places[word * sizeof(offset)], sizeof(offset));
    const std::uint64_t expected =
        std::uint64_t{cycle.at(first_position(cycle, lanes, chains, lane, chain) + hops)} *
        kNodeBytes;
    if (status && offset != expected) {
      status = fail(ErrorCode::kCorrupt,
                    fmt::format("{}: after {} hops chain {} of lane {} is at byte {}, and on the "
                                "CPU at byte {}",
                                id, hops, chain, lane, offset, expected));
    }
  });
  return status;
}

std::string id_of(const ChaseShape& shape, std::uint64_t bytes) {
  const std::string size =
      bytes % 1024 == 0 ? fmt::format("{}KiB", bytes / 1024) : fmt::format("{}B", bytes);
  const std::string who = shape.full_wave ? "wave" : fmt::format("c{}", shape.chains);
  return fmt::format("latency.{}.{}.{}", shape.scalar ? "scalar" : "vector", who, size);
}

/// Chains, since a queueing model knows waves that each follow one.
Stimulus describe(const std::string& id, const ChaseShape& shape, std::uint32_t lanes,
                  double footprint_bytes, double hop_bytes, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = id;
  stimulus.threads = static_cast<double>(lanes) * shape.chains * launch.groups * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.group_threads = lanes;
  stimulus.steps = kHopsPerTrip * static_cast<double>(launch.trips);
  stimulus.access = Access::kChase;
  stimulus.read_bytes = stimulus.steps * hop_bytes;
  stimulus.footprint_bytes = footprint_bytes;
  return stimulus;
}

}  // namespace

std::string name_of(const ChaseShape& shape) {
  if (shape.full_wave) {
    return "full wave";
  }
  return shape.chains == 1 ? "1 chain" : fmt::format("{} chains", shape.chains);
}

double hops_of_dispatch(const Launch& launch) {
  return static_cast<double>(kHopsPerTrip) * launch.trips;
}

KernelCase chase_case(const ChaseShape& shape, const vulkan::DeviceFacts& facts,
                      std::shared_ptr<const RandomCycle> cycle) {
  const bool addresses = facts.buffer_addresses;
  const std::uint32_t lanes = shape.full_wave ? lanes_of_wave(facts) : 1;
  const std::uint32_t chains = shape.chains;
  GPUTRACE_CHECK(cycle->nodes() >= lanes * chains);

  KernelCase kernel;
  kernel.id = id_of(shape, cycle->bytes());
  kernel.description = fmt::format("chase of {} through {} KiB, {} path", name_of(shape),
                                   cycle->bytes() / 1024, shape.scalar ? "scalar" : "vector");
  kernel.shader = addresses ? "chase_address.comp" : "chase_index.comp";
  kernel.constants = {lanes, shape.scalar ? 1U : 0U, chains};
  kernel.group_threads = lanes;
  if (addresses) {
    kernel.needs = {Requirement::kBufferAddresses, Requirement::kInt64};
  }

  BufferNeed places{
      .binding = 0, .bytes = std::uint64_t{kPlacesApart} * chains * 4, .fill = nullptr};
  places.fill = [cycle, lanes, chains](std::span<std::byte> memory) {
    for_each_walker(lanes, chains, [&](std::size_t word, std::uint32_t lane, std::uint32_t chain) {
      const std::uint32_t offset =
          cycle->at(first_position(*cycle, lanes, chains, lane, chain)) * kNodeBytes;
      std::memcpy(&memory[word * sizeof(offset)], &offset, sizeof(offset));
    });
  };
  BufferNeed nodes{.binding = 1, .bytes = cycle->bytes(), .fill = nullptr};
  if (addresses) {
    nodes.fill_at = [cycle](std::span<std::byte> memory, std::uint64_t address) {
      cycle->write_addresses(memory, address);
    };
  } else {
    nodes.fill = [cycle](std::span<std::byte> memory) { cycle->write_indices(memory); };
  }
  kernel.buffers = {std::move(places), std::move(nodes)};
  kernel.push = [addresses](const Launch& launch, std::span<const vulkan::Buffer* const> buffers) {
    const ChasePush push{.base = addresses ? buffers[1]->address() : 0, .trips = launch.trips};
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &push, sizeof(push));
    return bytes;
  };

  // Nothing but the loads: one more instruction a hop would be part of every figure.
  const double loads = static_cast<double>(kHopsPerTrip) * chains;
  const double hop_bytes = addresses ? 8 : 4;
  if (shape.scalar) {
    kernel.formula = {{.operation = Operation::kScalarLoad, .per_trip = loads, .once = 0}};
  } else if (addresses) {
    kernel.formula = {{.operation = Operation::kLoad8, .per_trip = loads, .once = 0}};
  } else {
    // The places are words too.
    kernel.formula = {
        {.operation = Operation::kLoad4, .per_trip = loads, .once = static_cast<double>(chains)}};
    kernel.read_bytes_once = 4.0 * chains;
  }
  kernel.read_bytes_per_trip = loads * hop_bytes;
  kernel.check = [id = kernel.id, cycle, lanes, chains](const Launch& launch,
                                                        const Outputs& outputs) {
    return check_ends(id, *cycle, lanes, chains, launch, outputs.buffers[0]);
  };
  kernel.stimulus = [id = kernel.id, shape, lanes, hop_bytes,
                     footprint = static_cast<double>(cycle->bytes())](const Launch& launch) {
    return describe(id, shape, lanes, footprint, hop_bytes, launch);
  };
  return kernel;
}

}  // namespace gputrace::bench
