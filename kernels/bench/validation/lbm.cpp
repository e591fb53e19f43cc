#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"
#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

// lbm.glsl
constexpr std::size_t kDirections = 19;
struct Direction {
  int x = 0;
  int y = 0;
  int z = 0;
};
constexpr std::array<Direction, kDirections> kVelocities{{{0, 0, 0},
                                                          {1, 0, 0},
                                                          {-1, 0, 0},
                                                          {0, 1, 0},
                                                          {0, -1, 0},
                                                          {0, 0, 1},
                                                          {0, 0, -1},
                                                          {1, 1, 0},
                                                          {-1, -1, 0},
                                                          {1, -1, 0},
                                                          {-1, 1, 0},
                                                          {1, 0, 1},
                                                          {-1, 0, -1},
                                                          {1, 0, -1},
                                                          {-1, 0, 1},
                                                          {0, 1, 1},
                                                          {0, -1, -1},
                                                          {0, 1, -1},
                                                          {0, -1, 1}}};
constexpr float kRelaxation = 1.6F;  ///< 1 / relaxation time
constexpr std::uint32_t kBoxes = 2;  ///< in a word of halves
/// Populations begin within half of this of their weights.
constexpr float kApart = 0x1p-6F;
/// Some 50 roundings of numbers below 1/4.
constexpr double kBound = 50 * 0x1p-2 * 0x1p-24;
/// A half may be cut off, of a number below 1/16.
constexpr double kHalfBound = 0x1p-15;
constexpr std::uint64_t kCheckedCells = 512;

using Populations = std::array<double, kDirections>;

double weight_of(std::size_t direction) {
  constexpr std::array<double, 3> kWeights{1.0 / 3, 1.0 / 18, 1.0 / 36};
  const Direction& d = kVelocities.at(direction);
  const int steps = d.x * d.x + d.y * d.y + d.z * d.z;
  return kWeights.at(static_cast<std::size_t>(steps));
}

/// A periodic box; sides are powers of two.
struct Box {
  std::uint32_t x_bits = 0;
  std::uint32_t y_bits = 0;
  std::uint32_t z_bits = 0;

  [[nodiscard]] std::uint64_t cells() const { return 1ULL << (x_bits + y_bits + z_bits); }
  /// Where the population of a direction comes from.
  [[nodiscard]] std::uint64_t upstream(std::uint64_t cell, const Direction& d) const {
    const auto moved = [](std::uint64_t place, std::uint32_t bits, int by) {
      const std::uint64_t side = 1ULL << bits;
      return (place + side - static_cast<std::uint64_t>(by)) & (side - 1);
    };
    const std::uint64_t x = moved(cell & ((1ULL << x_bits) - 1), x_bits, d.x);
    const std::uint64_t y = moved((cell >> x_bits) & ((1ULL << y_bits) - 1), y_bits, d.y);
    const std::uint64_t z = moved(cell >> (x_bits + y_bits), z_bits, d.z);
    return (((z << y_bits) + y) << x_bits) + x;
  }
};

Box box_of(const vulkan::DeviceFacts& facts) {
  if (facts.is_cpu) {
    return {.x_bits = 5, .y_bits = 4, .z_bits = 4};
  }
  Box box{.x_bits = 7, .y_bits = 7, .z_bits = 7};
  const std::uint64_t most = std::min(
      facts.max_storage_range, facts.memory_bytes == 0 ? UINT64_MAX : facts.memory_bytes / 8);
  while (box.cells() * kDirections * 4 > most && box.z_bits > 1) {
    --box.z_bits;
  }
  return box;
}

/// A population of the first state, less its weight.
float first_fp32(std::uint64_t number) {
  return kApart * (pattern_float(number) - 1.0F);
}
/// The same of one of the boxes whose halves lie in a word.
float first_half(std::uint64_t number, std::uint32_t box) {
  return round_to_half(first_fp32(number * kBoxes + box));
}

/// Populations less their weights after a step, from those that streamed in.
Populations relaxed(const Populations& in) {
  double density = 0;
  std::array<double, 3> flow{};
  for (std::size_t i = 0; i < kDirections; ++i) {
    const Direction& d = kVelocities.at(i);
    density += in.at(i);
    flow[0] += d.x * in.at(i);
    flow[1] += d.y * in.at(i);
    flow[2] += d.z * in.at(i);
  }
  const double square = flow[0] * flow[0] + flow[1] * flow[1] + flow[2] * flow[2];
  Populations out{};
  for (std::size_t i = 0; i < kDirections; ++i) {
    const Direction& d = kVelocities.at(i);
    const double along = d.x * flow[0] + d.y * flow[1] + d.z * flow[2];
    const double equilibrium =
        weight_of(i) * (density + 3 * along + 4.5 * along * along - 1.5 * square);
    out.at(i) = in.at(i) + static_cast<double>(kRelaxation) * (equilibrium - in.at(i));
  }
  return out;
}

struct Way {
  std::string id;
  Storage storage = Storage::kFp32;
  Box box;

