#include "kernels/bench/tests/lbm/lattice_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

/// Of populations in FP16S; a power of two, so that it changes no digit.
constexpr float kHalfScale = 32768;
constexpr std::uint64_t kCheckedCells = 65'536;

double scale_of(LatticeFormat format) {
  return format == LatticeFormat::kFp16s ? static_cast<double>(kHalfScale) : 1;
}

std::uint64_t word_bytes(LatticeFormat format) {
  return format == LatticeFormat::kFp32 ? 4 : 2;
}

void write_population(std::span<std::byte> to, std::uint64_t number, LatticeFormat format,
                      double population) {
  const auto value = static_cast<float>(population);
  switch (format) {
    case LatticeFormat::kFp32:
      write_at(to, number, value);
      return;
    case LatticeFormat::kFp16s:
      write_at(to, number, half_bits(round_to_half(static_cast<double>(value * kHalfScale))));
      return;
    case LatticeFormat::kFp16c:
      write_at(to, number, fp16c_bits(value));
      return;
  }
}

double read_population(std::span<const std::byte> from, std::uint64_t number,
                       LatticeFormat format) {
  switch (format) {
    case LatticeFormat::kFp32:
      break;
    case LatticeFormat::kFp16s:
      return static_cast<double>(half_from_bits(read_at<std::uint16_t>(from, number)) / kHalfScale);
    case LatticeFormat::kFp16c:
      return static_cast<double>(fp16c_value(read_at<std::uint16_t>(from, number)));
  }
  return static_cast<double>(read_at<float>(from, number));
}

std::size_t opposite(std::size_t direction) {
  return direction % 2 == 1 ? direction + 1 : direction - 1;
}

/// What a cell leaves in a plane of the buffer before an even step: a direction of odd number lies
/// in its opposite's plane of the cell downstream, one of even number in its opposite's of the cell
/// itself.
struct Lattice {
  LatticeFormat format = LatticeFormat::kFp32;
  LatticeBox box;

  /// Where a population is found by the step after so many: `steps` of them were done.
  [[nodiscard]] std::uint64_t place(std::uint64_t cell, std::size_t direction,
                                    std::uint64_t steps) const {
    if (direction == 0) {
      return cell;
    }
    const bool leaves = direction % 2 == 1;
    const std::uint64_t at = leaves ? box.downstream(cell, lattice_direction(direction)) : cell;
    const std::size_t plane = steps % 2 == 0 ? opposite(direction) : direction;
    return plane * box.cells() + at;
  }

  [[nodiscard]] Populations read(std::span<const std::byte> from, std::uint64_t cell,
                                 std::uint64_t steps) const {
    Populations populations{};
    for (std::size_t i = 0; i < kLatticeDirections; ++i) {
      populations.at(i) = read_population(from, place(cell, i, steps), format);
    }
    return populations;
  }
};

/// Of the pattern, row by row, over the whole box.
void fill_with_pattern(const Lattice& lattice, std::span<std::byte> buffer) {
  const Lattice pattern{.format = lattice.format, .box = kLatticePattern};
  const std::uint64_t word = word_bytes(lattice.format);
  const std::uint64_t cells = kLatticePattern.cells();
  std::vector<std::byte> tile(cells * kLatticeDirections * word);
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    const Populations first = first_populations(cell);
    for (std::size_t i = 0; i < kLatticeDirections; ++i) {
      write_population(tile, pattern.place(cell, i, 0), lattice.format, first.at(i));
    }
  }
  const std::uint64_t row = 1ULL << kLatticePattern.x_bits;
  const LatticeBox& box = lattice.box;
  for (std::uint64_t i = 0; i < kLatticeDirections; ++i) {
    for (std::uint64_t cell = 0; cell < box.cells(); cell += row) {
      std::memcpy(&buffer[(i * box.cells() + cell) * word],
                  &tile[(i * cells + box.in_pattern(cell)) * word], row * word);
    }
  }
}

