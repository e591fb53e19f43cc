// What inference says of a simulated hierarchy, held against the truth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/support/hierarchy_cases.h"

namespace gputrace::test {

struct InferenceScore {
  std::size_t levels = 0;  ///< caches and TLBs that there are
  std::size_t within_2 = 0;
  std::size_t within_1_25 = 0;
  std::size_t inside = 0;        ///< of those within 2, how many lie in the interval
  std::size_t false_levels = 0;  ///< read where none is
  std::size_t sure = 0;
  std::size_t wrong_sure = 0;  ///< no level within a factor of 1.5
  std::size_t likely = 0;
  std::size_t wrong_likely = 0;  ///< no level within a factor of 2
  std::size_t caches = 0;
  std::size_t hop_levels = 0;
  std::size_t hop_within = 0;  ///< 0.7 to 1.35 of the truth

  /// `others`: with the histogram of hops and with bandwidth.
  void add(const HierarchyCase& what, const MeasuredHierarchy& measured, const NoiseOf& noise,
           bool others, std::uint64_t seed);
};

}  // namespace gputrace::test
