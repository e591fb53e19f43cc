#include "kernels/bench/cases/roofline_cases.h"

#include "kernels/bench/cases/additions.h"
#include "kernels/bench/cases/article.h"
#include "kernels/bench/cases/bandwidth.h"
#include "kernels/bench/cases/peak.h"
#include "kernels/bench/cases/sweep.h"

namespace gputrace::bench {

std::vector<KernelCase> roofline_cases(const vulkan::DeviceFacts& facts) {
  constexpr std::uint64_t kRegion = 16'384;
  std::vector<KernelCase> cases;
  cases.push_back(additions_case(facts).kernel);
  for (const std::uint32_t size : facts.subgroup_sizes) {
    cases.push_back(additions_case(facts, size).kernel);
  }
  for (SizedCase& peak : peak_cases(facts)) {
    cases.push_back(std::move(peak.kernel));
  }
  cases.push_back(sweep_case(facts, 1, sweep_bytes(facts, true)).kernel);
  for (const Stream stream : {Stream::kRead, Stream::kWrite, Stream::kCopy, Stream::kTriad}) {
    cases.push_back(dram_case(facts, stream, dram_bytes(facts, true)).kernel);
  }
  cases.push_back(cache_case(facts, Stream::kRead, {.bytes = kRegion}).kernel);
  for (const std::uint32_t chains : {1U, 4U}) {
    for (const std::uint32_t fmas : article_fmas()) {
      cases.push_back(article_case(facts, fmas, chains, sweep_bytes(facts, true)).sized.kernel);
    }
  }
  return cases;
}

}  // namespace gputrace::bench
