// A sampling loop on fakes, and what its blocks say, for the tests of the loop.
#pragma once

#include <doctest/doctest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "daemon/sampler/sampling_loop.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_register_reader.h"

namespace gputrace::test {

inline constexpr std::int64_t kStart = 50 * kNsPerSecond;

/// A loop on fakes. The reader's hook may stop it; run() drains the queue as a writer would, but
/// afterwards, so the pool holds all blocks of a test unless it is made small on purpose.
struct LoopRig {
  explicit LoopRig(sampler::SamplingOptions given,
                   const std::vector<std::string>& names = {"GRBM_STATUS"}, std::size_t blocks = 64)
      : options(given),
        reader(names),
        queue(blocks, names.size(), sampler::block_capacity(given)),
        loop(reader, queue, clock, given) {}

  void stop_at_read(std::uint64_t index) {
    reader.on_read([this, index](std::uint64_t read) {
      if (read == index) {
        stop.request_stop();
      }
    });
  }

  /// The clock moves by `extra_ns` beyond the deadline of sleep number `sleep`.
  void stall_at_sleep(int sleep, std::int64_t extra_ns) {
    clock.on_sleep([this, sleep, extra_ns](FakeClock& moved) {
      if (++sleeps == sleep) {
        moved.advance(extra_ns);
      }
    });
  }

  std::vector<sampler::SampleBlock> run() {
    loop.run(stop.get_token());
    std::vector<sampler::SampleBlock> blocks;
    while (sampler::SampleBlock* block = queue.pop(0)) {
      blocks.push_back(*block);
    }
    CHECK(queue.closed());
    return blocks;
  }

  sampler::SamplingOptions options;
  FakeClock clock{kStart};
  FakeRegisterReader reader;
  sampler::BlockQueue queue;
  sampler::SamplingLoop loop;
  std::stop_source stop;
  int sleeps = 0;
};

inline std::uint64_t period_of(std::int64_t time_ns, double rate_hz) {
  return static_cast<std::uint64_t>(double(time_ns - kStart) * rate_hz / 1e9);
}

inline std::vector<std::int64_t> all_times(const std::vector<sampler::SampleBlock>& blocks) {
  std::vector<std::int64_t> times;
  for (const sampler::SampleBlock& block : blocks) {
    times.insert(times.end(), block.time_ns.begin(),
                 block.time_ns.begin() + static_cast<std::ptrdiff_t>(block.size));
  }
  return times;
}

}  // namespace gputrace::test
