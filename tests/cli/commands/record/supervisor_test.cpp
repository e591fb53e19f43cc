// The whole of `record` on readers that misbehave: a read that hangs, a recorder that is killed.
#include "cli/commands/record/supervisor.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/store/session_reader.h"
#include "tests/cli/commands/record/record_rig.h"
#include "tests/support/fake_register_reader.h"

namespace gputrace::test {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// What the recorder process tells the test: memory that both see.
struct Shared {
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::int64_t> killed_ns{0};
};

class SharedMemory {
 public:
  SharedMemory() {
    void* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    GPUTRACE_CHECK(memory != MAP_FAILED);  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast)
    shared_ = new (memory) Shared;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  [[nodiscard]] Shared* operator->() const { return shared_; }
  [[nodiscard]] Shared* get() const { return shared_; }

 private:
  Shared* shared_;
};

struct Fault {
  std::uint64_t hang_at = kNever;  ///< this read never returns
  std::uint64_t kill_at = kNever;  ///< SIGKILL in this read
  int signal_at_start = 0;         ///< to the supervisor, before it hears that the GPU is open
  bool ignored = false;            ///< gputrace is started with that signal ignored
  std::vector<std::string> command = {};  ///< else one that ends when the recorder dies or hangs
};

/// The GPU of a recorder. It holds `sign` open, a FIFO, as long as its process lives; reads that
/// hang close it.
recorder::ReaderFactory faulty_gpu(const Fault& fault, const std::string& sign, Shared* shared) {
  return [=](const recorder::GpuRequest&) -> Result<recorder::OpenedGpu> {
    if (fault.signal_at_start != 0) {
      ::kill(::getppid(), fault.signal_at_start);
    }
    auto reader = std::make_unique<FakeRegisterReader>(
        std::vector<std::string>{"GRBM_STATUS", "GRBM_STATUS2"});
    reader->set_words(0, {0x3028, 0xa0003028, 0x3028, 0x3028, 0x80003028});
    const int held = ::open(sign.c_str(), O_RDWR | O_CLOEXEC);
    reader->block_at(fault.hang_at);
    reader->on_read([=](std::uint64_t index) {
      shared->reads.store(index + 1);
      if (index == fault.hang_at) {
        ::close(held);
      }
      if (index == fault.kill_at) {
        shared->killed_ns.store(monotonic_now_ns());
        ::kill(::getpid(), SIGKILL);
      }
    });
    recorder::OpenedGpu gpu;
    gpu.identity.name = "a GPU of the test";
    gpu.identity.gc = regdb::GcVersion{11, 0, 1};
    gpu.identity.simulated = true;
    gpu.regdb_table = "11.0.0";
    gpu.reader = std::move(reader);
    return gpu;
  };
}

/// A supervisor in a process of its own, recording a command that ends when the recorder has died
/// or hangs.
class FaultyRecording {
 public:
  explicit FaultyRecording(const Fault& fault) {
    const std::string sign = (rig_.folder() / "sign").string();
    GPUTRACE_CHECK(::mkfifo(sign.c_str(), 0600) == 0);
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ != 0) {
      said_.write_end.reset();
      return;
    }
    commands::RecordOptions options;
    options.output = rig_.file();
    options.no_daemon = true;
    options.rate_hz = 1000;
    options.source = "auto";
    // Opened here, for an open in the command would wait for a writer that may be gone already.
    const int seen = ::open(sign.c_str(), O_RDONLY | O_NONBLOCK);  // NOLINT(android-cloexec-open)
    GPUTRACE_CHECK(seen >= 0 && ::fcntl(seen, F_SETFL, 0) == 0);
    options.command = fault.command;
    if (fault.command.empty()) {
      options.command = {kProbe, "read", std::to_string(seen), "23"};
    }
    if (fault.ignored) {
      ::signal(fault.signal_at_start, SIG_IGN);
    }
    const LogSink log = [this](LogLevel, std::string_view text) {
      const std::string line = std::string(text) + "\n";
      GPUTRACE_CHECK(::write(said_.write_end.get(), line.data(), line.size()) > 0);
    };
    const Result<int> status =
        commands::record(options, faulty_gpu(fault, sign, shared_.get()), log);
    ::_exit(status.value_or(99));
  }

