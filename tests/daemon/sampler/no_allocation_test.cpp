// An executable of its own: operator new is replaced here.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "daemon/sampler/sampling_loop.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_register_reader.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> frees{0};
}  // namespace

// The nothrow, array and sized forms of libstdc++ end in these two.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  std::abort();
}
void operator delete(void* memory) noexcept {
  ++frees;
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)

TEST_CASE("the counter of this test sees allocations") {
  const std::uint64_t before = allocations;
  std::vector<int> some(10);
  some.reserve(1000);
  CHECK(allocations > before);
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
      allocations_then = allocations;
      frees_then = frees;
    } else if (read == 10'000) {
      clock.advance(3 * kNsPerSecond);  // a stall
    } else if (read == 19'999) {
      allocations_now = allocations;
      frees_now = frees;
      stop.request_stop();
    }
  });
  loop.run(stop.get_token());
  CHECK(reader.reads() == 20'000);
  CHECK(allocations_now == allocations_then);
  CHECK(frees_now == frees_then);
}
