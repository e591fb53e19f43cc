#include "daemon/os/render_node_reader.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <map>
#include <vector>

#include "daemon/base/time.h"

using namespace gputrace;           // NOLINT(google-build-using-namespace)
using namespace gputrace::os;       // NOLINT(google-build-using-namespace)
using namespace gputrace::sampler;  // NOLINT(google-build-using-namespace)

namespace {

/// The words are the offsets; a call may fail as a whole by the offset it begins with, or because
/// one register is outside the list, as in the kernel.
struct FakeNode {
  struct Call {
    std::uint32_t offset;
    std::size_t count;
    bool operator==(const Call&) const = default;
  };

  RenderNodeAccess access() {
    return {[this](std::uint32_t offset, std::span<std::uint32_t> words) {
              calls.push_back({offset, words.size()});
              now_ns += 1500;
              for (std::size_t i = 0; i < words.size(); ++i) {
                const auto reg = offset + static_cast<std::uint32_t>(i);
                if (const auto error = errors.find(reg); error != errors.end()) {
                  return error->second;
                }
                words[i] = 0xab000000U | reg;
              }
              return 0;
            },
            [this] {
              ++checks;
              return asleep;
            },
            [this] { return now_ns; }, "/dev/dri/renderD128"};
  }

  std::vector<Call> calls;
  std::map<std::uint32_t, int> errors;  ///< by register
  bool asleep = false;
  int checks = 0;
  std::int64_t now_ns = 100 * kNsPerSecond;
};

std::vector<OfferedRegister> offers(const std::vector<std::uint32_t>& offsets) {
  std::vector<OfferedRegister> registers;
  registers.reserve(offsets.size());
  for (const std::uint32_t offset : offsets) {
    registers.push_back({"R" + std::to_string(offset), offset, "drm ioctl"});
  }
  return registers;
}

// GRBM_STATUS, STATUS2, SE0 to SE3 in the order of the database.
const std::vector<std::uint32_t> kNavi{0x2004, 0x2002, 0x2005, 0x2006, 0x200e, 0x200f};

struct Sample {
  std::vector<std::uint32_t> words;
  std::vector<SampleState> states;
  std::vector<std::uint32_t> cost_ns;
};

Sample read_once(RenderNodeReader& reader, FakeNode& node, std::int64_t after_ns = kNsPerMs) {
  node.now_ns += after_ns;
  const std::size_t count = reader.registers().size();
  Sample sample{std::vector<std::uint32_t>(count), std::vector<SampleState>(count),
                std::vector<std::uint32_t>(count, 99)};
  reader.read(node.now_ns, {sample.words, sample.states, sample.cost_ns});
  return sample;
}

std::vector<SampleState> all(std::size_t count, SampleState state) {
  return std::vector<SampleState>(count, state);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("neighbouring registers are read in one call and land in their own slots") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  const Sample sample = read_once(reader, node);
  CHECK(node.calls == std::vector<FakeNode::Call>{{0x2002, 1}, {0x2004, 3}, {0x200e, 2}});
  for (std::size_t i = 0; i < kNavi.size(); ++i) {
    CHECK(sample.words[i] == (0xab000000U | kNavi[i]));
    CHECK(sample.states[i] == SampleState::kValid);
    CHECK(sample.cost_ns[i] == 1500);
  }
}

TEST_CASE("a GPU with one shader engine needs two calls") {
  const auto groups = group_neighbours(offers({0x2004, 0x2002, 0x2005}));
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].first_offset == 0x2002);
  CHECK(groups[0].slots == std::vector<std::size_t>{1});
  CHECK(groups[1].first_offset == 0x2004);
  CHECK(groups[1].slots == std::vector<std::size_t>{0, 2});
  CHECK(group_neighbours({}).empty());
}

TEST_CASE("a probe accepts what the kernel reads and finds the one register that it refuses") {
  FakeNode node;
  CHECK(probe_registers(offers(kNavi), node.access()).accepted.size() == 6);
  CHECK(node.calls.size() == 3);

  node.errors[0x2005] = EFAULT;
  const ProbeOutcome outcome = probe_registers(offers(kNavi), node.access());
  CHECK(outcome.error == 0);
  REQUIRE(outcome.refused.size() == 1);
  CHECK(outcome.refused[0].dword_offset == 0x2005);
  REQUIRE(outcome.accepted.size() == 5);
  CHECK(outcome.accepted[0].dword_offset == 0x2004);  // order kept

  node.errors[0x2002] = EFAULT;  // alone in its group
  CHECK(probe_registers(offers(kNavi), node.access()).refused.size() == 2);
}

TEST_CASE("a probe during a reset accepts, any other failure is reported") {
  FakeNode node;
  node.errors[0x2004] = ENOENT;
  CHECK(probe_registers(offers(kNavi), node.access()).accepted.size() == 6);
  node.errors[0x2004] = EINVAL;
  CHECK(probe_registers(offers(kNavi), node.access()).error == EINVAL);
}

