// Runs `record` in a process of its own beside a fake gputraced. Its own recorder has a fake GPU.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/record/record_options.h"
#include "cli/commands/record/supervisor.h"
#include "tests/cli/commands/daemon/fake_daemon.h"
#include "tests/support/fake_register_reader.h"
#include "tests/support/make_session.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline Result<recorder::OpenedGpu> open_fake_gpu(const recorder::GpuRequest& /*request*/) {
  recorder::OpenedGpu gpu;
  gpu.identity.name = "a GPU of gputrace itself";
  gpu.identity.gc = regdb::GcVersion{11, 0, 1};
  gpu.identity.simulated = true;
  gpu.regdb_table = "11.0.0";
  gpu.reader = std::make_unique<FakeRegisterReader>();
  return gpu;
}

class DaemonRig {
 public:
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path file() const { return folder() / "mine/a.gputrace"; }
  [[nodiscard]] std::filesystem::path sessions() const { return folder() / "gputrace/sessions"; }
  [[nodiscard]] std::filesystem::path shelved() const {
    return FakeDaemon::shelf(folder()) / kFakeSession;
  }
  [[nodiscard]] std::string heard() const { return FakeDaemon::heard(folder()); }

  DaemonRig() { std::filesystem::create_directory(folder() / "mine"); }

  /// What the daemon is to have recorded.
  void shelve(SessionRecipe recipe = {}) const {
    recipe.registers = {"GRBM_STATUS", "GRBM_STATUS3"};
    std::filesystem::create_directories(FakeDaemon::shelf(folder()));
    REQUIRE(make_session(shelved(), recipe));
  }
  [[nodiscard]] Program::Options options() const {
    Program::Options options;
    options.environment = {{"XDG_DATA_HOME", folder().string()},
                           {"XDG_CACHE_HOME", folder().string()},
                           {"GPUTRACE_SOCKET", FakeDaemon::socket(folder()).string()},
                           {"TZ", "UTC"}};
    return options;
  }
  [[nodiscard]] Finished run(std::vector<std::string> words) const {
    words.insert(words.begin(), GPUTRACE_BINARY);
    return Program(words, options()).finish();
  }
  [[nodiscard]] commands::RecordOptions record_options(std::vector<std::string> command) const {
    commands::RecordOptions options;
    options.output = file();
    options.rate_hz = 1000;
    options.source = "auto";
    options.command = std::move(command);
    return options;
  }

 private:
  TempDir folder_;
};

/// `record` with a log that can be read. Status 99: it returned an error, which is the last line.
class RecordingBesideDaemon {
 public:
  RecordingBesideDaemon(const DaemonRig& rig, const commands::RecordOptions& options,
                        const std::function<void()>& before = {}) {
    std::fflush(nullptr);  // a sanitizer lets _exit(2) write what the child inherits unwritten
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ != 0) {
      in_.read_end.reset();
      out_.write_end.reset();
      said_.write_end.reset();
      return;
    }
    in_.write_end.reset();
    ::dup2(in_.read_end.get(), STDIN_FILENO);
    ::dup2(out_.write_end.get(), STDOUT_FILENO);
    for (const auto& [name, value] : rig.options().environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    if (before) {
      before();
    }
    const LogSink log = [this](LogLevel, std::string_view text) { say(text); };
    const Result<int> status = commands::record(options, open_fake_gpu, log);
    if (!status) {
      say(status.error().message);
    }
    ::_exit(status.value_or(99));
  }
  RecordingBesideDaemon(const RecordingBesideDaemon&) = delete;
  RecordingBesideDaemon& operator=(const RecordingBesideDaemon&) = delete;
  ~RecordingBesideDaemon() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  /// The next line that the command prints.
  [[nodiscard]] std::string read_line() const { return line_of(out_.read_end.get()); }
  /// The next line that gputrace says.
  [[nodiscard]] std::string hear_line() const { return line_of(said_.read_end.get()); }
  /// Ends the command's input.
  int finish() {
    in_.write_end.reset();
    read_all(said_.read_end.get(), text_);
    read_all(out_.read_end.get(), out_text_);
    int status = 0;
    GPUTRACE_CHECK(::waitpid(std::exchange(pid_, -1), &status, 0) > 0 && WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool said(const std::string& part) const { return contains(text_, part); }
  [[nodiscard]] const std::string& printed() const { return out_text_; }

 private:
  void say(std::string_view text) const {
    const std::string line = std::string(text) + "\n";
    GPUTRACE_CHECK(::write(said_.write_end.get(), line.data(), line.size()) > 0);
  }
  static std::string line_of(int fd) {
    std::string line;
    char byte = 0;
    while (::read(fd, &byte, 1) == 1 && byte != '\n') {
      line.push_back(byte);
    }
    return line;
  }
  static void read_all(int fd, std::string& text) {
    char byte = 0;
    while (::read(fd, &byte, 1) == 1) {
      text.push_back(byte);
    }
  }

  Pipe in_;
  Pipe out_;
  Pipe said_;
  pid_t pid_ = -1;
  std::string text_;
  std::string out_text_;
};

}  // namespace gputrace::test
