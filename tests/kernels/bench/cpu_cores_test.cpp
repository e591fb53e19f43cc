#include "kernels/bench/tests/copy/cpu_cores.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

#include "tests/support/temp_dir.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

void put(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

std::vector<std::string> names(std::span<const CpuCore> cores) {
  std::vector<std::string> words;
  for (const NamedCore& core : choose_cores(cores)) {
    words.push_back(core.name + " " + std::to_string(core.cpu));
  }
  return words;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("cores are read as sysfs has them, and what it lacks is absent") {
  const test::TempDir folder;
  // x86: a cluster is what shares a second level, and says nothing of the third.
  put(folder.path() / "cpu0/cpufreq/cpuinfo_max_freq", "5137000");
  put(folder.path() / "cpu0/topology/physical_package_id", "0");
  put(folder.path() / "cpu0/topology/cluster_id", "7");
  put(folder.path() / "cpu0/cache/index2/level", "2");
  put(folder.path() / "cpu0/cache/index2/id", "9");
  put(folder.path() / "cpu0/cache/index3/level", "3");
  put(folder.path() / "cpu0/cache/index3/id", "1");
  // Arm: no frequency driver, no third level.
  put(folder.path() / "cpu3/cpu_capacity", "1024");
  put(folder.path() / "cpu3/topology/physical_package_id", "-1");
  put(folder.path() / "cpu3/topology/cluster_id", "36");
  put(folder.path() / "cpu4/topology/cluster_id", "65535");
  put(folder.path() / "cpu4/cpu_capacity", "nonsense");
  const std::vector<unsigned> allowed{0, 3, 4, 9};
  const std::vector<CpuCore> cores = read_cores(folder.path(), allowed);
  REQUIRE(cores.size() == 4);
  CHECK(cores[0].max_khz == 5'137'000);
  CHECK(cores[0].package == 0);
  CHECK(cores[0].cluster == 1);
  CHECK_FALSE(cores[0].capacity);
  CHECK(cores[1].capacity == 1024);
  CHECK(cores[1].cluster == 36);
  CHECK_FALSE(cores[1].package);
  CHECK_FALSE(cores[2].cluster);
  CHECK_FALSE(cores[2].capacity);
  CHECK(cores[3].cpu == 9);
  CHECK_FALSE(cores[3].max_khz);
}

TEST_CASE("of a hybrid CPU the fastest and the slowest core are compared") {
  std::vector<CpuCore> cores;
  cores.reserve(8);
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    cores.push_back(
        {.cpu = cpu, .max_khz = cpu < 4 ? 3'800'000 : 5'100'000, .package = 0, .cluster = 0});
  }
  CHECK(names(cores) == Names{"fastest core 4", "slowest core 0"});
  // Clusters of which one has other fast cores.
  for (unsigned cpu = 6; cpu < 8; ++cpu) {
    cores[cpu].cluster = 1;
  }
  CHECK(names(cores) == Names{"fastest core 4", "slowest core 0", "other cluster 6"});
}

TEST_CASE("capacity goes before frequency, where it tells all cores apart") {
  std::vector<CpuCore> cores{{.cpu = 0, .capacity = 400, .max_khz = 3'000'000},
                             {.cpu = 1, .capacity = 1024, .max_khz = 2'900'000}};
  CHECK(names(cores) == Names{"fastest core 1", "slowest core 0"});
  cores[0].capacity = 1024;
  CHECK(names(cores) == Names{"any core 0"});  // 3 % of frequency is no other kind
  cores[0].capacity.reset();
  cores[1].max_khz = 1'000'000;
  CHECK(names(cores) == Names{"fastest core 0", "slowest core 1"});
}

TEST_CASE("of cores that are alike any will do, and one in another package beside it") {
  std::vector<CpuCore> cores{{.cpu = 2, .package = 0}, {.cpu = 3, .package = 0}};
  CHECK(names(cores) == Names{"any core 2"});
  cores.push_back({.cpu = 40, .package = 1});
  CHECK(names(cores) == Names{"any core 2", "other cluster 40"});
  CHECK(names({}).empty());
}

TEST_CASE("a thread stays on its core, and may then run where it could before") {
  const auto before = allowed_cores();
  REQUIRE(before);
  REQUIRE(!before->empty());
  for (const unsigned cpu : *before) {
    const auto pinned = PinnedThread::to(cpu);
    REQUIRE(pinned);
    CHECK(::sched_getcpu() == static_cast<int>(cpu));
    CHECK(*allowed_cores() == std::vector<unsigned>{cpu});
  }
  CHECK(*allowed_cores() == *before);
}

TEST_CASE("a core that is not for this process is refused") {
  const auto before = allowed_cores();
  REQUIRE(before);
  // As in a cgroup that has one core.
  const unsigned only = before->front();
  const auto inside = PinnedThread::to(only);
  REQUIRE(inside);
  const auto refused = PinnedThread::to(only + 1);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::kPermissionDenied);
  CHECK(*allowed_cores() == std::vector<unsigned>{only});
}
