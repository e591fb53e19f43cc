// Which GPU the workload uses: the rule, and the process that looks.
#include "cli/commands/record/gpu_use.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <string>
#include <vector>

#include "cli/commands/record/gpu_choice.h"
#include "daemon/base/time.h"
#include "tests/cli/commands/record/fake_proc.h"

namespace gputrace::commands {
namespace {

using test::amdgpu_fdinfo;
using test::FakeProc;

const char* const kApu = "0000:65:00.0";
const char* const kDiscrete = "0000:03:00.0";
constexpr std::int64_t kPatienceMs = 60'000;

/// Half a second after another, each with what the clients on both GPUs have worked in all.
class Readings {
 public:
  explicit Readings(const std::string& recorded) : choice_(recorded) {}
  std::optional<std::string> next(std::uint64_t apu_ms, std::uint64_t discrete_ms,
                                  const char* engine = "gfx") {
    now_ns_ += kNsPerSecond / 2;
    const auto ns = [](std::uint64_t ms) { return ms * static_cast<std::uint64_t>(kNsPerMs); };
    return choice_.take({now_ns_,
                         {{50, "game", kApu, 1, {{engine, ns(apu_ms)}}},
                          {50, "game", kDiscrete, 1, {{engine, ns(discrete_ms)}}}},
                         0,
                         0});
  }
  GpuChoice& choice() { return choice_; }

 private:
  GpuChoice choice_;
  std::int64_t now_ns_ = kNsPerSecond;
};

TEST_CASE("to have another GPU open does not count, work there in two readings in a row does") {
  Readings readings(kApu);
  CHECK_FALSE(readings.next(0, 0));
  CHECK_FALSE(readings.next(0, 0));
  CHECK_FALSE(readings.next(0, 200));
  CHECK(readings.next(0, 400) == kDiscrete);
  CHECK(readings.next(0, 600) == kDiscrete);
  readings.choice().switched_to(kDiscrete);
  CHECK_FALSE(readings.next(0, 800));
  CHECK_FALSE(readings.next(0, 1000));
}

TEST_CASE("work of a client before it was seen does not count") {
  Readings readings(kApu);
  CHECK_FALSE(readings.next(0, 5000));
  CHECK_FALSE(readings.next(0, 5000));
  CHECK_FALSE(readings.next(0, 5000));
}

TEST_CASE("one burst of work, or too little, does not change the GPU") {
  Readings readings(kApu);
  CHECK_FALSE(readings.next(0, 0));
  CHECK_FALSE(readings.next(0, 100));
  CHECK_FALSE(readings.next(0, 100));
  CHECK_FALSE(readings.next(0, 200));
  CHECK_FALSE(readings.next(0, 204));  // 4 ms of 500
  CHECK_FALSE(readings.next(0, 208));
}

TEST_CASE("a workload that uses the recorded GPU too keeps it") {
  Readings readings(kApu);
  CHECK_FALSE(readings.next(0, 0));
  CHECK_FALSE(readings.next(50, 400));
  CHECK_FALSE(readings.next(100, 800));
  CHECK_FALSE(readings.next(139, 1200));  // a tenth is the border
  CHECK(readings.next(178, 1600) == kDiscrete);
}

TEST_CASE("copies and video elsewhere do not change the GPU") {
  Readings readings(kApu);
  for (std::uint64_t i = 0; i < 5; ++i) {
    CHECK_FALSE(readings.next(0, i * 400, "dma"));
  }
}

TEST_CASE("looks are half a second apart, closer at first, and rarer when they are dear") {
  CHECK(next_look_ns(1, 0) == 50 * kNsPerMs);
  CHECK(next_look_ns(2, 0) == 100 * kNsPerMs);
  CHECK(next_look_ns(4, 0) == 400 * kNsPerMs);
  CHECK(next_look_ns(5, 0) == 500 * kNsPerMs);
  CHECK(next_look_ns(1'000'000, 5 * kNsPerMs) == 500 * kNsPerMs);
  CHECK(next_look_ns(1'000'000, 50 * kNsPerMs) == 5 * kNsPerSecond);
}

class FakeLink final : public RecorderLink {
 public:
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] Result<std::optional<ipc::Answer>> receive() override {
    return std::optional<ipc::Answer>();
  }
  [[nodiscard]] Status stop(const ipc::StopOrder& /*order*/) override { return {}; }
  [[nodiscard]] Status processes(const ipc::ProcessesOrder& order) override {
    readings.push_back(order);
    return {};
  }
  [[nodiscard]] Status switch_gpu(const ipc::SwitchOrder& order) override {
    switches.push_back(order.gpu);
    return {};
  }
  [[nodiscard]] Status point(const ipc::PointOrder& /*order*/) override { return {}; }
  [[nodiscard]] Delivery deliver(const RecordingEnd& /*end*/) override { return {}; }

