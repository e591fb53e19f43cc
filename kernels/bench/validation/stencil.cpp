#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kVectorFloats = 4;
constexpr double kVectorBytes = 16;
constexpr float kCentre = 0.2137F;
constexpr float kBeside = 0.1931F;
/// Five roundings of sums below 7.
constexpr double kBound = 5 * 7 * 0x1p-24;
constexpr std::uint64_t kCheckedVectors = 2048;

struct Grid {
  std::uint32_t row_bits = 0;     ///< of the vectors in a row
  std::uint32_t height_bits = 0;  ///< of the rows
  std::uint32_t band_rows = 0;

  [[nodiscard]] std::uint32_t row_vectors() const { return 1U << row_bits; }
  [[nodiscard]] std::uint32_t rows() const { return 1U << height_bits; }
  [[nodiscard]] std::uint64_t vectors() const { return 1ULL << (row_bits + height_bits); }
  [[nodiscard]] std::uint32_t bands() const { return rows() / band_rows; }
  /// Of the number in a column that may lie beside the grid: -1 is the last one.
  [[nodiscard]] double at(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t floats = std::uint64_t{row_vectors()} * kVectorFloats;
    return pattern_float(row % rows() * floats + column % floats);
  }
};

Grid grid_of(const vulkan::DeviceFacts& facts) {
  Grid grid{.row_bits = 11, .height_bits = 12, .band_rows = 64};
  if (facts.is_cpu) {
    return {.row_bits = 6, .height_bits = 6, .band_rows = 16};
  }
  const std::uint64_t most = std::min(
      facts.max_storage_range, facts.memory_bytes == 0 ? UINT64_MAX : facts.memory_bytes / 8);
  while (grid.vectors() * 16 > most && grid.rows() > grid.band_rows) {
    --grid.height_bits;
  }
  return grid;
}

Status check_ends(const Grid& grid, const Launch& launch, std::span<const std::byte> ends) {
  for (std::uint64_t thread = 0; thread < ends.size() / 4; ++thread) {
    const auto wanted =
        static_cast<std::uint32_t>(thread >> grid.row_bits) * grid.band_rows + launch.trips;
    const auto got = read_at<std::uint32_t>(ends, thread);
    if (got != wanted) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("stencil.5point: thread {} ended before row {}, not before {}",
                              thread, got, wanted));
    }
  }
  return {};
}

Status check(const Grid& grid, const Launch& launch, const Outputs& outputs) {
  if (const Status came = check_ends(grid, launch, outputs.buffers.at(2)); !came) {
    return came;
  }
  const std::span<const std::byte> to = outputs.buffers.at(1);
  for (const std::uint64_t vector : sample_of(grid.vectors(), kCheckedVectors)) {
    const std::uint64_t row = vector >> grid.row_bits;
    if (row % grid.band_rows >= launch.trips) {
      continue;
    }
    for (std::uint64_t i = 0; i < kVectorFloats; ++i) {
      const std::uint64_t column = (vector % grid.row_vectors()) * kVectorFloats + i;
      const std::uint64_t row_above = row + grid.rows() - 1;
      const std::uint64_t before = column + std::uint64_t{grid.row_vectors()} * kVectorFloats - 1;
      const double sum = grid.at(row_above, column) + grid.at(row + 1, column) +
                         grid.at(row, before) + grid.at(row, column + 1);
      const double wanted = kCentre * grid.at(row, column) + kBeside * sum;
      const auto got = read_at<float>(to, vector * kVectorFloats + i);
      if (!(std::abs(got - wanted) <= kBound)) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("stencil.5point: row {}, column {} is {}, the CPU has {} (+- "
                                "{:.2g})",
                                row, column, got, wanted, kBound));
      }
    }
  }
  return {};
}

}  // namespace

SizedCase stencil_case(const vulkan::DeviceFacts& facts) {
  const Grid grid = grid_of(facts);
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = "stencil.5point";
  kernel.description = fmt::format("five-point stencil on {} x {} fp32",
                                   grid.row_vectors() * kVectorFloats, grid.rows());
  kernel.shader = "stencil.comp";
  const std::uint32_t threads = grid.row_vectors() * grid.bands();
  kernel.group_threads = std::min(memory_group_threads(facts), threads);
  kernel.constants = {kernel.group_threads};
  sized.launch.groups = threads / kernel.group_threads;
  sized.launch.trips = grid.band_rows;
  const std::uint64_t bytes = grid.vectors() * static_cast<std::uint64_t>(kVectorBytes);
  kernel.buffers = {{.binding = 0, .bytes = bytes, .fill = fill_with_floats},
                    {.binding = 1, .bytes = bytes, .fill = {}},
                    {.binding = 2, .bytes = std::uint64_t{threads} * 4, .fill = {}}};
  kernel.push = [grid](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at<std::uint32_t>(push, 0, launch.trips);
    write_at<std::uint32_t>(push, 1, grid.row_vectors() - 1);
    write_at<std::uint32_t>(push, 2, grid.row_bits);
    write_at<std::uint32_t>(push, 3, grid.rows() - 1);
    write_at<std::uint32_t>(push, 4, grid.band_rows);
    write_at(push, 5, kCentre);
    write_at(push, 6, kBeside);
    return push;
  };
  // A number: three additions of four neighbours, a product, a multiply-add.
  kernel.formula = {{.operation = Operation::kAddF32, .per_trip = 3 * kVectorFloats},
                    {.operation = Operation::kMulF32, .per_trip = kVectorFloats},
                    {.operation = Operation::kFmaF32, .per_trip = kVectorFloats},
                    {.operation = Operation::kLoad16, .per_trip = 1, .once = 2},
                    {.operation = Operation::kLoad4, .per_trip = 2},
                    {.operation = Operation::kStore16, .per_trip = 1},
                    {.operation = Operation::kStore4, .once = 1}};
  kernel.flops_per_trip = 6 * kVectorFloats;
  kernel.read_bytes_per_trip = kVectorBytes + 2 * sizeof(float);
  kernel.read_bytes_once = 2 * kVectorBytes;
  kernel.written_bytes_per_trip = kVectorBytes;
  kernel.written_bytes_once = sizeof(std::uint32_t);
  kernel.check = [grid](const Launch& launch, const Outputs& outputs) {
    return check(grid, launch, outputs);
  };
  kernel.stimulus = [described = stimulus_of(kernel, Arithmetic::kFp32,
                                             {.access = Access::kStream,
                                              .footprint_bytes = 2 * static_cast<double>(bytes),
                                              .step_each_trip = true})](const Launch& launch) {
    Stimulus stimulus = described(launch);
    // What lies beside a thread's columns comes from the first cache, which a stream does not know.
    stimulus.read_bytes = kVectorBytes * (launch.trips + 2.0);
    stimulus.dram_bytes = stimulus.read_bytes + stimulus.written_bytes;
    return stimulus;
  };
  return sized;
}

}  // namespace gputrace::bench
