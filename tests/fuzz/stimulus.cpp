// The description of a kernel that a mark carries to the simulated GPU: it is refused, or a pass
// that the model can run.
#include "daemon/simulated_gpu/stimulus.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "daemon/simulated_gpu/gpu_description.h"

namespace {

void check_amount(double amount) {
  GPUTRACE_CHECK(std::isfinite(amount) && amount >= 0);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gputrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const simulated_gpu::GpuDescription& gpu = simulated_gpu::simulated_models().front().gpu;
  const Result<simulated_gpu::PlayedStimulus> played = simulated_gpu::parse_stimulus(text, gpu);
  if (!played) {
    GPUTRACE_CHECK(!played.error().message.empty());
    return 0;
  }
  GPUTRACE_CHECK(std::isfinite(played->launches) && played->launches >= 1);
  GPUTRACE_CHECK(played->workload.passes.size() == 1);
  check_amount(played->workload.gap_us);
  const simulated_gpu::Pass& pass = played->workload.passes.front();
  check_amount(pass.threads);
  GPUTRACE_CHECK(pass.threads > 0 && pass.steps >= 1 && pass.group_threads >= 1);
  return 0;
}
