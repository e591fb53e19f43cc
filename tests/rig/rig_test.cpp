// The rig by itself, through plain system calls: what it grants, and what it refuses.
#include "tests/rig/rig.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/rig/amdgpu_abi.h"
#include "tests/rig/start_or_skip.h"

namespace gputrace::rig {
namespace {

constexpr std::uint32_t kGrbmStatus2 = 0x2002;
constexpr std::uint32_t kGrbmStatus = 0x2004;
constexpr std::uint32_t kGrbmStatusSe2 = 0x200e;
constexpr std::uint32_t kGrbmStatus3 = 0x2007;
constexpr std::uint32_t kBroadcast = 0xffffffff;

UniqueFd open_node(const Rig& rig) {
  return UniqueFd(::open(rig.render_node().c_str(), O_RDWR | O_CLOEXEC));
}

// 0 or an errno; `words` says how many registers.
int read_registers(int fd, std::uint32_t offset, std::span<std::uint32_t> words,
                   std::uint32_t instance = kBroadcast) {
  abi::InfoRequest request{};
  request.return_pointer = reinterpret_cast<std::uintptr_t>(words.data());
  request.return_size = static_cast<std::uint32_t>(words.size_bytes());
  request.query = static_cast<std::uint32_t>(abi::Query::kReadMmrReg);
  request.argument = offset;
  request.count = static_cast<std::uint32_t>(words.size());
  request.instance = instance;
  return ::ioctl(fd, abi::kIoctlAmdgpuInfo, &request) == 0 ? 0 : errno;
}

int read_one(int fd, std::uint32_t offset) {
  std::array<std::uint32_t, 1> word{};
  return read_registers(fd, offset, word);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a register read returns the words of neighbouring registers in one call") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  REQUIRE(node);
  std::array<std::uint32_t, 3> words{};
  REQUIRE(read_registers(node.get(), kGrbmStatus, words) == 0);
  CHECK(words == std::array<std::uint32_t, 3>{0xab002004, 0xab002005, 0xab002006});
  CHECK(rig->control().register_reads == 1);
  CHECK(rig->control().opens == 1);
}

TEST_CASE("a call with one register outside the kernel's list fails whole, with EFAULT") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  std::array<std::uint32_t, 2> words{7, 7};
  CHECK(read_registers(node.get(), kGrbmStatus2, words) == EFAULT);  // 0x2003 is not listed
  CHECK(words == std::array<std::uint32_t, 2>{7, 7});
  CHECK(read_one(node.get(), kGrbmStatus2) == 0);
  CHECK(read_one(node.get(), kGrbmStatus3) == EFAULT);
  CHECK(rig->control().failed_register_reads == 2);
}

TEST_CASE("a shader engine or array that the kernel does not know is EINVAL") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  std::array<std::uint32_t, 1> word{};
  CHECK(read_registers(node.get(), kGrbmStatus, word, 0xffff0103) == 0);
  CHECK(read_registers(node.get(), kGrbmStatus, word, 0xffff0104) == EINVAL);
  CHECK(read_registers(node.get(), kGrbmStatus, word, 0xffff0203) == EINVAL);
}

TEST_CASE("more than 128 registers are EINVAL, 128 are a matter of the list") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  std::vector<std::uint32_t> words(129);
  CHECK(read_registers(node.get(), kGrbmStatus, words) == EINVAL);
  words.resize(128);
  CHECK(read_registers(node.get(), kGrbmStatus, words) == EFAULT);
}

TEST_CASE("a result pointer that is not writable is EFAULT, not a crash of the server") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  abi::InfoRequest request{};
  request.return_pointer = 8;
  request.return_size = 4;
  request.query = static_cast<std::uint32_t>(abi::Query::kReadMmrReg);
  request.argument = kGrbmStatus;
  request.count = 1;
  request.instance = kBroadcast;
  CHECK(::ioctl(node.get(), abi::kIoctlAmdgpuInfo, &request) == -1);
  CHECK(errno == EFAULT);
  CHECK(read_one(node.get(), kGrbmStatus) == 0);
}

TEST_CASE("faults begin and end with their switch") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  RigControl& control = rig->control();
  for (const int error : {ENOENT, EPERM, EIO}) {
    control.read_errno = static_cast<std::uint32_t>(error);
    CHECK(read_one(node.get(), kGrbmStatus) == error);
    control.read_errno = 0;
    CHECK(read_one(node.get(), kGrbmStatus) == 0);
  }
  control.denied_offset = kGrbmStatus2;
  CHECK(read_one(node.get(), kGrbmStatus2) == EFAULT);
  CHECK(read_one(node.get(), kGrbmStatus) == 0);
  control.denied_offset = 0;
  control.no_read_mmr = 1;
  CHECK(read_one(node.get(), kGrbmStatus) == EINVAL);
  control.no_read_mmr = 0;
  control.all_ones = 1;
  std::array<std::uint32_t, 1> word{};
  CHECK(read_registers(node.get(), kGrbmStatus, word) == 0);
  CHECK(word[0] == 0xffffffff);
}

TEST_CASE("a node that may not be opened says so with the errno of the switch") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().open_errno = EACCES;
  CHECK_FALSE(open_node(*rig));
  CHECK(errno == EACCES);
  rig->control().open_errno = 0;
  CHECK(open_node(*rig));
}

TEST_CASE("an unplugged GPU answers ENODEV and takes its folders with it") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  const auto vendor = rig->sys() / "class/drm/card1/device/vendor";
  CHECK(read_file(vendor) == "0x1002\n");
  rig->control().unplugged = 1;
  CHECK(read_one(node.get(), kGrbmStatus) == ENODEV);
  CHECK_FALSE(std::filesystem::exists(vendor));
  CHECK_FALSE(std::filesystem::exists(rig->render_node()));
  CHECK(std::filesystem::exists(rig->sys() / "class/drm/version"));
  rig->control().unplugged = 0;
  CHECK(read_file(vendor) == "0x1002\n");
}

