// How surely a stretch has its class: the rules are asked again with every unit moved by what the
// model and the sampling may be wrong by.
#pragma once

#include <optional>

#include "cli/analysis/bottleneck/rules.h"

namespace gputrace::analysis {

struct Judgement {
  Decision decision;
  Stages stages;
  double stability = 0;  ///< share of the moved inputs with the same class
  std::optional<Bottleneck> runner_up;
};

/// The same input gives the same judgement: the moves are fixed.
[[nodiscard]] Judgement judge(const Signature& signature, double awake,
                              const std::optional<DramUse>& dram, std::optional<Bottleneck> before);

/// What `stability` cannot see: classes that busy bits do not tell apart, units that were not
/// read, time of which nothing is known. Samples that are missing here and there widen intervals
/// and so move the inputs further; they say nothing against the others. Returns the confidence, 0
/// to 1.
[[nodiscard]] double limit_confidence(const Judgement& judgement, const Signature& signature,
                                      const std::optional<DramUse>& dram, double unseen_share);

}  // namespace gputrace::analysis
