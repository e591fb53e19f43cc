// An executable of its own: operator new is replaced in it.
#include <doctest/doctest.h>

#include <vector>

#include "daemon/sampler/sampling_loop.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_register_reader.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)

TEST_CASE("the counter of this test sees allocations") {
  const std::uint64_t before = test::allocation_count();
  std::vector<int> some(10);
  some.reserve(1000);
  CHECK(test::allocation_count() > before);
}

TEST_CASE("after its first tick the loop allocates and frees nothing, also across blocks") {
  test::FakeClock clock;
  test::FakeRegisterReader reader({"GRBM_STATUS", "GRBM_STATUS_SE0", "GRBM_STATUS2"});
  const SamplingOptions options{.rate_hz = 1000};
  // 3 blocks: of 20 seconds some are kept and, from the 4th on, ticks are dropped.
  BlockQueue queue(3, 3, block_capacity(options));
  SamplingLoop loop(reader, queue, clock, options);
  std::stop_source stop;
  std::uint64_t allocations_then = 0;
  std::uint64_t frees_then = 0;
  std::uint64_t allocations_now = 0;
  std::uint64_t frees_now = 0;
  reader.on_read([&](std::uint64_t read) {
    if (read == 1) {
      allocations_then = test::allocation_count();
      frees_then = test::free_count();
    } else if (read == 10'000) {
      clock.advance(3 * kNsPerSecond);  // a stall
    } else if (read == 19'999) {
      allocations_now = test::allocation_count();
      frees_now = test::free_count();
      stop.request_stop();
    }
  });
  loop.run(stop.get_token());
  CHECK(reader.reads() == 20'000);
  CHECK(allocations_now == allocations_then);
  CHECK(frees_now == frees_then);
}