TEST_CASE("a reset is a state that passes") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  for (const std::uint32_t offset : kNavi) {
    node.errors[offset] = ENOENT;
  }
  CHECK(read_once(reader, node).states == all(6, SampleState::kReset));
  CHECK(reader.last_error().empty());
  CHECK(reader.drop_lost().empty());
  node.errors.clear();
  CHECK(read_once(reader, node).states == all(6, SampleState::kValid));
}

TEST_CASE("an unknown errno is a read error, of that group alone, and is told in words") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  node.errors[0x2002] = EIO;
  const Sample sample = read_once(reader, node);
  CHECK(sample.states[0] == SampleState::kValid);
  CHECK(sample.states[1] == SampleState::kReadError);
  CHECK(has(reader.last_error(), "0x2002"));
  CHECK(has(reader.last_error(), "/dev/dri/renderD128"));
  CHECK(has(reader.last_error(), "Input/output error"));
  CHECK(reader.drop_lost().empty());
}

TEST_CASE("an unplugged device, or a dead server behind the node, loses every register at once") {
  for (const int error : {ENODEV, ENXIO, ENOTCONN}) {
    CAPTURE(error);
    FakeNode node;
    RenderNodeReader reader(offers(kNavi), node.access());
    CHECK(read_once(reader, node).states == all(6, SampleState::kValid));
    node.errors[0x200f] = error;  // in the last call of the tick
    CHECK(read_once(reader, node).states == all(6, SampleState::kLost));
    const auto lost = reader.drop_lost();
    REQUIRE(lost.size() == 6);
    CHECK(lost[0].name == "R8196");
    CHECK(has(lost[0].reason, "unplugged"));
    CHECK(has(lost[0].reason, "/dev/dri/renderD128"));
    CHECK(lost[0].reason == lost[5].reason);  // can be said once for all of them
    CHECK(reader.registers().empty());
  }
}

TEST_CASE("a group that the kernel refuses in mid-run is lost, the others go on") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  node.errors[0x2005] = EFAULT;
  const Sample sample = read_once(reader, node);
  CHECK(sample.states == std::vector<SampleState>{SampleState::kLost, SampleState::kValid,
                                                  SampleState::kLost, SampleState::kLost,
                                                  SampleState::kValid, SampleState::kValid});
  const auto lost = reader.drop_lost();
  REQUIRE(lost.size() == 3);
  CHECK(has(lost[1].reason, "0x2005"));
  CHECK(has(lost[1].reason, "no longer allows"));
  REQUIRE(reader.registers().size() == 3);
  CHECK(reader.registers()[0].dword_offset == 0x2002);
  const Sample next = read_once(reader, node);
  CHECK(next.words == std::vector<std::uint32_t>{0xab002002, 0xab00200e, 0xab00200f});
  CHECK(next.states == all(3, SampleState::kValid));
}

TEST_CASE("a sleeping device is not touched and looked at ten times a second at most") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  node.asleep = true;
  for (int tick = 0; tick < 1000; ++tick) {
    const Sample sample = read_once(reader, node);
    REQUIRE(sample.states == all(6, SampleState::kAsleep));
    REQUIRE(sample.cost_ns[0] == 0);
  }
  CHECK(node.calls.empty());
  CHECK(node.checks == 10);
  node.asleep = false;
  int until_valid = 1;
  while (read_once(reader, node).states[0] == SampleState::kAsleep) {
    ++until_valid;
  }
  CHECK(until_valid <= 100);
}

TEST_CASE("at 1 kHz an awake device costs no look at its status in most ticks") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  for (int tick = 0; tick < 1000; ++tick) {
    REQUIRE(read_once(reader, node, kNsPerMs - 4500).states[0] == SampleState::kValid);
  }
  CHECK(node.checks == 10);
}

TEST_CASE("after 50 ms without a successful call every tick looks before it touches") {
  FakeNode node;
  RenderNodeReader reader(offers(kNavi), node.access());
  CHECK(read_once(reader, node).states[0] == SampleState::kValid);
  node.asleep = true;
  node.calls.clear();
  CHECK(read_once(reader, node, 60 * kNsPerMs).states[0] == SampleState::kAsleep);
  CHECK(node.calls.empty());

  // Calls that fail do not count: the device may have been put to sleep meanwhile.
  node.asleep = false;
  for (const std::uint32_t offset : kNavi) {
    node.errors[offset] = EIO;
  }
  static_cast<void>(read_once(reader, node, 100 * kNsPerMs));
  const int before = node.checks;
  for (int tick = 0; tick < 20; ++tick) {
    static_cast<void>(read_once(reader, node));
  }
  CHECK(node.checks == before + 20);
}

TEST_CASE("all ones are handed on as read: the loop alone judges them") {
  FakeNode node;
  auto access = node.access();
  access.read_registers = [](std::uint32_t, std::span<std::uint32_t> words) {
    for (std::uint32_t& word : words) {
      word = 0xffffffff;
    }
    return 0;
  };
  RenderNodeReader reader(offers({0x2004}), std::move(access));
  const Sample sample = read_once(reader, node);
  CHECK(sample.words[0] == 0xffffffff);
  CHECK(sample.states[0] == SampleState::kValid);
}
