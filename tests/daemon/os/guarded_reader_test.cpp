#include "daemon/os/guarded_reader.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "tests/daemon/os/fake_gpu.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::os;       // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)
using test::FakeGpu;
using test::read_once;
using test::Sample;

namespace {

using States = std::vector<SampleState>;
using Calls = std::vector<std::string>;

const std::vector<OfferedRegister> kByIoctl{{"GRBM_STATUS", 0x2004, "drm ioctl"},
                                            {"GRBM_STATUS2", 0x2002, "drm ioctl"}};
const std::vector<OfferedRegister> kGuarded{{"GRBM_STATUS3", 0x2007, "debugfs regs2"},
                                            {"GRBM_STATUS_SE5", 0x2011, "debugfs regs2"},
                                            {"GRBM_STATUS_SE4", 0x2010, "debugfs regs2"}};

std::unique_ptr<GuardedReader> both(FakeGpu& gpu) {
  return std::make_unique<GuardedReader>(gpu.node(kByIoctl), gpu.words(kGuarded),
                                         GuardedReader::Offer::kBoth);
}

std::unique_ptr<GuardedReader> guarded_only(FakeGpu& gpu) {
  auto node = gpu.node(kByIoctl);
  node->keep_first();
  return std::make_unique<GuardedReader>(std::move(node), gpu.words(kGuarded),
                                         GuardedReader::Offer::kGuardedOnly);
}

/// Two states for the ioctl's registers, three for the guarded ones.
States split(SampleState by_ioctl, SampleState guarded) {
  return {by_ioctl, by_ioctl, guarded, guarded, guarded};
}

std::vector<std::string> names(const RegisterReader& reader) {
  std::vector<std::string> result;
  for (const OfferedRegister& offered : reader.registers()) {
    result.push_back(offered.name);
  }
  return result;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the ioctl comes first, then power, then guarded reads, neighbours in one") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  CHECK(names(*reader) == std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS3",
                                                   "GRBM_STATUS_SE5", "GRBM_STATUS_SE4"});
  const Sample sample = read_once(*reader, gpu);
  CHECK(gpu.calls == Calls{"ioctl 2002+1", "ioctl 2004+1", "power", "read 2007+1", "read 2010+2"});
  CHECK(sample.words ==
        std::vector<std::uint32_t>{0xab002004, 0xab002002, 0xcd002007, 0xcd002011, 0xcd002010});
  CHECK(sample.states == split(SampleState::kValid, SampleState::kValid));
  CHECK(sample.cost_ns == std::vector<std::uint32_t>{1500, 1500, 900, 900, 900});
  CHECK(reader->last_error().empty());
}

TEST_CASE("an explicit source calls the ioctl for one register and offers it not") {
  FakeGpu gpu;
  const auto reader = guarded_only(gpu);
  CHECK(names(*reader) ==
        std::vector<std::string>{"GRBM_STATUS3", "GRBM_STATUS_SE5", "GRBM_STATUS_SE4"});
  const Sample sample = read_once(*reader, gpu);
  CHECK(gpu.calls == Calls{"ioctl 2004+1", "power", "read 2007+1", "read 2010+2"});
  CHECK(sample.words == std::vector<std::uint32_t>{0xcd002007, 0xcd002011, 0xcd002010});
}

TEST_CASE("when the ioctl fails there is no guarded read in this tick, and the next goes on") {
  for (const auto& [error, state] : {std::pair{ENOENT, SampleState::kReset},
                                     {EPERM, SampleState::kReadError},
                                     {EIO, SampleState::kReadError},
                                     {EINTR, SampleState::kReadError}}) {
    CAPTURE(error);
    FakeGpu gpu;
    const auto reader = both(gpu);
    gpu.ioctl_errno = error;
    CHECK(read_once(*reader, gpu).states == split(state, state));
    CHECK(gpu.reads() == 0);
    gpu.ioctl_errno = 0;
    CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kValid));
  }
}