TEST_CASE("a suspended device counts whoever wakes it, and reading sysfs does not") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const auto status = rig->sys() / "class/drm/card1/device/power/runtime_status";
  CHECK(read_file(status) == "active\n");
  rig->control().suspended = 1;
  CHECK(read_file(status) == "suspended\n");
  CHECK(read_file(rig->sys() / "class/drm/card1/device/uevent").find("DRIVER=amdgpu") !=
        std::string::npos);
  CHECK(rig->control().touched_while_suspended == 0);
  const UniqueFd node = open_node(*rig);
  CHECK(rig->control().touched_while_suspended == 1);
  CHECK(read_file(status) == "active\n");
  rig->control().suspended = 1;
  CHECK(read_one(node.get(), kGrbmStatus) == 0);
  CHECK(rig->control().touched_while_suspended == 2);
}

TEST_CASE("a held read returns when it is released, and others are served meanwhile") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  rig->hold_reads();
  std::atomic<int> outcome{-1};
  std::thread stuck([&] { outcome = read_one(node.get(), kGrbmStatus); });
  REQUIRE(rig->wait_for_held_read());
  CHECK(outcome == -1);
  CHECK(rig->control().held == 1);
  CHECK(read_file(rig->sys() / "class/drm/card1/device/vendor") == "0x1002\n");
  rig->release_reads();
  stuck.join();
  CHECK(outcome == 0);
  CHECK(read_one(node.get(), kGrbmStatus) == 0);
}

TEST_CASE("when the server dies, calls fail with ENOTCONN and held ones return") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  CHECK(read_one(node.get(), kGrbmStatus) == 0);
  rig->hold_reads();
  std::atomic<int> outcome{0};
  std::thread stuck([&] { outcome = read_one(node.get(), kGrbmStatus); });
  REQUIRE(rig->wait_for_held_read());
  rig->kill_server();
  stuck.join();
  CHECK(outcome != 0);
  CHECK(read_one(node.get(), kGrbmStatus) == ENOTCONN);
  CHECK_FALSE(open_node(*rig));
  CHECK(errno == ENOTCONN);
}

TEST_CASE("the rig leaves no mount and no folder behind") {
  std::filesystem::path root;
  {
    const auto rig = start_or_skip(offset_words());
    if (!rig) {
      return;
    }
    root = rig->root();
    const UniqueFd node = open_node(*rig);
    REQUIRE(node);
    CHECK(read_file("/proc/self/mounts").find(root.string()) != std::string::npos);
  }
  CHECK(read_file("/proc/self/mounts").find(root.string()) == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(root));
}

TEST_CASE("the control file shows counters and sets switches") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const UniqueFd node = open_node(*rig);
  std::ofstream(rig->root() / "control") << "read_errno=2\nall_ones=1\n";
  CHECK(rig->control().read_errno == 2);
  CHECK(rig->control().all_ones == 1);
  CHECK(read_one(node.get(), kGrbmStatus) == ENOENT);
  const std::string text = read_file(rig->root() / "control");
  CHECK(text.find("failed_register_reads=1\n") != std::string::npos);
  CHECK(text.find("opens=1\n") != std::string::npos);
  std::ofstream bad(rig->root() / "control");
  bad << "no_such_switch=1\n" << std::flush;
  CHECK_FALSE(bad.good());
}

TEST_CASE("models differ in what may be read and in what sysfs tells") {
  struct Expectation {
    std::string_view gpu;
    int se2_error;
    bool discovery;
  };
  for (const Expectation& wanted :
       {Expectation{"780m", 0, true}, Expectation{"rx6800", 0, true},
        Expectation{"vega64", 0, false}, Expectation{"hd7970", EFAULT, false}}) {
    CAPTURE(wanted.gpu);
    const auto gpu = find_gpu_model(wanted.gpu);
    REQUIRE(gpu.has_value());
    const auto rig = start_or_skip(offset_words(gpu.value_or(default_gpu_model())));
    if (!rig) {
      return;
    }
    const UniqueFd node = open_node(*rig);
    CHECK(read_one(node.get(), kGrbmStatusSe2) == wanted.se2_error);
    const auto device = rig->sys() / "class/drm/card1/device";
    CHECK(std::filesystem::exists(device / "ip_discovery/die/0/GC/0/major") == wanted.discovery);
  }
  CHECK_FALSE(find_gpu_model("no such GPU"));
}

TEST_CASE("slotted words are as busy as they say they are") {
  SlottedWords words({{kGrbmStatus, 31, 0.3, 1000}, {kGrbmStatus, 3, 1.0, 1000}}, 7);
  const std::int64_t end = 50'000'000;
  std::int64_t busy = 0;
  std::int64_t count = 0;
  for (std::int64_t t = 500; t < end; t += 1000) {  // once a slot: exact
    const std::uint32_t word = words.word(kGrbmStatus, t);
    busy += (word >> 31U) & 1U;
    CHECK((word & 8U) != 0);
    ++count;
  }
  const double truth = words.true_busy(0, 0, end);
  CHECK(truth == doctest::Approx(static_cast<double>(busy) / static_cast<double>(count)));
  CHECK(truth == doctest::Approx(0.3).epsilon(0.05));
  CHECK(words.true_busy(1, 123, 4567) == doctest::Approx(1.0));
  CHECK(words.word(kGrbmStatus2, 500) == 0);
}

}  // namespace gputrace::rig
