// The rig's debugfs and BAR against what the kernel's documentation and source say of them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon/base/unique_fd.h"
#include "daemon/os/drm_clients.h"
#include "daemon/os/render_node.h"
#include "tests/rig/bar_file.h"
#include "tests/rig/open_files.h"
#include "tests/rig/start_or_skip.h"
#include "tests/support/read_sample.h"

namespace gputrace::rig {
namespace {

constexpr unsigned long kSetState = 0xc0282000;
constexpr unsigned long kSetStateV2 = 0xc02c2001;
constexpr std::uint32_t kAllOnes = 0xffffffff;
constexpr std::uint64_t kStatusAddress = std::uint64_t{4} * 0x2004;
constexpr std::uint32_t kStatusWord = 0xab002004;

UniqueFd open_file(const Rig& rig, const char* name, int flags = O_RDONLY) {
  return UniqueFd(::open((rig.debugfs() / name).c_str(), flags | O_CLOEXEC));
}

struct Read {
  int error = 0;
  std::uint32_t word = 0;
};

Read read_word(const UniqueFd& file, std::uint64_t offset) {
  Read read;
  const ssize_t size =
      ::pread(file.get(), &read.word, sizeof(read.word), static_cast<off_t>(offset));
  read.error = size == sizeof(read.word) ? 0 : size < 0 ? errno : EIO;
  return read;
}

int ioctl_error(const UniqueFd& file, unsigned long command, Regs2State state) {
  return ::ioctl(file.get(), command, &state) == 0 ? 0 : errno;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("amdgpu_regs reads whole registers at whole registers, and banks that exist") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd regs = open_file(*rig, "amdgpu_regs");
  REQUIRE(regs);
  CHECK(read_word(regs, kStatusAddress).word == kStatusWord);
  std::array<std::uint32_t, 3> three{};
  CHECK(::pread(regs.get(), three.data(), sizeof(three), kStatusAddress) == sizeof(three));
  CHECK(three[2] == 0xab002006);
  CHECK(read_word(regs, kStatusAddress + 2).error == EINVAL);
  CHECK(::pread(regs.get(), three.data(), 6, kStatusAddress) < 0);
  CHECK(errno == EINVAL);

  constexpr std::uint64_t kBank = 1ULL << 62U;
  constexpr std::uint64_t kRing = 1ULL << 61U;
  constexpr std::uint64_t kBroadcastArray = 0x3ffULL << 34U;
  constexpr std::uint64_t kBroadcastEngine = 0x3ffULL << 24U;
  CHECK(read_word(regs, kStatusAddress | kBank).word == kStatusWord);
  CHECK(read_word(regs, kStatusAddress | kBank | kBroadcastEngine | kBroadcastArray).error == 0);
  CHECK(read_word(regs, kStatusAddress | kBank | (1ULL << 24U)).error == EINVAL);  // it has one SE
  CHECK(read_word(regs, kStatusAddress | kBank | (2ULL << 34U)).error == EINVAL);
  CHECK(read_word(regs, kStatusAddress | kBank | kRing).error == EINVAL);
  CHECK(ioctl_error(regs, kSetStateV2, {}) == ENOTTY);
  CHECK(rig->control().regs_reads == 4);
}

TEST_CASE("amdgpu_regs2 keeps the bank of each open file, set by either form of its ioctl") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd one = open_file(*rig, "amdgpu_regs2");
  const UniqueFd other = open_file(*rig, "amdgpu_regs2");
  REQUIRE(one);
  REQUIRE(other);
  CHECK(read_word(one, kStatusAddress).word == kStatusWord);  // before any ioctl
  Regs2State outside;
  outside.use_grbm = 1;
  outside.grbm_se = 7;
  for (const unsigned long command : {kSetState, kSetStateV2}) {
    CHECK(ioctl_error(one, command, outside) == 0);
    CHECK(read_word(one, kStatusAddress).error == EINVAL);
    CHECK(read_word(other, kStatusAddress).word == kStatusWord);
    CHECK(ioctl_error(one, command, {}) == 0);
    CHECK(read_word(one, kStatusAddress).word == kStatusWord);
  }
  CHECK(ioctl_error(one, 0xc02c2002, {}) == EINVAL);
  CHECK(read_word(one, kStatusAddress + 1).error == EINVAL);
  rig->control().regs2_v1_only = 1;
  CHECK(ioctl_error(one, kSetStateV2, {}) == EINVAL);
  CHECK(ioctl_error(one, kSetState, {}) == 0);
  rig->control().no_regs2 = 1;
  CHECK_FALSE(open_file(*rig, "amdgpu_regs2"));
  CHECK(errno == ENOENT);
}

TEST_CASE("lockdown refuses the register files, a missing right refuses all of debugfs") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().debugfs_errno = EPERM;
  CHECK_FALSE(open_file(*rig, "amdgpu_regs2"));
  CHECK(errno == EPERM);
  CHECK(text_of(rig->debugfs() / "name") == "amdgpu dev=0000:c4:00.0 unique=0000:c4:00.0\n");
  rig->control().debugfs_errno = EACCES;
  CHECK_FALSE(open_file(*rig, "name"));
  CHECK(errno == EACCES);
  rig->control().debugfs_errno = 0;
  rig->control().privileged_denied_offset = 0x2004;
  CHECK(read_word(open_file(*rig, "amdgpu_regs"), kStatusAddress).error == EPERM);
}