Status compare(const std::string& id, const Lattice& lattice, std::uint64_t steps,
               const std::vector<Moments>& wanted, std::span<const std::byte> buffer,
               LatticeErrors& errors) {
  const LatticeErrors bounds = lattice_bounds(lattice.format);
  const auto sample = sample_of(lattice.box.cells(), kCheckedCells);
  for (const std::uint64_t cell : sample) {
    const Moments got = moments_of(lattice.read(buffer, cell, steps));
    const Moments& want = wanted[lattice.box.in_pattern(cell)];
    errors.mass += got.density / static_cast<double>(sample.size());
    for (std::size_t i = 0; i < want.flow.size(); ++i) {
      const double error = std::abs(got.flow.at(i) - want.flow.at(i));
      if (!(error <= bounds.flow)) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("{}: component {} of the flow in cell {} is {:.8f} after {} steps, "
                                "the CPU has {:.8f} (+- {:.2g})",
                                id, i, cell, got.flow.at(i), steps, want.flow.at(i), bounds.flow));
      }
      errors.flow = std::max(errors.flow, error);
    }
  }
  if (!(std::abs(errors.mass) <= bounds.mass)) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{}: after {} steps the mean density is off by {:.2g} (+- {:.2g}): mass "
                    "is not conserved",
                    id, steps, errors.mass, bounds.mass));
  }
  return {};
}

struct ArithmeticCount {
  double additions = 0;
  double products = 0;
  double fmas = 0;
};

/// A cell. Additions: 18 of pairs, 9 to the density, 12 to the flow, 6 of its components. Products:
/// the square, the rest, three a pair. Multiply-adds: 2 of the square, the base, the rest, five a
/// pair. Each number of FP16C takes an addition to read and one to write.
ArithmeticCount arithmetic_of(LatticeFormat format) {
  const double converted = format == LatticeFormat::kFp16c ? 2 * kLatticeDirections : 0;
  return {.additions = 45 + converted, .products = 29, .fmas = 49};
}

std::vector<OperationCount> formula_of(LatticeFormat format) {
  const ArithmeticCount count = arithmetic_of(format);
  std::vector<OperationCount> formula{{.operation = Operation::kAddF32, .once = count.additions},
                                      {.operation = Operation::kMulF32, .once = count.products},
                                      {.operation = Operation::kFmaF32, .once = count.fmas}};
  if (format == LatticeFormat::kFp32) {
    formula.push_back({.operation = Operation::kLoad4, .once = kLatticeDirections + 1});
    formula.push_back({.operation = Operation::kStore4, .once = kLatticeDirections});
  } else {
    formula.push_back({.operation = Operation::kLoad4, .once = 1});
    formula.push_back({.operation = Operation::kLoad2, .once = kLatticeDirections});
    formula.push_back({.operation = Operation::kStore2, .once = kLatticeDirections});
  }
  return formula;
}

std::string_view shader_of(LatticeFormat format) {
  switch (format) {
    case LatticeFormat::kFp32:
      break;
    case LatticeFormat::kFp16s:
      return "lbm_fp16s.comp";
    case LatticeFormat::kFp16c:
      return "lbm_fp16c.comp";
  }
  return "lbm_fp32.comp";
}

vulkan::PushConstants push_of(const LatticeBox& box, LatticeFormat format, std::uint64_t step) {
  const auto over = static_cast<float>(1 / scale_of(format));
  vulkan::PushConstants push{};
  write_at<std::uint32_t>(push, 0, box.x_bits);
  write_at<std::uint32_t>(push, 1, box.y_bits);
  write_at<std::uint32_t>(push, 2, box.z_bits);
  write_at<std::uint32_t>(push, 3, step % 2);
  write_at(push, 4, 1 - kLatticeRelaxation);
  write_at(push, 5, kLatticeRelaxation / 3);
  write_at(push, 6, kLatticeRelaxation / 18);
  write_at(push, 7, kLatticeRelaxation / 36);
  write_at(push, 8, -1.5F * over);
  write_at(push, 9, 4.5F * over);
  return push;
}

}  // namespace

std::string_view name_of(LatticeFormat format) {
  switch (format) {
    case LatticeFormat::kFp32:
      break;
    case LatticeFormat::kFp16s:
      return "fp16s";
    case LatticeFormat::kFp16c:
      return "fp16c";
  }
  return "fp32";
}

double lattice_bytes(LatticeFormat format) {
  return 2.0 * kLatticeDirections * static_cast<double>(word_bytes(format)) + 1;
}

double lattice_operations(LatticeFormat format) {
  const ArithmeticCount count = arithmetic_of(format);
  return count.additions + count.products + count.fmas;
}

LatticeBox lattice_box(const vulkan::DeviceFacts& facts) {
  if (facts.is_cpu) {
    return {.x_bits = 5, .y_bits = 5, .z_bits = 5};
  }
  LatticeBox box{.x_bits = 7, .y_bits = 7, .z_bits = 7};
  if (facts.listed.type == "discrete GPU") {
    ++box.x_bits;
  }
  const std::uint64_t most = std::min(
      facts.max_storage_range, facts.memory_bytes == 0 ? UINT64_MAX : facts.memory_bytes / 8);
  while (box.cells() * kLatticeDirections * sizeof(float) > most &&
         box.z_bits > kLatticePattern.z_bits) {
    --box.z_bits;
  }
  return box;
}

