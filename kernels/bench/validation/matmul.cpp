#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kDepth = 8;  // of a panel; matmul.comp
constexpr std::uint32_t kPanels = 128;
constexpr std::uint32_t kPanelsOfCpu = 4;
constexpr std::uint32_t kGroupsOfCpu = 4;
constexpr std::uint64_t kFactorBytes = 256ULL << 20U;
constexpr std::uint64_t kCheckedNumbers = 512;

/// How a tile is cut.
struct Tile {
  std::uint32_t side = 64;
  std::uint32_t blocks = 16;  ///< a side
  std::uint32_t quads = 1;    ///< vectors of a side of a thread's block

  [[nodiscard]] std::uint32_t threads() const { return blocks * blocks; }
  [[nodiscard]] std::uint32_t panel_floats() const { return kDepth * 2 * side; }
  [[nodiscard]] std::uint32_t loads() const { return panel_floats() / 4 / threads(); }
  /// Of shared memory, a thread and panel: what it puts there, and vectors of both factors.
  [[nodiscard]] double local_bytes() const {
    constexpr double kVectorBytes = 16;
    return kVectorBytes * (loads() + 2.0 * kDepth * quads);
  }
};

Tile tile_of(std::uint32_t side) {
  switch (side) {
    case 64:
      return {.side = 64, .blocks = 16, .quads = 1};
    case 128:
      return {.side = 128, .blocks = 16, .quads = 2};
    default:
      GPUTRACE_CHECK(side == 256);
      return {.side = 256, .blocks = 32, .quads = 2};
  }
}

Status check(const std::string& id, const Tile& tile, std::uint32_t group_panels,
             const Launch& launch, const Outputs& outputs) {
  const std::span<const std::byte> products = outputs.buffers.at(1);
  const std::uint64_t tile_floats = std::uint64_t{tile.side} * tile.side;
  const std::uint64_t depth = std::uint64_t{launch.trips} * kDepth;
  for (const std::uint64_t place : sample_of(tile_floats * launch.groups, kCheckedNumbers)) {
    const std::uint64_t group = place / tile_floats;
    const std::uint64_t row = place % tile_floats / tile.side;
    const std::uint64_t column = place % tile.side;
    const std::uint64_t factors = group * group_panels * tile.panel_floats();
    double wanted = 0;
    for (std::uint64_t k = 0; k < depth; ++k) {
      const std::uint64_t slice = factors + k * 2 * tile.side;
      wanted += static_cast<double>(pattern_float(slice + row)) *
                pattern_float(slice + tile.side + column);
    }
    const double bound = static_cast<double>(depth) * wanted * 0x1p-24;
    const auto got = read_at<float>(products, place);
    if (!(std::abs(got - wanted) <= bound)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: product {}, row {}, column {} is {}, the CPU has {} (+- {:.2g})",
                              id, group, row, column, got, wanted, bound));
    }
  }
  return {};
}

}  // namespace

SizedCase matmul_case(const vulkan::DeviceFacts& facts, std::uint32_t side) {
  const Tile tile = tile_of(side);
  const std::uint32_t panels = facts.is_cpu ? kPanelsOfCpu : kPanels;
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = fmt::format("matmul.tile{}", side);
  kernel.description = fmt::format("products of {} x {} over a depth of {}, a group each", side,
                                   side, panels * kDepth);
  kernel.shader = "matmul.comp";
  kernel.group_threads = tile.threads();
  kernel.constants = {tile.threads(), side, tile.blocks, tile.quads, tile.loads()};

  const std::uint64_t group_bytes = std::uint64_t{panels} * tile.panel_floats() * sizeof(float);
  std::uint64_t most = std::min(kFactorBytes, facts.max_storage_range);
  if (facts.memory_bytes != 0) {
    most = std::min(most, facts.memory_bytes / 8);
  }
  sized.launch.groups = facts.is_cpu
                            ? kGroupsOfCpu
                            : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                  most / group_bytes, 1, std::max(facts.max_groups_x, 1U)));
  sized.launch.trips = panels;
  const double product_bytes = 4.0 * side * side;
  kernel.buffers = {
      {.binding = 0, .bytes = group_bytes * sized.launch.groups, .fill = fill_with_floats},
      {.binding = 1, .bytes = std::uint64_t{4} * side * side * sized.launch.groups, .fill = {}}};
  kernel.push = [panels](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    write_at<std::uint32_t>(push, 1, panels);
    return push;
  };
  const double block = 4.0 * tile.quads;
  const double fmas = kDepth * block * block;
  const double stores = block * block / 4;
  kernel.formula = {{.operation = Operation::kFmaF32, .per_trip = fmas},
                    {.operation = Operation::kLoad16, .per_trip = double{1} * tile.loads()},
                    {.operation = Operation::kSharedStore, .per_trip = double{1} * tile.loads()},
                    {.operation = Operation::kSharedLoad, .per_trip = 2.0 * kDepth * tile.quads},
                    {.operation = Operation::kStore16, .once = stores}};
  kernel.flops_per_trip = 2 * fmas;
  kernel.read_bytes_per_trip = 16.0 * tile.loads();
  kernel.written_bytes_once = product_bytes / tile.threads();
  kernel.check = [id = kernel.id, tile, panels](const Launch& launch, const Outputs& outputs) {
    return check(id, tile, panels, launch, outputs);
  };
  kernel.stimulus = [tile,
                     described = stimulus_of(
                         kernel, Arithmetic::kFp32,
                         {.access = Access::kStream,
                          .footprint_bytes = static_cast<double>(group_bytes) * sized.launch.groups,
                          .step_each_trip = true,
                          .waves_per_simd = tile.quads == 1 ? 16U : 5U})](const Launch& launch) {
    Stimulus stimulus = described(launch);
    stimulus.local_bytes = tile.local_bytes() * launch.trips;
    stimulus.group_local_bytes = double{sizeof(float)} * tile.panel_floats();
    return stimulus;
  };
  set_streamed(kernel);
  return sized;
}

}  // namespace gputrace::bench