TEST_CASE("a debugfs read wakes a sleeping GPU, opening the file does not") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().suspended = 1;
  const UniqueFd regs2 = open_file(*rig, "amdgpu_regs2");
  CHECK(ioctl_error(regs2, kSetStateV2, {}) == 0);
  CHECK(rig->control().touched_while_suspended == 0);
  CHECK(read_word(regs2, kStatusAddress).error == 0);
  CHECK(rig->control().touched_while_suspended == 1);
  CHECK(rig->control().suspended == 0);
}

TEST_CASE("without a READ_MMR_REG in the last 100 ms GFXOFF makes all ones, and it is counted") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const auto opened = os::open_render_node(only_gpu(*rig), regdb::RegisterDatabase::built_in());
  REQUIRE(opened.has_value());
  const UniqueFd regs = open_file(*rig, "amdgpu_regs");
  rig->control().gfx_off = 1;
  read_sample(*opened->reader);
  REQUIRE(rig->wait_for_power_down());
  const Read unguarded = read_word(regs, kStatusAddress);
  CHECK(unguarded.word == kAllOnes);
  CHECK(rig->control().unguarded_reads == 1);
  rig->control().gfx_off = 0;
  CHECK(read_word(regs, kStatusAddress).word == kStatusWord);
  CHECK(rig->control().unguarded_reads == 1);
}

TEST_CASE("whoever opens a register file for writing is counted and cannot write") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd regs = open_file(*rig, "amdgpu_regs", O_RDWR);
  if (!regs) {
    CHECK(errno == EACCES);  // its mode is 0444
    MESSAGE("skipped: only root may open it");
    return;
  }
  CHECK(rig->control().writes_attempted == 1);
  const std::uint32_t word = 0;
  CHECK(::pwrite(regs.get(), &word, sizeof(word), kStatusAddress) < 0);
  CHECK(rig->control().writes_attempted == 2);
}

TEST_CASE("the register BAR is mapped, follows each READ_MMR_REG, and cannot be written") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const std::string file = only_gpu(*rig).device_dir / "resource5";
  const UniqueFd bar(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(bar);
  void* pages = ::mmap(nullptr, kBarBytes, PROT_READ, MAP_SHARED, bar.get(), 0);
  REQUIRE(pages != MAP_FAILED);  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): the macro's cast
  auto* words = static_cast<std::uint32_t*>(pages);
  const auto status = [&] { return std::atomic_ref(words[0x2004]).load(); };
  const auto opened = os::open_render_node(only_gpu(*rig), regdb::RegisterDatabase::built_in());
  REQUIRE(opened.has_value());
  read_sample(*opened->reader);
  CHECK(status() == kStatusWord);
  rig->control().bar_all_ones = 1;
  read_sample(*opened->reader);
  CHECK(status() == kAllOnes);
  rig->control().bar_all_ones = 0;
  rig->control().gfx_off = 1;
  read_sample(*opened->reader);
  REQUIRE(rig->wait_for_power_down());
  CHECK(status() == kAllOnes);
  CHECK(::mmap(nullptr, kBarBytes, PROT_READ | PROT_WRITE, MAP_SHARED, bar.get(), 0) ==
        MAP_FAILED);  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): the macro's cast
  const UniqueFd writable(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  CHECK(::pwrite(writable.get(), &kAllOnes, sizeof(kAllOnes), 0) < 0);
  ::munmap(pages, kBarBytes);
}

TEST_CASE("the file clients lists strangers and who has the render node open") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::GpuDevice gpu = only_gpu(*rig);
  const std::array own{::getpid()};
  const auto others = [&](std::span<const pid_t> pids) {
    const auto count = os::count_other_clients(gpu, roots_of(*rig), pids);
    REQUIRE(count.has_value());
    return *count;
  };
  CHECK(others(own) == 0);
  {
    const UniqueFd node(::open(rig->render_node().c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(node);
    CHECK(others(own) == 0);
    CHECK(others({}) == 1);
    rig->control().other_clients = 3;
    CHECK(others(own) == 3);
  }
  CHECK(rig->control().touched_while_suspended == 0);
  CHECK(os::has_runtime_power_management(gpu));
  rig->control().power_auto = 0;
  CHECK_FALSE(os::has_runtime_power_management(gpu));
  CHECK(os::autosuspend_delay_ms(gpu) == 5000);
}

}  // namespace gputrace::rig
