// daemon/os against the rig: what the program does when the kernel grants, refuses, hangs or dies.
#include "daemon/os/render_node.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/os/gpu_device.h"
#include "tests/rig/start_or_skip.h"
#include "tests/support/read_sample.h"

namespace gputrace::rig {
namespace {

using sampler::SampleState;

Result<os::OpenedRenderNode> open_gpu(const Rig& rig) {
  return os::open_render_node(only_gpu(rig), regdb::RegisterDatabase::built_in());
}

os::OpenedRenderNode open_or_fail(const Rig& rig) {
  auto opened = open_gpu(rig);
  REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
  return std::move(*opened);
}

}  // namespace

TEST_CASE("the render node is found through sysfs and its registers arrive in their places") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::GpuDevice gpu = only_gpu(*rig);
  CHECK(gpu.card == "card1");
  CHECK(gpu.render_node_name == "renderD128");
  CHECK(gpu.identity.pci == "0000:c4:00.0");
  CHECK(gpu.identity.gc == regdb::GcVersion{11, 0, 1});
  CHECK(gpu.runtime_status == "active");
  CHECK(gpu.boot_vga);
  CHECK(rig->control().opens == 0);

  const os::OpenedRenderNode opened = open_or_fail(*rig);
  CHECK(opened.identity.driver == "amdgpu 3.58");
  CHECK(opened.shader_engines == 1);
  const Sample sample = read_sample(*opened.reader);
  CHECK(state_of(sample) == SampleState::kValid);
  for (std::size_t i = 0; i < sample.words.size(); ++i) {
    CHECK(sample.words[i] == (0xab000000U | opened.reader->registers()[i].dword_offset));
  }
}

TEST_CASE("each GPU offers the registers that its kernel lets it read, and asks for no other") {
  struct Expectation {
    std::string_view gpu;
    regdb::GcVersion gc;
    std::size_t engines;
  };
  for (const Expectation& wanted :
       {Expectation{"780m", {11, 0, 1}, 1}, Expectation{"890m", {11, 5, 0}, 1},
        Expectation{"rx7600", {11, 0, 2}, 2}, Expectation{"rx7900xtx", {11, 0, 0}, 4},
        Expectation{"rx9070xt", {12, 0, 1}, 4}, Expectation{"rx6600xt", {10, 3, 4}, 2},
        Expectation{"rx6800", {10, 3, 0}, 4}, Expectation{"vega64", {9, 0, 1}, 4},
        Expectation{"rx580", {8, 0, 0}, 4}, Expectation{"r7-260x", {7, 2, 0}, 2},
        Expectation{"hd7970", {6, 0, 0}, 2}}) {
    CAPTURE(wanted.gpu);
    const auto gpu = find_gpu_model(wanted.gpu);
    REQUIRE(gpu.has_value());
    const auto rig = start_or_skip(offset_words(gpu.value_or(default_gpu_model())));
    if (!rig) {
      return;
    }
    const os::OpenedRenderNode opened = open_or_fail(*rig);
    CHECK(opened.identity.gc == wanted.gc);
    std::vector<std::string> expected{"GRBM_STATUS", "GRBM_STATUS2"};
    for (std::size_t engine = 0; engine < wanted.engines; ++engine) {
      expected.push_back("GRBM_STATUS_SE" + std::to_string(engine));
    }
    std::vector<std::string> offered = names(*opened.reader);
    std::sort(offered.begin(), offered.end());
    std::sort(expected.begin(), expected.end());
    CHECK(offered == expected);
    CHECK(opened.notes.empty());
    CHECK(rig->control().failed_register_reads == 0);
    CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  }
}

TEST_CASE("a kernel older than ip_discovery_version gives the family instead") {
  RigOptions options = offset_words(find_gpu_model("vega64").value_or(default_gpu_model()));
  options.drm_minor = 40;
  const auto rig = start_or_skip(options);
  if (!rig) {
    return;
  }
  CHECK_FALSE(only_gpu(*rig).identity.gc.has_value());
  CHECK(open_or_fail(*rig).identity.gc == regdb::GcVersion{9, 0, 1});
}

TEST_CASE("a register that the kernel refuses from the start is named and the others are read") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().denied_offset = 0x2002;
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  CHECK(names(*opened.reader) == std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS_SE0"});
  REQUIRE(opened.notes.size() == 1);
  CHECK(opened.notes[0].find("GRBM_STATUS2") != std::string::npos);
}

TEST_CASE("a register that is refused in mid-run is lost, and the others go on") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  CHECK(opened.reader->drop_lost().empty());
  rig->control().denied_offset = 0x2002;
  const Sample sample = read_sample(*opened.reader);
  for (std::size_t i = 0; i < sample.states.size(); ++i) {
    const bool refused = opened.reader->registers()[i].dword_offset == 0x2002;
    CHECK(sample.states[i] == (refused ? SampleState::kLost : SampleState::kValid));
  }
  const auto lost = opened.reader->drop_lost();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].name == "GRBM_STATUS2");
  CHECK(lost[0].reason.find("Bad address") != std::string::npos);
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
}

