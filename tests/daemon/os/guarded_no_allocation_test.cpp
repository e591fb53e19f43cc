// An executable of its own: operator new is replaced here.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/debugfs_registers.h"
#include "daemon/os/guarded_reader.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;      // NOLINT(google-build-using-namespace)
using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

TEST_CASE("a guarded sample allocates nothing, be it good, late, asleep or lost") {
  const test::TempDir folder;
  const std::string file = (folder.path() / "amdgpu_regs").string();
  std::ofstream(file) << std::string(0x9000, '.');
  std::filesystem::create_directories(folder.path() / "power");
  std::ofstream(folder.path() / "power/runtime_status") << "active\n";
  const UniqueFd power(
      ::open((folder.path() / "power/runtime_status").c_str(), O_WRONLY | O_CLOEXEC));
  auto regs = open_debugfs_regs(folder.path());
  REQUIRE(regs);

  int ioctl_errno = 0;
  RenderNodeAccess access;
  access.read_registers = [&](std::uint32_t, std::span<std::uint32_t>) { return ioctl_errno; };
  access.is_asleep = [] { return false; };
  access.now_ns = [] { return monotonic_now_ns(); };
  auto node = std::make_unique<RenderNodeReader>(
      std::vector<sampler::OfferedRegister>{{"GRBM_STATUS", 0x2004, "drm ioctl"}},
      std::move(access));
  const RuntimeStatus status(folder.path());
  std::int64_t step_ns = 0;
  auto words = std::make_unique<GuardedWords>(
      std::vector<sampler::OfferedRegister>{{"GRBM_STATUS3", 0x2007, "debugfs regs"},
                                            {"GRBM_STATUS_SE4", 0x2010, "debugfs regs"}},
      std::move(*regs),
      GuardAccess{[&] { return status.look(); }, [&] { return monotonic_now_ns() + step_ns; }});
  GuardedReader reader(std::move(node), std::move(words), GuardedReader::Offer::kBoth);

  std::array<std::uint32_t, 3> read{};
  std::array<sampler::SampleState, 3> states{};
  std::array<std::uint32_t, 3> cost_ns{};
  const auto sample = [&] {
    reader.read(monotonic_now_ns(), {read, states, cost_ns});
    return states[2];
  };
  const std::uint64_t before = test::allocation_count();
  const auto good = sample();
  ioctl_errno = ENOENT;
  const auto reset = sample();
  ioctl_errno = 0;
  step_ns = 60 * kNsPerMs;
  const auto late = sample();
  step_ns = 0;
  bool written = ::pwrite(power.get(), "suspended\n", 10, 0) == 10;
  const auto asleep = sample();
  written = written && ::pwrite(power.get(), "active\n   ", 10, 0) == 10;
  const int truncated = ::truncate(file.c_str(), 0);
  const auto lost = sample();
  const std::uint64_t after = test::allocation_count();
  CHECK(after == before);
  CHECK(written);
  CHECK(truncated == 0);
  CHECK(good == sampler::SampleState::kValid);
  CHECK(reset == sampler::SampleState::kReset);
  CHECK(late == sampler::SampleState::kGuardLate);
  CHECK(asleep == sampler::SampleState::kAsleep);
  CHECK(lost == sampler::SampleState::kLost);
}
