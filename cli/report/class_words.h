// The fixed words of each class: what was the limit, what a player or an engine's developer may
// try, and the units that show it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "cli/analysis/bottleneck.h"

namespace gputrace::report {

/// One unit under the names that generations of GPUs and radeontop give it; empty = no further.
using UnitNames = std::array<std::string_view, 2>;

struct ClassWords {
  std::string_view limit;            ///< "memory bandwidth", within a sentence
  std::string_view beside;           ///< the same in a list of times: "not judged"
  std::string_view headline;         ///< "Limited by memory bandwidth"
  std::string_view sentence;         ///< "Memory bandwidth was the limit": evidence follows a colon
  std::string_view player;           ///< empty where nothing helps
  std::string_view developer;        ///< the same
  std::span<const UnitNames> units;  ///< that show it, the most telling first
};
[[nodiscard]] const ClassWords& class_words(analysis::Bottleneck bottleneck);

}  // namespace gputrace::report
