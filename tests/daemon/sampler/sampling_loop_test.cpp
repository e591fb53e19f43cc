// When the loop reads: the period grid, random instants, stalls, stop requests.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "daemon/sampler/lateness.h"
#include "tests/daemon/sampler/loop_rig.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)
using namespace gputrace::test;     // NOLINT(google-build-using-namespace)

TEST_CASE("a block has room for every period that can begin in it") {
  CHECK(block_capacity({.rate_hz = 1000}) == 1001);
  CHECK(block_capacity({.rate_hz = 1}) == 2);
  CHECK(block_capacity({.rate_hz = 20'000}) == 20'001);
  CHECK(block_capacity({.rate_hz = 1.5}) == 3);
  CHECK(block_capacity({.rate_hz = 1000, .block_ns = 100 * kNsPerMs}) == 101);
}

TEST_CASE("each period has one sample, at instants that are uniform in all but its end") {
  LoopRig rig({.rate_hz = 1000, .seed = 3});
  rig.stop_at_read(9999);
  const auto blocks = rig.run();
  const auto times = all_times(blocks);
  REQUIRE(times.size() == 10'000);
  double sum = 0;
  double sum_of_squares = 0;
  double with_next = 0;
  double last = 0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const auto in_period = times[k] - kStart - static_cast<std::int64_t>(k) * kNsPerMs;
    REQUIRE(in_period >= 0);
    REQUIRE(in_period < 980'000);
    const double u = double(in_period) / 980'000 - 0.5;
    sum += u;
    sum_of_squares += u * u;
    with_next += u * last;
    last = u;
  }
  const double n = double(times.size());
  CHECK(std::abs(sum / n) < 4 / std::sqrt(12 * n));
  CHECK(sum_of_squares / n == doctest::Approx(1.0 / 12).epsilon(0.05));
  CHECK(std::abs(with_next / n * 12) < 4 / std::sqrt(n));  // not correlated
  CHECK(blocks.back().totals.missed == 0);
}

TEST_CASE("the seed decides the instants") {
  const auto times = [](std::uint64_t seed) {
    LoopRig rig({.rate_hz = 1000, .seed = seed});
    rig.stop_at_read(50);
    return all_times(rig.run());
  };
  CHECK(times(1) == times(1));
  CHECK(times(1) != times(2));
}

TEST_CASE("blocks are seconds of the grid and tile the time") {
  for (const double rate_hz : {1.0, 1.5, 3.0, 60.0, 997.3, 1000.0, 20'000.0}) {
    CAPTURE(rate_hz);
    LoopRig rig({.rate_hz = rate_hz});
    rig.stop_at_read(static_cast<std::uint64_t>(rate_hz * 4.5));
    const auto blocks = rig.run();
    REQUIRE(blocks.size() == 5);
    CHECK(blocks.front().start_ns == kStart);
    std::uint64_t next_period = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const SampleBlock& block = blocks[i];
      CHECK(block.size <= block.capacity - 1);
      CHECK(block.missed == 0);
      CHECK(block.dropped_ticks == 0);
      for (std::size_t tick = 0; tick < block.size; ++tick) {
        CHECK(block.time_ns[tick] >= block.start_ns);
        CHECK(block.time_ns[tick] < block.end_ns);
        CHECK(period_of(block.time_ns[tick], rate_hz) == next_period);
        ++next_period;
      }
      if (i + 1 < blocks.size()) {
        CHECK(block.end_ns == blocks[i + 1].start_ns);
        // The first period start at or after the whole second.
        const std::int64_t second = kStart + static_cast<std::int64_t>(i + 1) * kNsPerSecond;
        CHECK(block.end_ns >= second - 1);
        CHECK(block.end_ns < second + static_cast<std::int64_t>(1e9 / rate_hz) + 1);
      }
    }
    CHECK(blocks.back().end_ns == blocks.back().time_ns[blocks.back().size - 1] + 1);
  }
}

TEST_CASE("a full block is handed over when its second ends, not with the next sample") {
  LoopRig rig({.rate_hz = 1});
  SampleBlock* early = nullptr;
  std::int64_t seen_at = 0;
  rig.clock.on_sleep([&](FakeClock& clock) {
    if (early == nullptr) {
      early = rig.queue.pop(0);
      seen_at = clock.now_ns();
    } else {
      rig.stop.request_stop();
    }
  });
  rig.loop.run(rig.stop.get_token());
  REQUIRE(early != nullptr);
  CHECK(early->end_ns == kStart + kNsPerSecond);
  CHECK(seen_at >= early->end_ns);
  CHECK(seen_at <= early->end_ns + 20 * kNsPerMs);
}

TEST_CASE("a read that is late but inside its period is kept, and its lateness counted") {
  LoopRig rig({.rate_hz = 100});  // 10 ms periods, slept through in one slice or two
  rig.clock.on_sleep([](FakeClock& clock) { clock.advance(100'000); });
  rig.stop_at_read(999);
  const auto blocks = rig.run();
  const SamplingTotals& totals = blocks.back().totals;
  const auto& histogram = totals.lateness;
  CHECK(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}) == totals.ticks);
  // The loop wakes 50 us early for sleeps that end late, and no more than that.
  CHECK(histogram[lateness_bucket(50'000)] > 900);
  CHECK(lateness_quantile_us(histogram, 0.5).value_or(-1) == doctest::Approx(50).epsilon(0.19));
  // Of the last 50 us, which slip into the next period, 30 us have instants: 0.3 %.
  CHECK(totals.missed > 0);
  CHECK(totals.missed < 20);
  std::vector<std::uint64_t> periods;
  for (const std::int64_t time : all_times(blocks)) {
    periods.push_back(period_of(time, 100));
  }
  CHECK(std::adjacent_find(periods.begin(), periods.end()) == periods.end());
  CHECK(periods.back() + 1 == totals.ticks + totals.missed);
}

TEST_CASE("sleeps that all end late miss a period only until the loop has learnt it") {
  for (const auto& [rate_hz, late_ns] :
       {std::pair(1'000.0, 49'000), std::pair(10'000.0, 49'000), std::pair(20'000.0, 45'000)}) {
    CAPTURE(rate_hz);
    LoopRig rig({.rate_hz = rate_hz});
    const std::int64_t late = late_ns;
    rig.clock.on_sleep([late](FakeClock& clock) { clock.advance(late); });
    rig.stop_at_read(4999);
    const auto blocks = rig.run();
    const SamplingTotals& totals = blocks.back().totals;
    CHECK(totals.ticks == 5000);
    CHECK(totals.missed < 25);
    if (rate_hz == 1'000.0) {  // at higher rates most instants lie nearer to their period's start
      CHECK(lateness_quantile_us(totals.lateness, 0.5).value_or(99) < 3);
    }
  }
}

TEST_CASE("after a stall the skipped periods are missed, none is read twice and nothing bursts") {
  LoopRig rig({.rate_hz = 1000});
  rig.stall_at_sleep(1501, 3 * kNsPerSecond + 700 * kNsPerMs);
  rig.stop_at_read(2999);
  const auto blocks = rig.run();
  const auto times = all_times(blocks);
  REQUIRE(times.size() == 3000);
  const SamplingTotals& totals = blocks.back().totals;
  CHECK(totals.ticks == 3000);
  CHECK(totals.missed >= 3699);
  CHECK(totals.missed <= 3701);
  for (std::size_t i = 1; i < times.size(); ++i) {
    CHECK(period_of(times[i], 1000) > period_of(times[i - 1], 1000));
  }
  CHECK(period_of(times.back(), 1000) + 1 == totals.ticks + totals.missed);

  // The block of the stall ends with its second; the next spans the seconds without a sample.
  std::uint64_t missed = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    missed += blocks[i].missed;
    if (i > 0) {
      CHECK(blocks[i].start_ns == blocks[i - 1].end_ns);
    }
  }
  CHECK(missed == totals.missed);
  CHECK(blocks[1].end_ns == kStart + 2 * kNsPerSecond);
  CHECK(blocks[2].end_ns == kStart + 6 * kNsPerSecond);
}

TEST_CASE("a read that hangs makes missed periods, and its word keeps the time it began") {
  LoopRig rig({.rate_hz = 1000});
  rig.reader.on_read([&](std::uint64_t read) {
    if (read == 100) {
      rig.clock.advance(5 * kNsPerSecond);
    } else if (read == 200) {
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  const auto times = all_times(blocks);
  CHECK(period_of(times[100], 1000) == 100);
  CHECK(period_of(times[101], 1000) >= 5100);
  CHECK(blocks.back().totals.missed == period_of(times[101], 1000) - 101);
}

TEST_CASE("nothing drifts in an hour") {
  LoopRig rig({.rate_hz = 7}, {"GRBM_STATUS"}, 4000);
  rig.clock.on_sleep([](FakeClock& clock) { clock.advance(60'000); });
  rig.stop_at_read(7 * 3600 - 1);
  const auto times = all_times(rig.run());
  CHECK(period_of(times.back(), 7) >= 7 * 3600 - 1);
  CHECK(period_of(times.back(), 7) < 7 * 3600 + 30);
}

TEST_CASE("a stop request ends the wait for a far instant within a slice") {
  LoopRig rig({.rate_hz = 1});
  std::int64_t stopped_at = 0;
  rig.clock.on_sleep([&](FakeClock& clock) {
    if (++rig.sleeps == 3) {
      stopped_at = clock.now_ns();
      rig.stop.request_stop();
    }
  });
  const auto blocks = rig.run();
  CHECK(rig.clock.now_ns() == stopped_at);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].end_ns <= stopped_at);
}

TEST_CASE("a sleep that returns early is taken up again") {
  // As with a signal handler that runs often: each sleep ends a third of the way.
  class EarlyClock final : public Clock {
   public:
    [[nodiscard]] std::int64_t now_ns() noexcept override { return now_ns_; }
    void sleep_until(std::int64_t deadline_ns) noexcept override {
      now_ns_ += (deadline_ns - now_ns_ + 2) / 3;
    }

   private:
    std::int64_t now_ns_ = kStart;
  };
  LoopRig rig({.rate_hz = 1000, .seed = 5});
  rig.stop_at_read(99);
  const auto punctual = all_times(rig.run());

  LoopRig again({.rate_hz = 1000, .seed = 5});
  again.stop_at_read(99);
  EarlyClock clock;
  SamplingLoop loop(again.reader, again.queue, clock, again.options);
  loop.run(again.stop.get_token());
  const SampleBlock* block = again.queue.pop(0);
  REQUIRE(block != nullptr);
  CHECK(all_times({*block}) == punctual);
}
