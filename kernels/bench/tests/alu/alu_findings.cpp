#include "kernels/bench/tests/alu/alu_findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace gputrace::bench {
namespace {

using analysis::DerivedValue;
using analysis::TestStatus;

/// fma() at less than this share of a * b + c is made of several instructions.
constexpr double kSlowFma = 0.7;

bool is_good(const AluRate& rate) {
  return rate.point.median && rate.point.status == TestStatus::kOk;
}

DerivedValue value_of(std::string what, double value, std::string unit, std::string by) {
  return {.what = std::move(what),
          .value = value,
          .lower = std::nullopt,
          .upper = std::nullopt,
          .unit = std::move(unit),
          .confidence = "",
          .by = std::move(by)};
}

/// As `gputrace roofline` names the same ceilings: there fp16 is packed.
std::string peak_name(AluType type) {
  if (type == AluType::kFp16) {
    return "peak.fp16_scalar";
  }
  return fmt::format("peak.{}", name_of(type == AluType::kFp16Packed ? AluType::kFp16 : type));
}

void add_peak(AluType type, const std::vector<AluRate>& rates, std::vector<DerivedValue>& found) {
  const AluRate* best = nullptr;
  const auto flops = [](const AluRate& rate) {
    return rate.point.median.value_or(0) * flops_of_one(rate.shape);
  };
  for (const AluRate& rate : rates) {
    if (is_good(rate) && (best == nullptr || flops(rate) > flops(*best))) {
      best = &rate;
    }
  }
  if (best == nullptr) {
    return;
  }
  const double one = flops_of_one(best->shape);
  DerivedValue peak = value_of(
      peak_name(type), flops(*best), is_float(type) ? "GFLOPS" : "GOP/s",
      fmt::format("{}, subgroups of {}", name_of(type, best->shape.operation), best->lanes));
  const std::optional<double>& low = best->point.p5;
  const std::optional<double>& high = best->point.p95;
  if (low && high) {
    peak.lower = *low * one;
    peak.upper = *high * one;
  }
  found.push_back(std::move(peak));
}

/// How much faster or slower fma() is than what a compiler makes of a * b + c.
void add_ratio(const AluRate& fma, const AluRate& other, std::vector<DerivedValue>& found) {
  const std::optional<double>& fused = fma.point.median;
  const std::optional<double>& written = other.point.median;
  if (!fused || !written) {
    return;
  }
  const double ratio = *fused / *written;
  const std::string_view name = name_of(other.shape.type, other.shape.operation);
  std::string by = ratio < kSlowFma ? "fma() is made of several instructions"
                                    : "fma() costs no more than a multiplication and an addition";
  if (other.shape.operation == AluOperation::kPreciseMad) {
    by = "a product and a sum that may not be joined";
  }
  DerivedValue value = value_of(fmt::format("fma / {}", name), ratio, "", std::move(by));
  if (fma.point.p5 && fma.point.p95 && other.point.p5 && other.point.p95) {
    value.lower = *fma.point.p5 / *other.point.p95;
    value.upper = *fma.point.p95 / *other.point.p5;
  }
  found.push_back(std::move(value));
}

}  // namespace

std::vector<DerivedValue> alu_findings(AluType type, std::uint32_t lanes,
                                       const std::vector<AluRate>& rates) {
  std::vector<DerivedValue> found;
  add_peak(type, rates, found);
  const auto find = [&](AluOperation operation) -> const AluRate* {
    const auto at = std::find_if(rates.begin(), rates.end(), [&](const AluRate& rate) {
      return rate.shape.operation == operation && rate.lanes == lanes && is_good(rate);
    });
    return at == rates.end() ? nullptr : &*at;
  };
  const AluRate* const fma = find(AluOperation::kFma);
  for (const AluOperation operation : {AluOperation::kMad, AluOperation::kPreciseMad}) {
    const AluRate* const other = find(operation);
    if (fma != nullptr && other != nullptr) {
      add_ratio(*fma, *other, found);
    }
  }
  for (const AluRate& rate : rates) {
    if (rate.lanes == lanes && rate.instructions) {
      found.push_back(value_of(
          fmt::format("{}: instructions an operation", name_of(type, rate.shape.operation)),
          *rate.instructions, "", "the driver's code"));
    }
  }
  const bool is_half = type == AluType::kFp16 || type == AluType::kFp16Packed;
  if (fma != nullptr && is_half && !fma->rounding.empty()) {
    const bool wider = fma->rounding == "in fp32" || fma->rounding == "kept in fp32";
    found.push_back(value_of("fp16 computed wider", wider ? 1 : 0, "",
                             fmt::format("every fma() is rounded as {}", fma->rounding)));
  }
  return found;
}

}  // namespace gputrace::bench
