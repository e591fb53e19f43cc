#include "kernels/bench/cases/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/cases/alu_case.h"
#include "kernels/bench/cases/peak_matrix.h"

namespace gputrace::bench {
namespace {

/// The operation of a type that has the highest rate.
struct Kind {
  Arithmetic arithmetic = Arithmetic::kFp32;
  std::string_view name;
  AluType type = AluType::kFp32;
  AluOperation operation = AluOperation::kFma;
  double min_share = 0.9;  ///< of arithmetic among the loop's vector instructions
  std::optional<double> min_dual_issued;
};

constexpr std::array<Kind, 5> kKinds{{
    {Arithmetic::kFp32, "fp32", AluType::kFp32, AluOperation::kFma, 0.95, 0.9},
    {Arithmetic::kFp16Packed, "fp16", AluType::kFp16Packed, AluOperation::kFma, 0.9, std::nullopt},
    {Arithmetic::kFp64, "fp64", AluType::kFp64, AluOperation::kFma, 0.85, std::nullopt},
    // AMD has no such instruction: a multiplication and an addition each.
    {Arithmetic::kInt32, "int32", AluType::kInt32, AluOperation::kMad, 0.45, std::nullopt},
    {Arithmetic::kInt8Dot, "int8", AluType::kInt8Dot, AluOperation::kMad, 0.9, std::nullopt},
}};

const Kind& kind_of(Arithmetic arithmetic) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const Kind& kind) { return kind.arithmetic == arithmetic; });
  GPUTRACE_CHECK(found != kKinds.end());
  return *found;
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kMatrix ? "matrix" : kind_of(arithmetic).name;
}

SizedCase peak_case(const vulkan::DeviceFacts& facts, Arithmetic arithmetic,
                    std::optional<std::uint32_t> subgroup_size) {
  if (arithmetic == Arithmetic::kMatrix) {
    return matrix_peak_case(facts, subgroup_size);
  }
  const Kind& kind = kind_of(arithmetic);
  std::string id = fmt::format("peak.{}", kind.name);
  if (subgroup_size) {
    id += fmt::format(".wave{}", *subgroup_size);
  }
  SizedCase sized =
      alu_case(facts, {kind.type, kind.operation, subgroup_size}, std::move(id)).sized;
  sized.kernel.min_arithmetic_share = kind.min_share;
  sized.kernel.min_dual_issued_share = kind.min_dual_issued;
  return sized;
}

std::vector<SizedCase> peak_cases(const vulkan::DeviceFacts& facts) {
  std::vector<std::optional<std::uint32_t>> sizes(facts.subgroup_sizes.begin(),
                                                  facts.subgroup_sizes.end());
  if (sizes.empty()) {
    sizes.emplace_back(std::nullopt);
  }
  std::vector<SizedCase> cases;
  for (const Kind& kind : kKinds) {
    if (missing_for(facts, kind.type).empty()) {
      for (const auto& size : sizes) {
        cases.push_back(peak_case(facts, kind.arithmetic, size));
      }
    }
  }
  if (has_matrix_peak(facts)) {
    for (const auto& size : sizes) {
      cases.push_back(matrix_peak_case(facts, size));
    }
  }
  return cases;
}

}  // namespace gputrace::bench