TEST_CASE("a reset and other failures are unknown while they last and no longer") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  struct Fault {
    int error;
    SampleState state;
  };
  for (const Fault& fault :
       {Fault{ENOENT, SampleState::kReset}, Fault{EPERM, SampleState::kReadError},
        Fault{EIO, SampleState::kReadError}}) {
    CAPTURE(fault.error);
    rig->control().read_errno = static_cast<std::uint32_t>(fault.error);
    CHECK(state_of(read_sample(*opened.reader)) == fault.state);
    rig->control().read_errno = 0;
    CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  }
  CHECK(opened.reader->last_error().find("Input/output error") != std::string::npos);
  CHECK(opened.reader->drop_lost().empty());
}

TEST_CASE("all ones arrive as they are: the sampling loop is who refuses them") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  rig->control().all_ones = 1;
  for (const std::uint32_t word : read_sample(*opened.reader).words) {
    CHECK(word == 0xffffffff);
  }
  rig->control().all_ones = 0;
  for (const std::uint32_t word : read_sample(*opened.reader).words) {
    CHECK(word != 0xffffffff);
  }
}

TEST_CASE("an unplugged GPU is lost with all its registers") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  const std::size_t count = opened.reader->registers().size();
  rig->control().unplugged = 1;
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kLost);
  CHECK(opened.reader->drop_lost().size() == count);
  CHECK(opened.reader->registers().empty());
}

TEST_CASE("a driver that answers no more (ENOTCONN) is lost, not waited for") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  rig->kill_server();
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kLost);
  const auto lost = opened.reader->drop_lost();
  REQUIRE_FALSE(lost.empty());
  CHECK(lost[0].reason.find("not connected") != std::string::npos);
}

TEST_CASE("a read that hangs holds its own thread only, and its cost is seen") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  rig->hold_reads();
  std::atomic<bool> returned{false};
  Sample sample;
  std::thread reading([&] {
    sample = read_sample(*opened.reader);
    returned = true;
  });
  REQUIRE(rig->wait_for_held_read());
  const std::int64_t held_at_ns = monotonic_now_ns();
  CHECK_FALSE(returned);
  CHECK(only_gpu(*rig).runtime_status == "active");  // sysfs still answers
  const std::int64_t held_for_ns = monotonic_now_ns() - held_at_ns;
  rig->release_reads();
  reading.join();
  CHECK(state_of(sample) == SampleState::kValid);
  CHECK(*std::max_element(sample.cost_ns.begin(), sample.cost_ns.end()) >= held_for_ns);
}

TEST_CASE("a suspended GPU is shown and not opened, so it sleeps on") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().suspended = 1;
  CHECK(only_gpu(*rig).runtime_status == "suspended");
  const auto opened = open_gpu(*rig);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kBusy);
  CHECK(rig->control().opens == 0);
  CHECK(rig->control().ioctls == 0);
  CHECK(rig->control().touched_while_suspended == 0);
}

TEST_CASE("a GPU that falls asleep in mid-run is left asleep and read again when it wakes") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  const os::OpenedRenderNode opened = open_or_fail(*rig);
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  rig->control().suspended = 1;
  // The kernel suspends only after seconds without an ioctl; the reader is told that they passed.
  const std::int64_t later_ns = monotonic_now_ns() + 10 * kNsPerSecond;
  const std::uint64_t ioctls = rig->control().ioctls;
  CHECK(state_of(read_sample(*opened.reader, later_ns)) == SampleState::kAsleep);
  CHECK(state_of(read_sample(*opened.reader, later_ns + kNsPerSecond)) == SampleState::kAsleep);
  CHECK(rig->control().ioctls == ioctls);
  CHECK(rig->control().touched_while_suspended == 0);
  rig->control().suspended = 0;
  CHECK(state_of(read_sample(*opened.reader, later_ns + 2 * kNsPerSecond)) == SampleState::kValid);
}

TEST_CASE("a kernel without READ_MMR_REG is refused with its reason") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().no_read_mmr = 1;
  const auto opened = open_gpu(*rig);
  REQUIRE_FALSE(opened.has_value());
  // libdrm reads a register itself when it opens the device, so it is the one who finds out.
  CHECK(opened.error().message.find(rig->render_node().string()) != std::string::npos);
  CHECK(opened.error().message.find("Invalid argument") != std::string::npos);
  rig->control().no_read_mmr = 0;
  CHECK(open_gpu(*rig).has_value());
}

TEST_CASE("a node that may not be opened is named with the group to join") {
  const auto rig = start_or_skip(offset_words());
  if (!rig) {
    return;
  }
  rig->control().open_errno = EACCES;
  const auto opened = open_gpu(*rig);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kPermissionDenied);
  CHECK(opened.error().message.find(rig->render_node().string()) != std::string::npos);
  CHECK(opened.error().message.find("group") != std::string::npos);
  rig->control().open_errno = 0;
  CHECK(open_gpu(*rig).has_value());
}

}  // namespace gputrace::rig