TEST_CASE("one of several ioctls that fails forbids guarded reads as well") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.ioctl_errors[0x2002] = ENOENT;
  const Sample sample = read_once(*reader, gpu);
  CHECK(sample.states[0] == SampleState::kValid);
  CHECK(sample.states[1] == SampleState::kReset);
  CHECK(sample.states[2] == SampleState::kReset);
  CHECK(gpu.reads() == 0);
}

TEST_CASE("while the device sleeps neither path touches it, and both go on afterwards") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.node_asleep = true;
  const Sample sample = read_once(*reader, gpu);
  CHECK(sample.states == split(SampleState::kAsleep, SampleState::kAsleep));
  CHECK(sample.cost_ns == std::vector<std::uint32_t>(5, 0));
  CHECK(gpu.calls.empty());
  gpu.node_asleep = false;
  CHECK(read_once(*reader, gpu, kNsPerSecond).states ==
        split(SampleState::kValid, SampleState::kValid));
}

TEST_CASE("a device that is not active after the ioctl is not read") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.power = PowerState::kAsleep;
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kAsleep));
  CHECK(reader->last_error().empty());
  gpu.power = PowerState::kUnclear;
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kReadError));
  CHECK(has(reader->last_error(), "runtime_status"));
  CHECK(gpu.reads() == 0);
  gpu.power = PowerState::kActive;
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kValid));
}

TEST_CASE("20 ms after the ioctl returned it is too late to begin") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.power_takes_ns = 20 * kNsPerMs - 1 - gpu.read_takes_ns;  // SE4 and SE5 begin just in time
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kValid));

  gpu.power_takes_ns += 1;
  const Sample late = read_once(*reader, gpu);
  CHECK(late.states[2] == SampleState::kValid);
  CHECK(late.states[3] == SampleState::kGuardLate);
  CHECK(late.states[4] == SampleState::kGuardLate);
  CHECK(late.cost_ns[3] == 0);
  CHECK(gpu.calls.back() == "read 2007+1");

  gpu.power_takes_ns = 20 * kNsPerMs;
  const std::size_t before = gpu.reads();
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kGuardLate));
  CHECK(gpu.reads() == before);
}

TEST_CASE("50 ms after the ioctl returned a word counts no more, and the path goes on") {
  FakeGpu gpu;
  const auto reader = guarded_only(gpu);
  gpu.read_takes_ns = 50 * kNsPerMs;
  Sample sample = read_once(*reader, gpu);
  CHECK(sample.states[0] == SampleState::kValid);  // exactly 50
  CHECK(sample.states[1] == SampleState::kGuardLate);
  CHECK(gpu.reads() == 1);

  gpu.read_takes_ns += 1;
  sample = read_once(*reader, gpu);
  CHECK(sample.states[0] == SampleState::kGuardLate);
  CHECK(sample.cost_ns[0] == 50 * kNsPerMs + 1);

  gpu.read_takes_ns = 900;
  CHECK(read_once(*reader, gpu).states == States(3, SampleState::kValid));
}

TEST_CASE("an ioctl that took over 50 ms may have been done long before it returned") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.ioctl_takes_ns = 50 * kNsPerMs + 1;
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kGuardLate));
  CHECK(gpu.reads() == 0);
  gpu.ioctl_takes_ns = 50 * kNsPerMs;
  CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kValid));
}

