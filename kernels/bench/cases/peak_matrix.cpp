#include "kernels/bench/cases/peak_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {
namespace {

// peak_matrix.comp
constexpr std::string_view kShader = "peak_matrix.comp";
constexpr std::uint32_t kSums = 4;
constexpr std::uint32_t kRounds = 32;  ///< a trip
constexpr std::uint32_t kResultGroups = 64;
constexpr std::uint32_t kSubgroups = 4;  ///< of a group
constexpr std::uint32_t kGroups = 8192;

/// The one most used, where the device does not say.
constexpr vulkan::MatrixShape kUsualShape{.m = 16, .n = 16, .k = 16, .accumulates_fp32 = true};

std::optional<vulkan::MatrixShape> shape_of(const vulkan::DeviceFacts& facts) {
  const auto found =
      std::ranges::find_if(facts.matrix_shapes, &vulkan::MatrixShape::accumulates_fp32);
  return found == facts.matrix_shapes.end() ? std::nullopt : std::optional(*found);
}

// The product's elements are -1, 0 and 1 where k is 16. After the most trips of a launch sums are
// far below 2^24: exact, in whatever order a device adds.
float element_a(std::uint32_t row, std::uint32_t column) {
  return (row * 5 + column * 3) % 4 == 0 ? 1 : 0;
}

float element_b(std::uint32_t row, std::uint32_t column) {
  return static_cast<float>((row + 2 * column) % 3) - 1;
}

using Element = float (*)(std::uint32_t row, std::uint32_t column);

std::function<void(std::span<std::byte>)> fill_with(Element element, std::uint32_t columns) {
  return [element, columns](std::span<std::byte> buffer) {
    for (std::uint32_t i = 0; i < buffer.size() / sizeof(std::uint16_t); ++i) {
      write_at(buffer, i, half_bits(element(i / columns, i % columns)));
    }
  };
}

Status check(const std::string& id, const vulkan::MatrixShape& shape, const Launch& launch,
             const Outputs& outputs) {
  const std::span<const std::byte> result = outputs.buffers.at(1);
  const std::uint64_t area = std::uint64_t{shape.m} * shape.n;
  const std::uint64_t sums =
      std::uint64_t{std::min(launch.groups, kResultGroups)} * kSubgroups * kSums;
  const double steps = static_cast<double>(launch.trips) * kRounds;
  for (std::uint64_t at = 0; at < sums * area; ++at) {
    const auto row = static_cast<std::uint32_t>(at % area / shape.n);
    const auto column = static_cast<std::uint32_t>(at % shape.n);
    double product = 0;
    for (std::uint32_t i = 0; i < shape.k; ++i) {
      product += static_cast<double>(element_a(row, i)) * element_b(i, column);
    }
    const auto sum = static_cast<double>(at / area % kSums);
    const auto got = read_at<float>(result, at);
    const double wanted = sum + steps * product;
    if (static_cast<double>(got) != wanted) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: sum {}, row {}, column {} is {}, the CPU has {}", id, at / area,
                              row, column, got, wanted));
    }
  }
  return {};
}

}  // namespace

bool has_matrix_peak(const vulkan::DeviceFacts& facts) {
  return shape_of(facts) && !shader_code(kShader).empty();
}

SizedCase matrix_peak_case(const vulkan::DeviceFacts& facts,
                           std::optional<std::uint32_t> subgroup_size) {
  const vulkan::MatrixShape shape = shape_of(facts).value_or(kUsualShape);
  const std::uint32_t lanes = std::max(subgroup_size.value_or(facts.subgroup_size), 1U);
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = subgroup_size ? fmt::format("peak.matrix.wave{}", *subgroup_size) : "peak.matrix";
  kernel.description =
      fmt::format("multiply-adds of {}x{}x{} matrices, fp16 to fp32", shape.m, shape.n, shape.k);
  kernel.shader = kShader;
  kernel.group_threads = lanes * kSubgroups;
  kernel.constants = {kernel.group_threads, shape.m, shape.n, shape.k};
  kernel.subgroup_size = subgroup_size;
  kernel.needs = {Requirement::kMatrix};
  const std::uint64_t area = std::uint64_t{shape.m} * shape.n;
  kernel.buffers = {{.binding = 0,
                     .bytes = std::uint64_t{2} * shape.m * shape.k,
                     .fill = fill_with(element_a, shape.k)},
                    {.binding = 1,
                     .bytes = area * sizeof(float) * kSums * kSubgroups * kResultGroups,
                     .fill = {}},
                    {.binding = 2,
                     .bytes = std::uint64_t{2} * shape.k * shape.n,
                     .fill = fill_with(element_b, shape.n)}};
  kernel.push = [](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at(push, 0, launch.trips);
    return push;
  };
  constexpr double kMultiplyAdds = kSums * kRounds;
  kernel.formula = {{.operation = Operation::kMatrix, .per_trip = kMultiplyAdds}};
  kernel.flops_per_trip =
      kMultiplyAdds * 2 * static_cast<double>(area) * shape.k / static_cast<double>(lanes);
  // RADV moves some registers at the end of a trip.
  kernel.min_arithmetic_share = 0.85;
  kernel.check = [id = kernel.id, shape](const Launch& launch, const Outputs& outputs) {
    return check(id, shape, launch, outputs);
  };
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kMatrix, {.access = Access::kNone});
  sized.launch.groups = std::min(kGroups, facts.max_groups_x);
  sized.scale_trips = true;
  return sized;
}

}  // namespace gputrace::bench
