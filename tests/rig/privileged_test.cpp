// os::open_registers against the rig: which way to the registers that need root is taken, what ends
// it, and that no read happens past the guard of the ioctl.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/os/kernel.h"
#include "daemon/os/register_bar.h"
#include "daemon/os/register_source.h"
#include "tests/rig/start_or_skip.h"
#include "tests/support/error_text.h"
#include "tests/support/read_sample.h"

namespace gputrace::rig {
namespace {

using os::RegisterSource;
using sampler::SampleState;

/// nullptr where the rig or these ways are not to be had.
std::unique_ptr<Rig> start(GpuModel gpu = default_gpu_model()) {
  const auto kernel = os::running_kernel();
  if (!kernel || *kernel < os::KernelVersion{5, 15}) {
    MESSAGE("skipped: debugfs and the BAR are refused on kernels before 5.15");
    return nullptr;
  }
  return start_or_skip(offset_words(gpu));
}

Result<os::OpenedRegisters> try_open(const Rig& rig, RegisterSource source) {
  return os::open_registers(only_gpu(rig), source, regdb::RegisterDatabase::built_in(),
                            roots_of(rig));
}

os::OpenedRegisters open(const Rig& rig, RegisterSource source = RegisterSource::kAuto) {
  auto opened = try_open(rig, source);
  REQUIRE_MESSAGE(opened.has_value(), test::error_text(opened));
  return std::move(*opened);
}

/// Where `name` comes from; empty when it is not offered.
std::string source_of(const os::OpenedRegisters& opened, std::string_view name) {
  for (const sampler::OfferedRegister& offered : opened.reader->registers()) {
    if (offered.name == name) {
      return offered.source;
    }
  }
  return {};
}

SampleState state_of_status3(const os::OpenedRegisters& opened, const Sample& sample) {
  for (std::size_t i = 0; i < sample.states.size(); ++i) {
    if (opened.reader->registers()[i].name == "GRBM_STATUS3") {
      return sample.states[i];
    }
  }
  return SampleState::kAbsent;
}

/// A whole sample in time. On a loaded machine one may come late.
Sample read_valid(const os::OpenedRegisters& opened) {
  constexpr int kTries = 100;
  Sample sample;
  for (int i = 0; i < kTries; ++i) {
    sample = read_sample(*opened.reader);
    if (std::find(sample.states.begin(), sample.states.end(), SampleState::kGuardLate) ==
        sample.states.end()) {
      break;
    }
  }
  return sample;
}

void check_offsets(const os::OpenedRegisters& opened) {
  const Sample sample = read_valid(opened);
  CHECK(state_of(sample) == SampleState::kValid);
  for (std::size_t i = 0; i < sample.words.size(); ++i) {
    CHECK(sample.words[i] == (0xab000000U | opened.reader->registers()[i].dword_offset));
  }
}

}  // namespace

TEST_CASE("auto takes from amdgpu_regs2 what the ioctl refuses, and opens nothing for writing") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  CHECK(source_of(opened, "GRBM_STATUS3") == "debugfs regs2");
  CHECK(source_of(opened, "GRBM_STATUS") == "drm ioctl");
  CHECK(opened.notes.empty());
  check_offsets(opened);
  CHECK(rig->control().regs_reads > 0);
  CHECK(rig->control().writes_attempted == 0);
}

TEST_CASE("shader engines beyond the fourth come from debugfs too") {
  const auto rig = start(find_gpu_model("rx7900xtx").value_or(default_gpu_model()));
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  CHECK(opened.shader_engines == 6);
  CHECK(source_of(opened, "GRBM_STATUS_SE3") == "drm ioctl");
  CHECK(source_of(opened, "GRBM_STATUS_SE4") == "debugfs regs2");
  CHECK(source_of(opened, "GRBM_STATUS_SE5") == "debugfs regs2");
  check_offsets(opened);
}

