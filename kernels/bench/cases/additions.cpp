#include "kernels/bench/cases/additions.h"

#include <fmt/format.h>

#include "kernels/bench/cases/alu_case.h"

namespace gputrace::bench {

SizedCase additions_case(const vulkan::DeviceFacts& facts,
                         std::optional<std::uint32_t> subgroup_size) {
  std::string id = "additions.fp32";
  if (subgroup_size) {
    id += fmt::format(".wave{}", *subgroup_size);
  }
  SizedCase sized =
      alu_case(facts, {AluType::kFp32, AluOperation::kAdd, subgroup_size}, std::move(id)).sized;
  sized.kernel.min_arithmetic_share = 0.9;
  return sized;
}

}  // namespace gputrace::bench
