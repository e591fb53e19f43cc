// Joins the knees of chases with several strides: E entries of g bytes each are used up at
// K(s) = E x max(g, s), so the stride from which a knee moves is the size of a line or of a page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace gputrace::analysis::inference {

struct StrideKnee {
  double size = 0;
  double lower = 0;
  double upper = 0;
};

struct StrideKnees {
  double stride = 0;
  double smallest = 0;  ///< working sets that were walked
  double largest = 0;
  std::vector<StrideKnee> knees;
};

struct Granule {
  double granule = 0;  ///< bytes of an entry
  double granule_lower = 0;
  double granule_upper = 0;
  double entries = 0;
  double entries_lower = 0;
  double entries_upper = 0;
  double smallest_stride = 0;  ///< smaller granules than this cannot be told apart
  double miss = 0;             ///< octaves between its knees and those that were seen, on average
  std::size_t seen = 0;        ///< strides with a knee where it should be
  std::size_t expected = 0;    ///< strides that could have shown it

  /// Bytes that can be walked with the smallest stride: nodes farther apart than a granule fill one
  /// each.
  [[nodiscard]] double reach_of(double count) const {
    return std::max(granule, smallest_stride) * count;
  }
  [[nodiscard]] double capacity() const { return reach_of(entries); }
};

/// The best explanation first taken, with its knees, then the next. Three strides at least.
[[nodiscard]] std::vector<Granule> join_strides(std::span<const StrideKnees> strides);

}  // namespace gputrace::analysis::inference
