// The evidence for a class, and what would change it, in plain sentences with numbers.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis/bottleneck/confidence.h"

namespace gputrace::analysis {

[[nodiscard]] std::vector<std::string> tell_evidence(const StretchFacts& facts,
                                                     const Signature& signature,
                                                     const Judgement& judgement,
                                                     const std::optional<DramUse>& dram);
[[nodiscard]] std::string tell_what_would_change(const StretchFacts& facts,
                                                 const Signature& signature,
                                                 const Judgement& judgement,
                                                 const std::optional<DramUse>& dram);

}  // namespace gputrace::analysis
