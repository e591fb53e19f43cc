#include "kernels/bench/tests/host/word_swap.h"

#include <fmt/format.h>

#include <atomic>

namespace gputrace::bench {

namespace {

/// Between two looks at the clock, which would be a part of each round.
constexpr int kLooks = 256;

}  // namespace

WordSwap swap_words(std::uint32_t& asked, std::uint32_t& answered, std::uint32_t rounds,
                    std::int64_t patience_ns, Clock& clock) {
  const std::atomic_ref<std::uint32_t> ask(asked);
  const std::atomic_ref<std::uint32_t> answer(answered);
  const std::int64_t start_ns = clock.now_ns();
  std::int64_t first_ns = start_ns;
  std::int64_t last_ns = start_ns;
  WordSwap swap;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    // In full order, or a write could wait in a buffer of the CPU that combines writes.
    ask.store(round, std::memory_order_seq_cst);
    const std::int64_t until_ns = start_ns + patience_ns * (round == 1 ? 1 : 2);
    for (int look = 1; answer.load(std::memory_order_acquire) != round; ++look) {
      if (look % kLooks == 0 && clock.now_ns() > until_ns) {
        ask.store(kStopAsking, std::memory_order_seq_cst);
        swap.why = round == 1 ? std::string("the GPU answered nothing while its kernel ran")
                              : fmt::format("the GPU answered {} of {} times", round - 1, rounds);
        return swap;
      }
    }
    last_ns = clock.now_ns();
    first_ns = round == 1 ? last_ns : first_ns;
    swap.rounds = round;
  }
  if (rounds > 1) {
    swap.round_ns = static_cast<double>(last_ns - first_ns) / (rounds - 1);
  }
  return swap;
}

}  // namespace gputrace::bench