  std::vector<ipc::ProcessesOrder> readings;
  std::vector<std::string> switches;
};

/// A workload of one process, 50, in a /proc of the test's own, and the laptop's two GPUs.
class Watched {
 public:
  explicit Watched(bool gpu_was_named) : use_(roots(), gpu_was_named) {
    proc_.add(1, 0);
    proc_.add(50, 1);
  }
  void begin() {
    ipc::ReadyAnswer ready;
    ready.pci = kApu;
    REQUIRE(use_.begin(ready, TreeRoots{{50}, std::nullopt, {}}));
  }
  /// Takes what comes until `holds`; the clients of the process work on meanwhile.
  template <class Holds>
  void take_until(Holds holds) {
    const std::int64_t deadline_ns = monotonic_now_ns() + kPatienceMs * kNsPerMs;
    while (!holds() && monotonic_now_ns() < deadline_ns) {
      pollfd socket{use_.fd(), POLLIN, 0};
      REQUIRE(::poll(&socket, 1, static_cast<int>(kPatienceMs)) == 1);
      use_.take(link_);
      work_ns_ += static_cast<std::uint64_t>(10 * kNsPerSecond);
      proc_.open_drm(50, 6, amdgpu_fdinfo(kDiscrete, 7, work_ns_));
    }
    REQUIRE(holds());
  }
  [[nodiscard]] os::SystemRoots roots() const {
    os::SystemRoots roots;
    roots.sys = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/laptop";
    roots.proc = proc_.path();
    roots.ids = std::filesystem::path(GPUTRACE_FIXTURES) / "sysfs/amdgpu.ids";
    return roots;
  }
  [[nodiscard]] const FakeProc& proc() const { return proc_; }
  [[nodiscard]] GpuUse& use() { return use_; }
  [[nodiscard]] FakeLink& link() { return link_; }

 private:
  FakeProc proc_;
  GpuUse use_;
  FakeLink link_;
  std::uint64_t work_ns_ = 0;
};

bool has(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST_CASE("readings go to the recorder, and it changes to the GPU that the workload uses, once") {
  Watched watched(/*gpu_was_named=*/false);
  watched.proc().open_drm(50, 5, amdgpu_fdinfo(kApu, 3, 0));
  watched.proc().open_drm(50, 6, amdgpu_fdinfo(kDiscrete, 7, 0));
  watched.begin();
  watched.take_until([&] { return !watched.link().switches.empty(); });
  CHECK(watched.link().switches == std::vector<std::string>{kDiscrete});
  REQUIRE(watched.link().readings.size() >= 3);
  CHECK(watched.link().readings[0].clients.size() == 2);
  CHECK(has(watched.use().notes(), kDiscrete));
  CHECK(watched.use().warnings().empty());
  const std::size_t so_far = watched.link().readings.size();
  watched.take_until([&] { return watched.link().readings.size() >= so_far + 2; });
  CHECK(watched.link().switches.size() == 1);
}

TEST_CASE("a GPU that was named is kept, and the mismatch is told") {
  Watched watched(/*gpu_was_named=*/true);
  watched.proc().open_drm(50, 6, amdgpu_fdinfo(kDiscrete, 7, 0));
  watched.begin();
  watched.take_until([&] { return !watched.use().warnings().empty(); });
  CHECK(watched.link().switches.empty());
  CHECK(watched.use().warnings().size() == 1);
  CHECK(has(watched.use().warnings(), kDiscrete));
  CHECK(has(watched.use().warnings(), "--gpu"));
}

TEST_CASE("another driver is told in a note, once") {
  Watched watched(/*gpu_was_named=*/false);
  watched.proc().open_drm(50, 5, test::fixture_text("i915.txt"));
  watched.begin();
  watched.take_until([&] { return has(watched.use().notes(), "i915"); });
}

TEST_CASE("without a workload nobody is watched") {
  GpuUse use({}, false);
  CHECK_FALSE(use.begin({}, std::nullopt));
  CHECK(use.fd() == -1);
}

}  // namespace
}  // namespace gputrace::commands
