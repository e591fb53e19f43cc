#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/analysis/inference.h"
#include "cli/analysis/inference/code_cache.h"
#include "cli/analysis/inference/latency_levels.h"
#include "cli/analysis/inference/level_rates.h"
#include "cli/analysis/inference/local_allocation.h"
#include "cli/analysis/inference/stride_reading.h"
#include "cli/analysis/inference/wave_slots.h"

namespace gputrace::analysis {

void infer(BenchRun& run) {
  const std::vector<inference::Reading> tlb_reaches = inference::read_strides(run);
  const std::vector<inference::Witness> witnesses = inference::other_witnesses(run);
  std::vector<inference::LevelRead> levels;
  for (TestResult& test : run.tests) {
    if (test.id == "latency.hops") {
      inference::read_hops(test);
    } else if (test.id.starts_with("latency.")) {
      // The others have caches of their own: what confirms the first says nothing of those.
      const bool is_vector = test.id == "latency.vector";
      auto read = inference::read_path(
          test, is_vector ? witnesses : std::vector<inference::Witness>{}, tlb_reaches);
      if (is_vector) {
        levels = std::move(read);
      }
    }
  }
  for (TestResult& test : run.tests) {
    if (test.id.starts_with("bandwidth.")) {
      inference::read_rates(test, levels);
    } else if (test.id == "local.allocation") {
      infer_local_allocation(test);
    }
  }
  inference::read_code_caches(run);
  inference::read_slots(run);
}

}  // namespace gputrace::analysis