  [[nodiscard]] std::uint32_t boxes() const { return storage == Storage::kFp32 ? 1 : kBoxes; }
  [[nodiscard]] double first(std::uint64_t number, std::uint32_t which) const {
    return storage == Storage::kFp32 ? first_fp32(number) : first_half(number, which);
  }
  [[nodiscard]] double bound() const {
    return storage == Storage::kFp32 ? kBound : kBound + kHalfBound;
  }
  [[nodiscard]] double read(std::span<const std::byte> from, std::uint64_t number,
                            std::uint32_t which) const {
    return storage == Storage::kFp32
               ? static_cast<double>(read_at<float>(from, number))
               : half_from_bits(read_at<std::uint16_t>(from, number * kBoxes + which));
  }
};

Status check(const Way& way, const Outputs& outputs) {
  const std::span<const std::byte> to = outputs.buffers.at(1);
  const std::uint64_t cells = way.box.cells();
  for (const std::uint64_t cell : sample_of(cells, kCheckedCells)) {
    for (std::uint32_t which = 0; which < way.boxes(); ++which) {
      Populations in{};
      for (std::size_t i = 0; i < kDirections; ++i) {
        in.at(i) = way.first(i * cells + way.box.upstream(cell, kVelocities.at(i)), which);
      }
      const Populations out = relaxed(in);
      for (std::size_t i = 0; i < kDirections; ++i) {
        const double wanted = out.at(i);
        const double got = way.read(to, i * cells + cell, which);
        if (!(std::abs(got - wanted) <= way.bound())) {
          return fail(ErrorCode::kCorrupt,
                      fmt::format("{}: direction {} of cell {} in box {} is {}, the CPU has {} (+- "
                                  "{:.2g})",
                                  way.id, i, cell, which, got, wanted, way.bound()));
        }
      }
    }
  }
  return {};
}

void fill(const Way& way, std::span<std::byte> buffer) {
  for (std::uint64_t number = 0; number < buffer.size() / 4; ++number) {
    if (way.storage == Storage::kFp32) {
      write_at(buffer, number, first_fp32(number));
      continue;
    }
    for (std::uint32_t which = 0; which < kBoxes; ++which) {
      write_at(buffer, number * kBoxes + which, half_bits(first_half(number, which)));
    }
  }
}

}  // namespace

SizedCase lbm_case(const vulkan::DeviceFacts& facts, Storage storage) {
  const bool halves = storage == Storage::kFp16;
  const Way way{.id = halves ? "lbm.fp16" : "lbm.fp32", .storage = storage, .box = box_of(facts)};
  const Box& box = way.box;
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = way.id;
  kernel.description = fmt::format("lattice Boltzmann, D3Q19, {} of {} x {} x {} in {}",
                                   halves ? "two boxes" : "a box", 1U << box.x_bits,
                                   1U << box.y_bits, 1U << box.z_bits, halves ? "fp16" : "fp32");
  kernel.shader = halves ? "lbm_fp16.comp" : "lbm_fp32.comp";
  kernel.group_threads = memory_group_threads(facts);
  kernel.constants = {kernel.group_threads};
  sized.launch.groups = static_cast<std::uint32_t>(box.cells() / kernel.group_threads);
  const std::uint64_t bytes = box.cells() * kDirections * 4;
  kernel.buffers = {{.binding = 0,
                     .bytes = bytes,
                     .fill = [way](std::span<std::byte> buffer) { fill(way, buffer); }},
                    {.binding = 1, .bytes = bytes, .fill = {}}};
  kernel.push = [box](const Launch&, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, box.x_bits);
    write_at<std::uint32_t>(push, 1, box.y_bits);
    write_at<std::uint32_t>(push, 2, box.z_bits);
    write_at(push, 3, 1 - kRelaxation);
    write_at(push, 4, kRelaxation / 3);
    write_at(push, 5, kRelaxation / 18);
    write_at(push, 6, kRelaxation / 36);
    return push;
  };
  // A cell. Additions: 18 of pairs, 9 to the density, 12 to the flow, 6 of its components.
  // Products: the square, the rest, three a pair. Multiply-adds: 2 of the square, the base, the
  // rest, five a pair.
  const double cells = way.boxes();
  const double additions = 45 * cells;
  const double products = 29 * cells;
  const double fmas = 49 * cells;
  kernel.formula = {{.operation = Operation::kAddF32, .once = additions},
                    {.operation = Operation::kMulF32, .once = products},
                    {.operation = Operation::kFmaF32, .once = fmas},
                    {.operation = Operation::kLoad4, .once = kDirections},
                    {.operation = Operation::kStore4, .once = kDirections}};
  kernel.flops_once = additions + products + 2 * fmas;
  kernel.read_bytes_once = 4.0 * kDirections;
  kernel.written_bytes_once = 4.0 * kDirections;
  kernel.check = [way](const Launch&, const Outputs& outputs) { return check(way, outputs); };
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kFp32,
                                {.access = Access::kStream,
                                 .footprint_bytes = 2 * static_cast<double>(bytes),
                                 .waves_per_simd = halves ? 8U : 10U});
  set_streamed(kernel);
  return sized;
}

}  // namespace gputrace::bench
