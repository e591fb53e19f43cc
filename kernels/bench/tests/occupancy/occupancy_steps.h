// The number of slots from times alone: a dispatch of one group more than there are slots takes a
// second round.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "daemon/base/result.h"

namespace gputrace::bench {

/// ns of a dispatch of that many groups; an error ends the search.
using DispatchTime = std::function<Result<double>(std::uint32_t groups)>;

struct Steps {
  std::uint32_t slots = 0;  ///< the most groups that still took one round
  std::uint32_t above = 0;  ///< the fewest that took two, as far as was looked
};

/// Below this many slots a second round cannot be told from groups that slow each other down.
inline constexpr std::uint32_t kFewestSlotsForSteps = 8;

/// Doubles the number of groups until the time jumps, then halves the gap down to 1 in 32. Absent
/// when there is no jump up to `most` groups.
[[nodiscard]] Result<std::optional<Steps>> find_steps(const DispatchTime& time, std::uint32_t most);

/// Whether two counts of slots mean the same: within one in sixteen.
[[nodiscard]] bool agree(std::uint32_t census, const Steps& steps);

}  // namespace gputrace::bench