TEST_CASE("an error of a guarded read ends that path, says why, and the ioctl goes on") {
  for (const int error : {EPERM, ENOENT, EIO, ENODEV, EINVAL, EFAULT}) {
    CAPTURE(error);
    FakeGpu gpu;
    const auto reader = both(gpu);
    gpu.read_errno = error;
    CHECK(read_once(*reader, gpu).states == split(SampleState::kValid, SampleState::kLost));
    CHECK(gpu.reads() == 1);  // not the second group

    const auto lost = reader->drop_lost();
    REQUIRE(lost.size() == 3);
    CHECK(lost[0].name == "GRBM_STATUS3");
    CHECK(lost[2].name == "GRBM_STATUS_SE4");
    CHECK(has(lost[0].reason, "read of 0x2007 on /debug/amdgpu_regs2: "));
    CHECK(has(lost[0].reason, "the other registers go on"));
    CHECK(lost[1].reason == lost[0].reason);

    gpu.read_errno = 0;
    CHECK(names(*reader) == std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2"});
    CHECK(read_once(*reader, gpu).states == States(2, SampleState::kValid));
    CHECK(gpu.reads() == 1);  // never again
    CHECK(reader->drop_lost().empty());
  }
}

TEST_CASE("one word of all ones ends the path for the session") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.read_words[0x2011] = 0xffffffff;
  const Sample sample = read_once(*reader, gpu);
  CHECK(sample.states == States{SampleState::kValid, SampleState::kValid, SampleState::kValid,
                                SampleState::kLost, SampleState::kLost});
  const auto lost = reader->drop_lost();
  REQUIRE(lost.size() == 3);
  CHECK(has(lost[0].reason, "0x2011"));
  CHECK(has(lost[0].reason, "all ones"));
  gpu.read_words.clear();
  CHECK(read_once(*reader, gpu).states == States(2, SampleState::kValid));
}

TEST_CASE("when the ioctl itself reads all ones the guarded path is spared") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.ioctl_all_ones = true;
  const Sample sample = read_once(*reader, gpu);
  CHECK(sample.states == split(SampleState::kValid, SampleState::kValid));
  CHECK(sample.words == std::vector<std::uint32_t>(5, 0xffffffff));  // the loop marks them
  CHECK(gpu.reads() == 0);
  gpu.ioctl_all_ones = false;
  CHECK(read_once(*reader, gpu).words[2] == 0xcd002007);
}

TEST_CASE("a device that is gone loses everything, with the ioctl's reason") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.ioctl_errno = ENODEV;
  CHECK(read_once(*reader, gpu).states == States(5, SampleState::kLost));
  const auto lost = reader->drop_lost();
  REQUIRE(lost.size() == 5);
  for (const LostRegister& reg : lost) {
    CHECK(has(reg.reason, "unplugged"));
  }
  CHECK(reader->registers().empty());
  CHECK(gpu.reads() == 0);
}

TEST_CASE("an ioctl that the kernel refuses in mid-run leaves the guard to the others") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.ioctl_errors[0x2002] = EFAULT;
  const Sample sample = read_once(*reader, gpu);
  CHECK(sample.states == States{SampleState::kValid, SampleState::kLost, SampleState::kValid,
                                SampleState::kValid, SampleState::kValid});
  const auto lost = reader->drop_lost();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].name == "GRBM_STATUS2");
  CHECK(read_once(*reader, gpu).states == States(4, SampleState::kValid));

  gpu.ioctl_errors[0x2004] = EFAULT;
  CHECK(read_once(*reader, gpu).states == States(4, SampleState::kLost));
  CHECK(reader->drop_lost().size() == 4);
  CHECK(reader->registers().empty());
}

TEST_CASE("an explicit source whose path or guard is lost has nothing left") {
  FakeGpu gpu;
  auto reader = guarded_only(gpu);
  gpu.read_errno = EIO;
  CHECK(read_once(*reader, gpu).states == States(3, SampleState::kLost));
  auto lost = reader->drop_lost();
  REQUIRE(lost.size() == 3);
  CHECK(has(lost[0].reason, "nothing more is recorded"));
  CHECK(reader->registers().empty());

  gpu.read_errno = 0;
  reader = guarded_only(gpu);
  gpu.ioctl_errno = ENODEV;
  CHECK(read_once(*reader, gpu).states == States(3, SampleState::kLost));
  lost = reader->drop_lost();
  REQUIRE(lost.size() == 3);
  CHECK(lost[0].name == "GRBM_STATUS3");
  CHECK(has(lost[0].reason, "unplugged"));
}

TEST_CASE("the ioctl's error is told before the guard's") {
  FakeGpu gpu;
  const auto reader = both(gpu);
  gpu.power = PowerState::kUnclear;
  read_once(*reader, gpu);
  gpu.ioctl_errno = EIO;
  read_once(*reader, gpu);
  CHECK(has(reader->last_error(), "READ_MMR_REG"));
}