TEST_CASE("older kernels and locked ones leave the next best way") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const auto source = [&] {
    const os::OpenedRegisters opened = open(*rig);
    check_offsets(opened);
    return source_of(opened, "GRBM_STATUS3");
  };
  rig->control().regs2_v1_only = 1;
  CHECK(source() == "debugfs regs2");
  rig->control().no_regs2 = 1;
  CHECK(source() == "debugfs regs");
  for (const int error : {EPERM, EACCES, ENOENT}) {
    rig->control().debugfs_errno = static_cast<std::uint32_t>(error);
    CHECK(source() == "bar");
  }
  CHECK(rig->control().writes_attempted == 0);
}

TEST_CASE("without any way auto goes on with the ioctl and says what is lost and why") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  rig->control().debugfs_errno = EPERM;
  rig->control().bar_all_ones = 1;
  const os::OpenedRegisters opened = open(*rig);
  CHECK(source_of(opened, "GRBM_STATUS3").empty());
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kValid);
  REQUIRE(opened.notes.size() == 1);
  CHECK(opened.notes[0].find("GRBM_STATUS3") != std::string::npos);
  CHECK(opened.notes[0].find("Operation not permitted") != std::string::npos);
  CHECK(opened.notes[0].find("all ones") != std::string::npos);
  for (const RegisterSource source : {RegisterSource::kDebugfs, RegisterSource::kBar}) {
    CHECK_FALSE(try_open(*rig, source).has_value());
  }
}

TEST_CASE("a register that debugfs refuses does not come from there") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  rig->control().privileged_denied_offset = 0x2007;
  CHECK(source_of(open(*rig), "GRBM_STATUS3") == "bar");
}

TEST_CASE("each GPU gives all its registers through debugfs alone and through the BAR alone") {
  for (const std::string_view key : {"780m", "rx9070xt", "rx6800", "vega64", "rx580", "hd7970"}) {
    CAPTURE(key);
    const auto rig = start(find_gpu_model(key).value_or(default_gpu_model()));
    if (!rig) {
      return;
    }
    const std::size_t count = names(*open(*rig).reader).size();
    for (const auto& [source, name] : {std::pair{RegisterSource::kDebugfs, "debugfs regs2"},
                                       std::pair{RegisterSource::kBar, "bar"}}) {
      const os::OpenedRegisters opened = open(*rig, source);
      CHECK(opened.reader->registers().size() == count);
      CHECK(source_of(opened, "GRBM_STATUS") == name);
      check_offsets(opened);
    }
  }
}

TEST_CASE("all ones end the privileged way for good and the ioctl goes on") {
  struct Way {
    std::uint32_t debugfs_errno;
    RigControl::Switch RigControl::* all_ones;
  };
  for (const Way way :
       {Way{0, &RigControl::debugfs_all_ones}, Way{EPERM, &RigControl::bar_all_ones}}) {
    const auto rig = start();
    if (!rig) {
      return;
    }
    rig->control().debugfs_errno = way.debugfs_errno;
    const os::OpenedRegisters opened = open(*rig);
    check_offsets(opened);
    rig->control().*way.all_ones = 1;
    CHECK(state_of_status3(opened, read_valid(opened)) == SampleState::kLost);
    const auto lost = opened.reader->drop_lost();
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].name == "GRBM_STATUS3");
    CHECK(lost[0].reason.find("all ones") != std::string::npos);
    rig->control().*way.all_ones = 0;
    const std::uint64_t reads = rig->control().regs_reads;
    check_offsets(opened);
    CHECK(source_of(opened, "GRBM_STATUS3").empty());
    CHECK(rig->control().regs_reads == reads);
  }
}

TEST_CASE("with GFXOFF no read misses its guard, at a run and after every idle while") {
  for (const RegisterSource source :
       {RegisterSource::kAuto, RegisterSource::kDebugfs, RegisterSource::kBar}) {
    const auto rig = start();
    if (!rig) {
      return;
    }
    rig->control().gfx_off = 1;
    const os::OpenedRegisters opened = open(*rig, source);
    constexpr int kIdleWhiles = 8;
    constexpr int kRun = 200;
    for (int i = 0; i < kIdleWhiles; ++i) {
      REQUIRE(rig->wait_for_power_down());
      check_offsets(opened);
      for (int j = 0; j < kRun; ++j) {
        read_sample(*opened.reader);
      }
    }
    check_offsets(opened);
    CHECK(opened.reader->drop_lost().empty());
    CHECK(rig->control().unguarded_reads == 0);
    CHECK(rig->control().power_downs >= kIdleWhiles);
    CHECK((rig->control().regs_reads > 0) == (source != RegisterSource::kBar));
  }
}