  int wait() {
    char byte = 0;
    while (::read(said_.read_end.get(), &byte, 1) == 1) {
      text_.push_back(byte);
    }
    int status = 0;
    GPUTRACE_CHECK(::waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  [[nodiscard]] bool said(const std::string& part) const {
    return text_.find(part) != std::string::npos;
  }
  [[nodiscard]] std::filesystem::path file() const { return rig_.file(); }
  [[nodiscard]] const SharedMemory& shared() const { return shared_; }

 private:
  RecordRig rig_;
  SharedMemory shared_;
  Pipe said_;
  pid_t pid_ = -1;
  std::string text_;
};

TEST_CASE("a read that hangs delays neither the exit status nor the end of the file") {
  FaultyRecording recording({.hang_at = 1500});
  CHECK(recording.wait() == 23);
  CHECK(recording.said("recorded"));
  const auto session = store::SessionReader::open(recording.file());
  REQUIRE(session);
  CHECK(session_end(recording.file()).exit_code == 23);
  const auto events = session->events();
  REQUIRE(events);
  CHECK(std::any_of(events->begin(), events->end(), [](const store::Event& event) {
    return event.text.find("had not returned") != std::string::npos;
  }));
}

TEST_CASE("a read that hangs at once leaves a whole file without samples") {
  FaultyRecording recording({.hang_at = 0});
  CHECK(recording.wait() == 23);
  CHECK(recording.said("no sample was taken"));
  const auto session = store::SessionReader::open(recording.file());
  REQUIRE(session);
  CHECK(session->end());
}

TEST_CASE("a signal that comes before the command waits for it") {
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    FaultyRecording recording({.signal_at_start = signal});  // the command would wait for ever
    CHECK(recording.wait() == 128 + signal);
    CHECK(session_end(recording.file()).signal == signal);
  }
}

TEST_CASE("a request to end that comes before the command is obeyed: it is not started") {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    FaultyRecording recording({.signal_at_start = signal});
    CHECK(recording.wait() == 128 + signal);
    CHECK(recording.said("not started"));
  }
}

TEST_CASE("nohup: a SIGHUP that comes before the command does not keep it from starting") {
  FaultyRecording recording(
      {.signal_at_start = SIGHUP, .ignored = true, .command = {kProbe, "exit", "23"}});
  CHECK(recording.wait() == 23);
}

/// Every period up to some time has its tick; what is lost is less than 2 s at the end.
void check_cut_session(const FaultyRecording& recording, std::uint64_t kill_at) {
  CAPTURE(kill_at);
  const auto session = store::SessionReader::open(recording.file());
  REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  CHECK_FALSE(session->end());
  REQUIRE(session->segments().size() == 1);
  const store::StoredSegment& segment = session->segments()[0];
  std::int64_t known_to_ns = segment.description.start_ns;
  std::optional<std::int64_t> first_ns;
  std::uint64_t ticks = 0;
  const Status visited =
      session->for_each_block(segment, std::nullopt, [&](const sampler::SampleBlock& block) {
        CHECK(block.dropped_ticks == 0);
        CHECK(block.start_ns == (first_ns ? known_to_ns : block.start_ns));
        first_ns = first_ns.value_or(block.start_ns);
        known_to_ns = block.end_ns;
        ticks += block.size + block.missed;
        return Status();
      });
  REQUIRE(visited);
  CHECK(recording.shared()->killed_ns - known_to_ns < 2 * kNsPerSecond);
  const std::int64_t known_ns = known_to_ns - first_ns.value_or(known_to_ns);
  CHECK(ticks == static_cast<std::uint64_t>((known_ns + kNsPerMs / 2) / kNsPerMs));
}

TEST_CASE("SIGKILL of the recorder at any moment loses at most the last 2 s") {
  constexpr std::size_t kKills = 52;
  constexpr std::size_t kAtOnce = 13;
  std::mt19937 random(1120);
  for (std::size_t done = 0; done < kKills; done += kAtOnce) {
    std::vector<std::pair<std::uint64_t, std::unique_ptr<FaultyRecording>>> batch;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      // Half of them in the 50 ms after a block was handed over, when the writer commits.
      // None before the recorder has said that it is ready, some milliseconds after its first read.
      const std::uint64_t kill_at =
          i % 2 == 0 ? 50 + random() % 3200 : 1000 * (1 + random() % 3) + random() % 50;
      batch.emplace_back(kill_at, std::make_unique<FaultyRecording>(Fault{.kill_at = kill_at}));
    }
    for (auto& [kill_at, recording] : batch) {
      CHECK(recording->wait() == 23);
      CHECK(recording->said("the recorder process was ended by something else"));
      check_cut_session(*recording, kill_at);
    }
  }
}

}  // namespace
}  // namespace gputrace::test