LatticeErrors lattice_bounds(LatticeFormat format) {
  switch (format) {
    case LatticeFormat::kFp32:
      break;
    case LatticeFormat::kFp16s:
      return {.flow = 2e-4, .mass = 5e-6};
    case LatticeFormat::kFp16c:
      return {.flow = 1e-4, .mass = 5e-6};
  }
  return {.flow = 1e-6, .mass = 1e-7};
}

std::uint16_t fp16c_bits(float value) {
  constexpr std::uint32_t kBias = 112U << 23U;  // of 127, less that of the format
  constexpr std::uint32_t kLeastNormal = 113U << 23U;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t normal = (magnitude - kBias + 0x7ffU + ((magnitude >> 12U) & 1U)) >> 12U;
  const auto small =
      static_cast<std::uint32_t>(std::nearbyint(std::abs(static_cast<double>(value)) * 0x1p25));
  const std::uint32_t either = magnitude >= kLeastNormal ? normal : small;
  return static_cast<std::uint16_t>(std::min(either, 0x7fffU) | ((bits >> 16U) & 0x8000U));
}

float fp16c_value(std::uint16_t bits) {
  constexpr std::uint32_t kMantissa = 0x800;
  const std::uint32_t magnitude = bits & 0x7fffU;
  const float value = magnitude >= kMantissa
                          ? std::bit_cast<float>((magnitude << 12U) + (112U << 23U))
                          : static_cast<float>(magnitude) * 0x1p-25F;
  return (bits & 0x8000U) != 0 ? -value : value;
}

SizedCase lattice_case(const vulkan::DeviceFacts& facts, LatticeFormat format,
                       const LatticeBox& box, std::shared_ptr<LatticeReference> reference,
                       std::shared_ptr<LatticeErrors> seen) {
  const Lattice lattice{.format = format, .box = box};
  if (!reference) {
    reference = std::make_shared<LatticeReference>();
  }
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = fmt::format("lbm.{}", name_of(format));
  kernel.description =
      fmt::format("lattice Boltzmann, D3Q19 in place, a box of {} x {} x {} in {}",
                  1U << box.x_bits, 1U << box.y_bits, 1U << box.z_bits, name_of(format));
  kernel.shader = shader_of(format);
  kernel.group_threads = memory_group_threads(facts);
  kernel.constants = {kernel.group_threads};
  if (format != LatticeFormat::kFp32) {
    kernel.needs = {Requirement::kStorage16};
  }
  sized.launch.groups = static_cast<std::uint32_t>(box.cells() / kernel.group_threads);
  const std::uint64_t bytes = box.cells() * kLatticeDirections * word_bytes(format);
  kernel.buffers = {
      {.binding = 0,
       .bytes = bytes,
       .fill = [lattice](std::span<std::byte> buffer) { fill_with_pattern(lattice, buffer); }},
      {.binding = 1, .bytes = box.cells(), .fill = nullptr}};
  kernel.push_step = [box, format](std::uint64_t step) { return push_of(box, format, step); };
  kernel.formula = formula_of(format);
  const ArithmeticCount count = arithmetic_of(format);
  kernel.flops_once = count.additions + count.products + 2 * count.fmas;
  const double populations = static_cast<double>(kLatticeDirections * word_bytes(format));
  kernel.read_bytes_once = populations + sizeof(std::uint32_t);  // a flag is read with its word
  kernel.written_bytes_once = populations;
  kernel.check = [lattice, id = kernel.id, reference = std::move(reference),
                  seen = std::move(seen)](const Launch& launch, const Outputs& outputs) {
    LatticeErrors errors;
    const Status same = compare(id, lattice, launch.repeats, reference->after(launch.repeats),
                                outputs.buffers.at(0), errors);
    if (seen) {
      *seen = errors;
    }
    return same;
  };
  kernel.stimulus = [described =
                         stimulus_of(kernel, Arithmetic::kFp32,
                                     {.access = Access::kStream,
                                      .footprint_bytes = static_cast<double>(bytes + box.cells()),
                                      .waves_per_simd = 9}),
                     read = populations + 1](const Launch& launch) {
    Stimulus stimulus = described(launch);
    stimulus.read_bytes = read;
    return stimulus;
  };
  set_dram_bytes(kernel, [all = lattice_bytes(format)](const Launch&) { return all; });
  return sized;
}

}  // namespace gputrace::bench
