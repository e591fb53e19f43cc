// The import command on real files: what it writes, what it leaves alone, what it cleans up.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_database.h"
#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

namespace fs = std::filesystem;

const std::string kWords =
    "# gputrace-regs v1\n"
    "# gc=11.0.1\n"
    "time_ns,GRBM_STATUS,GRBM_STATUS2\n";

std::string dump_line(int second, const std::string& gpu) {
  return fmt::format(
      "{}.84311: bus c4, gpu {}%, ee 0.00%, vgt 0.00%, ta 0.83%, sx 0.00%, sh 0.00%, spi 0.00%, sc "
      "0.00%, pa 0.00%, db 0.00%, cb 0.00%, vram 5.00% 409.60mb\n",
      1'700'000'000 + second, gpu);
}

fs::path write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A standard stream of the process stands for another file until the end of the scope.
class Redirected {
 public:
  Redirected(int stream, const fs::path& path, int flags)
      : stream_(stream), saved_(::fcntl(stream, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    const UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    REQUIRE(file);
    REQUIRE(::dup2(file.get(), stream_) == stream_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    std::fflush(stdout);
    ::dup2(saved_.get(), stream_);
  }

 private:
  int stream_;
  UniqueFd saved_;
};

struct Outcome {
  Result<int> status;
  std::string printed;
};

Outcome import_files(const fs::path& folder, const std::vector<std::string>& arguments) {
  const fs::path output = folder.parent_path() / (folder.filename().string() + ".stdout");
  Outcome outcome;
  {
    const Redirected redirected(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
    outcome.status = run_import(arguments);
  }
  outcome.printed = read_file(output);
  fs::remove(output);
  return outcome;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("a register CSV becomes a session with the very words of the file") {
  const test::TempDir dir;
  std::string text = kWords;
  for (std::int64_t i = 0; i < 2'500; ++i) {
    text += fmt::format("{},0x{:08x},{}\n", 7'000'000 + i * kNsPerMs, 0xa0003028U + (i % 5 << 8),
                        i % 3 == 0 ? "" : "8");
  }
  const fs::path session = dir.path() / "s.gputrace";
  const Outcome outcome = import_files(
      dir.path(), {write_file(dir.path() / "w.csv", text).string(), "-o", session.string()});
  REQUIRE(outcome.status.has_value());
  CHECK(*outcome.status == 0);
  CHECK(contains(outcome.printed, "2500 samples over 2.500 s: GRBM_STATUS, GRBM_STATUS2"));
  CHECK(contains(outcome.printed, "834 empty cells"));
  CHECK(contains(outcome.printed, session.string()));
  CHECK(files_in(dir.path()) == 2);

  const auto reader = store::SessionReader::open(session);
  REQUIRE(reader.has_value());
  CHECK(reader->description().kind == store::SessionKind::kImport);
  CHECK(reader->description().origin == "register CSV w.csv");
  CHECK_FALSE(reader->description().started.has_value());
  REQUIRE(reader->end().has_value());
  REQUIRE(reader->segments().size() == 1);
  const store::StoredSegment& segment = reader->segments().front();
  CHECK(segment.totals.ticks == 2'500);
  std::int64_t tick = 0;
  const Status visited = reader->for_each_block(
      segment, std::nullopt, [&tick](const sampler::SampleBlock& block) -> Status {
        for (std::size_t i = 0; i < block.size; ++i, ++tick) {
          CHECK(block.time_ns[i] == 7'000'000 + tick * kNsPerMs);
          CHECK(block.words_of(0)[i] == 0xa0003028U + (static_cast<std::uint32_t>(tick % 5) << 8U));
          CHECK((block.states_of(1)[i] == sampler::SampleState::kAbsent) == (tick % 3 == 0));
        }
        return {};
      });
  CHECK(visited.has_value());
  CHECK(tick == 2'500);
}

TEST_CASE("a radeontop dump becomes window means without samples") {
  const test::TempDir dir;
  const fs::path session = dir.path() / "s.gputrace";
  const fs::path file = write_file(
      dir.path() / "d.txt", dump_line(0, "14.17") + dump_line(1, "50.00") + dump_line(2, "100.00"));
  const Outcome outcome = import_files(dir.path(), {file.string(), "-o", session.string()});
  REQUIRE(outcome.status.has_value());
  CHECK(contains(outcome.printed, "3 windows over 3.000 s: radeontop"));
  const auto reader = store::SessionReader::open(session);
  REQUIRE(reader.has_value());
  const auto means = reader->window_means(reader->segments().front());
  REQUIRE(means.has_value());
  CHECK(means->size() == 33);
  const auto map = regdb::RegisterDatabase::built_in().map_for_table("radeontop");
  REQUIRE(map.has_value());
  const auto* const gpu = map->registers.front().find_field("gpu");
  REQUIRE(gpu != nullptr);
  const auto found = std::find_if(means->begin(), means->end(), [gpu](const auto& mean) {
    return mean.bit == gpu->shift && mean.busy > 0.4 && mean.busy < 0.6;
  });
  REQUIRE(found != means->end());
  CHECK(found->busy == doctest::Approx(0.5));
  CHECK(found->samples == 120U);
  CHECK(found->end_ns - found->start_ns == kNsPerSecond);
  REQUIRE(reader->description().started.has_value());
  CHECK(reader->description().started->realtime_ns == 1'699'999'999'084'311'000);
}

TEST_CASE("what was imported with --lenient is counted in the output and in the session") {
  const test::TempDir dir;
  const fs::path session = dir.path() / "s.gputrace";
  const fs::path file =
      write_file(dir.path() / "w.csv", kWords + "1000,1,1\n500,1,1\n2000,1,1,1\n3000,1,1\n");
  const Outcome outcome =
      import_files(dir.path(), {"--lenient", file.string(), "-o", session.string()});
  REQUIRE(outcome.status.has_value());
  CHECK(contains(outcome.printed, "2 bad lines left out:\n    w.csv:5:1: time_ns: time runs"));
  const auto reader = store::SessionReader::open(session);
  REQUIRE(reader.has_value());
  const auto events = reader->events();
  REQUIRE(events.has_value());
  REQUIRE(events->size() == 1);
  CHECK(events->front().kind == "warning");
}

TEST_CASE("a failed import leaves nothing behind") {
  const test::TempDir dir;
  const fs::path file = write_file(dir.path() / "w.csv", kWords + "1000,1,1\n1000,1,1\n");
  const Outcome outcome =
      import_files(dir.path(), {file.string(), "-o", (dir.path() / "s.gputrace").string()});
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(contains(outcome.status.error().message, "w.csv:5:1: time_ns: 1000 repeats"));
  CHECK(outcome.printed.empty());
  CHECK(files_in(dir.path()) == 1);
}

TEST_CASE("an existing session survives without --force, and also a failed import with it") {
  const test::TempDir dir;
  const fs::path session = write_file(dir.path() / "s.gputrace", "precious");
  const std::string good = write_file(dir.path() / "good.csv", kWords + "1000,1,1\n").string();
  const std::string bad = write_file(dir.path() / "bad.csv", kWords + "x,1,1\n").string();

  Outcome outcome = import_files(dir.path(), {good, "-o", session.string()});
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(outcome.status.error().code == ErrorCode::kExists);
  CHECK(contains(outcome.status.error().message, "--force"));
  CHECK(read_file(session) == "precious");

  outcome = import_files(dir.path(), {bad, "-o", session.string(), "--force"});
  CHECK_FALSE(outcome.status.has_value());
  CHECK(read_file(session) == "precious");

  write_file(session.string() + "-wal", "of the old file");
  outcome = import_files(dir.path(), {good, "-o", session.string(), "--force"});
  CHECK(outcome.status.has_value());
  CHECK(store::SessionReader::open(session).has_value());
  CHECK_FALSE(fs::exists(session.string() + "-wal"));
  CHECK(files_in(dir.path()) == 3);
}

TEST_CASE("a link, a folder and the imported file itself are never written to") {
  const test::TempDir dir;
  const std::string good = write_file(dir.path() / "good.csv", kWords + "1000,1,1\n").string();
  const fs::path target = write_file(dir.path() / "target", "precious");
  fs::create_symlink(target, dir.path() / "link");
  fs::create_directory(dir.path() / "folder");
  for (const char* const name : {"link", "folder", "good.csv"}) {
    CAPTURE(name);
    const Outcome outcome =
        import_files(dir.path(), {good, "--force", "-o", (dir.path() / name).string()});
    REQUIRE_FALSE(outcome.status.has_value());
    CHECK(outcome.status.error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(read_file(target) == "precious");
  CHECK(contains(read_file(good), "gputrace-regs"));
}

TEST_CASE("a folder that does not exist and a file that does not exist are named") {
  const test::TempDir dir;
  const std::string good = write_file(dir.path() / "good.csv", kWords + "1000,1,1\n").string();
  Outcome outcome =
      import_files(dir.path(), {good, "-o", (dir.path() / "gone" / "s.gputrace").string()});
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(contains(outcome.status.error().message, (dir.path() / "gone").string()));
  outcome = import_files(dir.path(), {(dir.path() / "no.csv").string(), "-o", "unused.gputrace"});
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(outcome.status.error().code == ErrorCode::kNotFound);
  outcome = import_files(dir.path(), {dir.path().string(), "-o", (dir.path() / "s").string()});
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(contains(outcome.status.error().message, "Is a directory"));
}

TEST_CASE("standard input is read with -, and -q is silent") {
  const test::TempDir dir;
  const fs::path file = write_file(dir.path() / "d.txt",
                                   "Dumping to -, until termination.\n" + dump_line(0, "14.17"));
  const fs::path session = dir.path() / "s.gputrace";
  const Redirected input(STDIN_FILENO, file, O_RDONLY);
  const Outcome outcome = import_files(dir.path(), {"-q", "-", "-o", session.string()});
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.printed.empty());
  const auto reader = store::SessionReader::open(session);
  REQUIRE(reader.has_value());
  CHECK(reader->description().origin == "radeontop dump standard input");
}

/// A process that imports standard input from a pipe; it has read some of it when this returns.
struct PipedImport {
  pid_t pid = -1;
  UniqueFd input;

  explicit PipedImport(const fs::path& session) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      ::dup2(ends[0], STDIN_FILENO);
      ::close(ends[1]);
      const Result<int> status = run_import({"-q", "-", "-o", session.string()});
      ::_exit(status ? *status : 1);
    }
    ::close(ends[0]);
    input.reset(ends[1]);
    std::string text = kWords;
    for (std::int64_t i = 0; i < 50'000; ++i) {  // more than a pipe holds
      text += fmt::format("{},1,1\n", i * kNsPerMs);
    }
    REQUIRE(::write(input.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] int wait_status() const {
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    return status;
  }
};

TEST_CASE("an import that is ended by a signal leaves nothing behind and dies of the signal") {
  const test::TempDir dir;
  PipedImport import(dir.path() / "s.gputrace");
  REQUIRE(::kill(import.pid, SIGTERM) == 0);
  import.input.reset();
  const int status = import.wait_status();
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(files_in(dir.path()) == 0);
}

TEST_CASE("Ctrl-C in a pipeline ends the other programs, and their output is kept") {
  const test::TempDir dir;
  PipedImport import(dir.path() / "s.gputrace");
  REQUIRE(::kill(import.pid, SIGINT) == 0);
  import.input.reset();
  const int status = import.wait_status();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const auto reader = store::SessionReader::open(dir.path() / "s.gputrace");
  REQUIRE(reader.has_value());
  CHECK(reader->segments().front().totals.ticks == 50'000);
}

TEST_CASE("without -o the session goes to the user's sessions, named after the file") {
  const test::TempDir dir;
  const std::string file = write_file(dir.path() / "frames.csv", kWords + "1000,1,1\n").string();
  const char* const before = std::getenv("XDG_DATA_HOME");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("XDG_DATA_HOME", dir.path().c_str(), 1);
  const Outcome outcome = import_files(dir.path(), {file});
  if (before == nullptr) {
    ::unsetenv("XDG_DATA_HOME");
  } else {
    ::setenv("XDG_DATA_HOME", saved.c_str(), 1);
  }
  REQUIRE(outcome.status.has_value());
  const fs::path folder = dir.path() / "gputrace" / "sessions";
  REQUIRE(files_in(folder) == 1);
  const fs::path session = fs::directory_iterator(folder)->path();
  CHECK(session.filename().string().starts_with("frames-"));
  CHECK(session.extension() == ".gputrace");
  struct stat info{};
  REQUIRE(::stat(session.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
}

TEST_CASE("wrong command lines are usage errors, --help is not") {
  const test::TempDir dir;
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"a", "b"},
      {"a", "--format", "xml"},
      {"a", "--gc", "eleven"},
      {"a", "--ticks", "0"},
      {"a", "--ticks", "many"},
      {"a", "--ticks", "1000000"},
      {"a", "--no-such-option"},
  };
  for (const auto& arguments : wrong) {
    const Outcome outcome = import_files(dir.path(), arguments);
    CAPTURE(fmt::format("{}", arguments.size()));
    REQUIRE_FALSE(outcome.status.has_value());
    CHECK(outcome.status.error().code == ErrorCode::kUsage);
  }
  const Outcome help = import_files(dir.path(), {"--help"});
  REQUIRE(help.status.has_value());
  for (const char* const word : {"--lenient", "--gc", "--ticks", "gputrace-regs v1", "Examples"}) {
    CHECK(contains(help.printed, word));
  }
}

}  // namespace
}  // namespace gputrace::commands
