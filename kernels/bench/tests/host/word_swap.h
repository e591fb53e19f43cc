// The CPU's part of a game with a kernel that runs: it writes a number, the kernel answers with the
// same. Neither waits without bound.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/time.h"

namespace gputrace::bench {

/// Ends the kernel whatever it waits for.
inline constexpr std::uint32_t kStopAsking = UINT32_MAX;

struct WordSwap {
  std::uint32_t rounds = 0;  ///< answered
  double round_ns = 0;       ///< of a round, from the first answer to the last; 0 without two
  std::string why;           ///< it ended before all rounds were done; else empty
};

/// `asked` and `answered`: words that both see, zero before. Asks 1, 2, ... `rounds`; the first
/// answer may take `patience_ns` on `clock`, and all of them together as long again.
[[nodiscard]] WordSwap swap_words(std::uint32_t& asked, std::uint32_t& answered,
                                  std::uint32_t rounds, std::int64_t patience_ns, Clock& clock);

}  // namespace gputrace::bench
