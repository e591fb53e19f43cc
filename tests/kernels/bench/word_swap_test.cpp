#include "kernels/bench/tests/host/word_swap.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;

/// A clock that each look at it moves.
class HastyClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() noexcept override { return now_ns_ += 1000; }
  void sleep_until(std::int64_t) noexcept override {}

 private:
  std::int64_t now_ns_ = 0;
};

/// As the kernel: answers what is asked up to `answers`, and ends at the stop word.
void answer(std::uint32_t& asked, std::uint32_t& answered, std::uint32_t answers,
            std::uint32_t wanted) {
  std::uint32_t number = 0;
  while (number < wanted) {
    const std::uint32_t now = std::atomic_ref(asked).load();
    if (now > number) {
      number = now;
      if (now <= answers) {
        std::atomic_ref(answered).store(now);
      }
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

TEST_CASE("each number that is asked is answered, and a round has a time") {
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
  MonotonicClock clock;
  std::thread partner([&] { answer(asked, answered, 100, 100); });
  const WordSwap swap = swap_words(asked, answered, 100, kMinuteNs, clock);
  partner.join();
  CHECK(swap.rounds == 100);
  CHECK(swap.round_ns > 0);
  CHECK(swap.why.empty());
}

TEST_CASE("a partner that never answers is told to stop, and it is said") {
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
  HastyClock clock;
  const WordSwap swap = swap_words(asked, answered, 10, 50'000, clock);
  CHECK(swap.rounds == 0);
  CHECK(swap.round_ns == 0);
  CHECK(swap.why.find("answered nothing") != std::string::npos);
  CHECK(asked == kStopAsking);
}

TEST_CASE("a partner that falls silent ends the game with what was done until then") {
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
  MonotonicClock clock;
  std::thread partner([&] { answer(asked, answered, 5, 100); });
  const WordSwap swap = swap_words(asked, answered, 100, 200'000'000, clock);
  partner.join();
  CHECK(swap.rounds <= 5);
  CHECK(swap.round_ns == 0);
  CHECK_FALSE(swap.why.empty());
  CHECK(asked == kStopAsking);
}
