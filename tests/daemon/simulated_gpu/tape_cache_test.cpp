#include "daemon/simulated_gpu/tape_cache.h"

#include <doctest/doctest.h>

#include <fstream>

#include "daemon/simulated_gpu/fingerprint.h"
#include "tests/daemon/simulated_gpu/model_figures.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

using namespace simulated_gpu;

constexpr std::uint64_t kKey = 0x1234;

SteadySignal small_signal() {
  return build(simulated_models().front().gpu,
               game_frame({.resolution = 0.01, .shadow_pixels = 0.01, .cpu_ms = 0}), 54, 2);
}

void check_same(const SteadySignal& a, const SteadySignal& b) {
  REQUIRE(a.superblock_ns() == b.superblock_ns());
  REQUIRE(a.variants().size() == b.variants().size());
  bool equal = true;
  for (std::uint64_t x = 0; x < 3 * a.superblock_ns(); x += 37) {
    equal = equal && a.state_at(x, 5) == b.state_at(x, 5) &&
            a.busy_ns(x, Unit::kEa, 5) == b.busy_ns(x, Unit::kEa, 5);
  }
  CHECK(equal);
  CHECK(a.operating_point().power_w == b.operating_point().power_w);
  CHECK(a.operating_point().work.dram_read_bytes == b.operating_point().work.dram_read_bytes);
  CHECK(a.operating_point().work.threads == b.operating_point().work.threads);
}

TEST_CASE("a kept signal comes back the same") {
  const TempDir folder;
  const TapeCache cache(folder.path() / "new" / "folder");
  const SteadySignal signal = small_signal();
  CHECK_FALSE(cache.load(kKey).has_value());
  cache.store(kKey, signal);
  const auto kept = cache.load(kKey);
  CHECK(kept.has_value());
  if (kept) {
    check_same(*kept, signal);
  }
  CHECK_FALSE(cache.load(kKey + 1).has_value());
  // One file: nothing half-written is left beside it.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path() / "new" / "folder"), {}) ==
        1);
}

TEST_CASE("a file that was changed anywhere or cut is not used, and is replaced") {
  const TempDir folder;
  const TapeCache cache(folder.path());
  const SteadySignal signal = small_signal();
  cache.store(kKey, signal);
  const auto path = cache.file_of(kKey);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  for (const std::streamoff place : {std::streamoff{0}, std::streamoff{9}, std::streamoff{20},
                                     std::streamoff{24}, size / 2, size - 1}) {
    CAPTURE(place);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(place);
      const int byte = file.get();
      file.seekp(place);
      file.put(static_cast<char>(byte ^ 0x40));
    }
    CHECK_FALSE(cache.load(kKey).has_value());
    cache.store(kKey, signal);
    CHECK(cache.load(kKey).has_value());
  }
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{8}, std::uintmax_t{23},
                                    static_cast<std::uintmax_t>(size - 8)}) {
    CAPTURE(left);
    std::filesystem::resize_file(path, left);
    CHECK_FALSE(cache.load(kKey).has_value());
    cache.store(kKey, signal);
  }
}

TEST_CASE("a file under another signal's name is not used") {
  const TempDir folder;
  const TapeCache cache(folder.path());
  cache.store(kKey, small_signal());
  std::filesystem::rename(cache.file_of(kKey), cache.file_of(kKey + 1));
  CHECK_FALSE(cache.load(kKey + 1).has_value());
}

TEST_CASE("a cache that cannot be written keeps nothing and does not fail") {
  const TempDir folder;
  const auto blocked = folder.path() / "file";
  std::ofstream(blocked) << "not a folder";
  const TapeCache cache(blocked / "cache");
  cache.store(kKey, small_signal());
  CHECK_FALSE(cache.load(kKey).has_value());
  const TapeCache none{std::filesystem::path()};
  none.store(kKey, small_signal());
  CHECK_FALSE(none.load(kKey).has_value());
}

TEST_CASE("the fingerprint changes with GPU, workload and options, not with names") {
  const GpuDescription gpu = simulated_models().front().gpu;
  const Workload work = flop_sweep(2);
  const SignalOptions options;
  const std::uint64_t base = fingerprint(gpu, work, options);
  GpuDescription slower = gpu;
  slower.dram_latency_ns += 1;
  CHECK(fingerprint(slower, work, options) != base);
  Workload larger = work;
  larger.passes.front().group_threads = 128;
  CHECK(fingerprint(gpu, larger, options) != base);
  CHECK(fingerprint(gpu, work, {.seed = 2}) != base);
  CHECK(fingerprint(gpu, work, {.variants = 8}) != base);
  CHECK(fingerprint(gpu, work, {.power_limit_w = 15}) != base);
  Workload renamed = work;
  renamed.name = "another";
  CHECK(fingerprint(gpu, renamed, options) == base);
}

}  // namespace
}  // namespace gputrace::test