TEST_CASE("a privileged read that returns too late has no word") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  rig->control().late_privileged_read = 60;
  const Sample sample = read_sample(*opened.reader);
  CHECK(state_of_status3(opened, sample) == SampleState::kGuardLate);
  CHECK(sample.states[0] == SampleState::kValid);
  rig->control().late_privileged_read = 0;
  check_offsets(opened);
}

TEST_CASE("a privileged read that hangs until the guard is over has no word") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  REQUIRE(rig->wait_for_power_down());
  rig->hold_privileged_reads();
  Sample sample;
  std::thread reading([&] {
    do {
      sample = read_sample(*opened.reader);
    } while (rig->control().hold_privileged_reads != 0);  // the first one was late by itself
  });
  CHECK(rig->wait_for_held_read());
  CHECK(rig->wait_for_power_down());
  CHECK(only_gpu(*rig).runtime_status == "active");  // the rest still answers
  rig->release_reads();
  reading.join();
  CHECK(state_of_status3(opened, sample) == SampleState::kGuardLate);
  check_offsets(opened);
}

TEST_CASE("a sleeping GPU is touched by no privileged way") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  rig->control().suspended = 1;
  for (const RegisterSource source :
       {RegisterSource::kAuto, RegisterSource::kDebugfs, RegisterSource::kBar}) {
    const auto opened = try_open(*rig, source);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == ErrorCode::kBusy);
  }
  CHECK(rig->control().opens + rig->control().ioctls + rig->control().regs_reads == 0);

  rig->control().suspended = 0;
  const os::OpenedRegisters opened = open(*rig);
  check_offsets(opened);
  const std::uint64_t touches = rig->control().ioctls + rig->control().regs_reads;
  rig->control().suspended = 1;
  const std::int64_t later_ns = monotonic_now_ns() + 10 * kNsPerSecond;
  CHECK(state_of(read_sample(*opened.reader, later_ns)) == SampleState::kAsleep);
  CHECK(rig->control().ioctls + rig->control().regs_reads == touches);
  CHECK(rig->control().touched_while_suspended == 0);
}

TEST_CASE("a reset keeps the privileged way closed while it lasts and no longer") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  const std::uint64_t reads = rig->control().regs_reads;
  rig->control().read_errno = ENOENT;
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kReset);
  CHECK(rig->control().regs_reads == reads);
  rig->control().read_errno = 0;
  check_offsets(opened);
  CHECK(opened.reader->drop_lost().empty());
}

TEST_CASE("an unplugged GPU is lost with all its registers, and a load from its BAR fails") {
  const auto rig = start();
  if (!rig) {
    return;
  }
  const os::OpenedRegisters opened = open(*rig);
  const std::size_t count = opened.reader->registers().size();
  const std::vector<sampler::OfferedRegister> status3{{"GRBM_STATUS3", 0x2007, "bar"}};
  const auto bar = os::open_register_bar(only_gpu(*rig), {11, 0, 1}, status3, roots_of(*rig));
  REQUIRE_MESSAGE(bar.has_value(), test::error_text(bar));
  std::vector<std::uint32_t> words(1);
  CHECK((*bar)->read(0x2007, words) == 0);
  rig->control().unplugged = 1;
  CHECK(state_of(read_sample(*opened.reader)) == SampleState::kLost);
  CHECK(opened.reader->drop_lost().size() == count);
  CHECK(opened.reader->registers().empty());
  CHECK((*bar)->read(0x2007, words) == ENODEV);
}

}  // namespace gputrace::rig
