#include "daemon/os/sleeping_reader.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "tests/support/temp_dir.h"

namespace gputrace::os {

namespace {

using sampler::SampleState;

/// A GPU that sleeps, of which there are the folder and the node.
class SleepingCard {
 public:
  SleepingCard() {
    std::filesystem::create_directories(folder_.path() / "power");
    set_status("suspended");
    gpu_.card = "card1";
    gpu_.identity.name = "a GPU of the test";
    gpu_.identity.pci = "0000:03:00.0";
    gpu_.identity.gc = regdb::GcVersion{11, 0, 1};
    gpu_.device_dir = folder_.path();
    gpu_.render_node = folder_.path() / "renderD128";
    const std::ofstream node(gpu_.render_node);
  }
  void set_status(const std::string& status) const {
    std::ofstream(folder_.path() / "power/runtime_status") << status << "\n";
  }
  GpuDevice& gpu() { return gpu_; }
  [[nodiscard]] Result<SleepingGpu> open() const {
    return open_sleeping_gpu(gpu_, regdb::RegisterDatabase::built_in());
  }
  [[nodiscard]] Error open_error() const {
    const auto opened = open();
    REQUIRE_FALSE(opened);
    return opened.error();
  }

 private:
  test::TempDir folder_;
  GpuDevice gpu_;
};

std::vector<sampler::OfferedRegister> two_registers() {
  return {{"GRBM_STATUS", 0x2004, "runtime_status"}, {"GRBM_STATUS2", 0x2002, "runtime_status"}};
}

}  // namespace

TEST_CASE("every register of a GPU that sleeps is asleep, and costs nothing") {
  SleepingReader reader(two_registers(), [] { return true; });
  std::array<std::uint32_t, 2> words{};
  std::array<SampleState, 2> states{};
  std::array<std::uint32_t, 2> cost_ns{9, 9};
  CHECK_FALSE(reader.is_over(kNsPerSecond));
  reader.read(kNsPerSecond, {words, states, cost_ns});
  CHECK(states == std::array{SampleState::kAsleep, SampleState::kAsleep});
  CHECK(cost_ns == std::array{0U, 0U});
  CHECK(reader.drop_lost().empty());
  CHECK(reader.registers().size() == 2);
  CHECK(reader.last_error().empty());
}

TEST_CASE("the status is looked at each 100 ms, and not again once the GPU was awake") {
  int looks = 0;
  bool asleep = true;
  SleepingReader reader(two_registers(), [&] {
    ++looks;
    return asleep;
  });
  for (std::int64_t ms = 0; ms < 1000; ++ms) {
    CHECK_FALSE(reader.is_over(ms * kNsPerMs));
  }
  CHECK(looks == 10);
  asleep = false;
  CHECK_FALSE(reader.is_over(999 * kNsPerMs));
  CHECK(reader.is_over(1000 * kNsPerMs));
  asleep = true;
  CHECK(reader.is_over(2000 * kNsPerMs));
  CHECK(looks == 11);
}

TEST_CASE("a sleeping GPU offers what its built-in table names, until runtime_status says active") {
  const SleepingCard card;
  auto opened = card.open();
  REQUIRE_MESSAGE(opened, opened.error().message);
  CHECK(opened->identity.name == "a GPU of the test");
  CHECK(opened->regdb_table == "11.0.0");
  const auto map = regdb::RegisterDatabase::built_in().map_for({11, 0, 1});
  REQUIRE(map);
  REQUIRE(opened->reader->registers().size() == 2);
  for (const auto& offered : opened->reader->registers()) {
    const regdb::Register* known = map->find(offered.name);
    REQUIRE(known != nullptr);
    CHECK(offered.dword_offset == known->dword_offset);
    CHECK(offered.source == "runtime_status");
  }
  CHECK_FALSE(opened->reader->is_over(0));
  card.set_status("resuming");
  CHECK_FALSE(opened->reader->is_over(kNsPerSecond));
  card.set_status("active");
  CHECK(opened->reader->is_over(2 * kNsPerSecond));
}

TEST_CASE("a GPU whose status cannot be read any more is not said to sleep") {
  SleepingCard card;
  const auto opened = card.open();
  REQUIRE(opened);
  card.set_status("error");
  CHECK(opened->reader->is_over(0));
}

TEST_CASE("a sleeping GPU of which sysfs tells no GC version is refused, with what to do") {
  SleepingCard card;
  card.gpu().identity.gc.reset();
  const Error error = card.open_error();
  CHECK(error.code == ErrorCode::kBusy);
  CHECK(error.message.find("a GPU of the test (0000:03:00.0) is asleep") == 0);
  CHECK(error.message.find("no ip_discovery") != std::string::npos);
  CHECK(error.message.find("Start the program that uses it first") != std::string::npos);
}

TEST_CASE("a sleeping GPU that could not be opened when it wakes is refused at once") {
  SleepingCard card;
  card.gpu().identity.gc = regdb::GcVersion{99, 0, 0};
  CHECK(card.open_error().code == ErrorCode::kUnsupported);
  card.gpu().identity.gc = regdb::GcVersion{11, 0, 1};
  if (::geteuid() == 0) {
    MESSAGE("skipped: root may open every node");
  } else {
    REQUIRE(::chmod(card.gpu().render_node.c_str(), 0) == 0);
    const Error error = card.open_error();
    CHECK(error.code == ErrorCode::kPermissionDenied);
    CHECK(error.message.find("belongs to group") != std::string::npos);
  }
  std::filesystem::remove(card.gpu().render_node);
  CHECK(card.open_error().code == ErrorCode::kNotFound);
  card.gpu().render_node.clear();
  CHECK(card.open_error().code == ErrorCode::kUnsupported);
}

}  // namespace gputrace::os
