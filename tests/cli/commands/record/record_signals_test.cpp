// Signals, job control, process trees, and what CMD inherits.
#include <doctest/doctest.h>
#include <pty.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/session_reader.h"
#include "tests/cli/commands/record/record_rig.h"

namespace gputrace::test {
namespace {

std::string line_for(int signal) {
  return "signal " + std::to_string(signal);
}

TEST_CASE("signals that a process sends to gputrace reach the command once each") {
  const RecordRig rig;
  Program program(rig.probe({"signals"}), rig.options());
  REQUIRE(program.read_line() == "ready");
  std::string expected = "ready\n";
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTERM}) {
    program.send(signal);
    CHECK(program.read_line() == line_for(signal));
    expected += line_for(signal) + "\n";
  }
  const Finished finished = program.finish();
  CHECK(finished.out == expected);
  CHECK(finished.status() == 0);
}

TEST_CASE("a command that such a signal ends gives 128+N") {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const RecordRig rig;
    Program program(rig.probe({"wait"}), rig.options());
    REQUIRE(program.read_line() == "ready");
    program.send(signal);
    // Its input stays open, or it might end by itself before the signal has come.
    const Finished finished = program.finish(Program::Reading::kNone);
    CHECK(finished.exit_code == 128 + signal);
    CHECK(session_end(rig.file()).signal == signal);
  }
}

/// gputrace in the foreground of a terminal of its own.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& command, const Program::Options& options) {
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      for (const auto& [name, value] : options.environment) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      std::vector<char*> argv;
      argv.reserve(command.size() + 1);
      for (const std::string& word : command) {
        argv.push_back(const_cast<char*>(word.c_str()));
      }
      argv.push_back(nullptr);
      ::execvp(argv.front(), argv.data());
      ::_exit(99);
    }
    master_.reset(master);
  }
  void type(const std::string& keys) const {
    GPUTRACE_CHECK(::write(master_.get(), keys.data(), keys.size()) ==
                   static_cast<ssize_t>(keys.size()));
  }
  /// Waits until `text` has appeared.
  bool wait_for(const std::string& text) {
    char byte = 0;
    while (seen_.find(text) == std::string::npos) {
      if (::read(master_.get(), &byte, 1) != 1) {
        return false;
      }
      seen_.push_back(byte);
    }
    return true;
  }
  int finish() {
    while (wait_for("text that does not appear")) {
    }
    int status = 0;
    GPUTRACE_CHECK(::waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  UniqueFd master_;
  pid_t pid_ = -1;
  std::string seen_;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST_CASE("a Ctrl-C at the terminal reaches the command once, from the terminal") {
  const RecordRig rig;
  Terminal terminal(rig.probe({"signals"}), rig.options());
  REQUIRE(terminal.wait_for("ready"));
  terminal.type("\x03");
  REQUIRE(terminal.wait_for(line_for(SIGINT) + "\r\n"));
  terminal.type("\x1c");
  REQUIRE(terminal.wait_for(line_for(SIGQUIT) + "\r\n"));
  // gputrace takes signals in the order of their numbers: had it passed the others on, they would
  // have come before this one.
  REQUIRE(::kill(terminal.pid(), SIGTERM) == 0);
  CHECK(terminal.finish() == 0);
  CHECK(count(terminal.seen(), line_for(SIGINT) + "\r\n") == 1);
  CHECK(count(terminal.seen(), line_for(SIGQUIT) + "\r\n") == 1);
  CHECK(count(terminal.seen(), line_for(SIGTERM) + "\r\n") == 1);
}

TEST_CASE("a command that Ctrl-C ends gives 130, and the file is whole") {
  const RecordRig rig;
  Terminal terminal(rig.probe({"wait"}), rig.options());
  REQUIRE(terminal.wait_for("ready"));
  terminal.type("\x03");
  CHECK(terminal.finish() == 130);
  CHECK(session_end(rig.file()).signal == SIGINT);
}

TEST_CASE("without a command Ctrl-C ends the recording with 0") {
  const RecordRig rig;
  Terminal terminal(rig.command({"--duration", "1000", "-o", rig.file().string()}), rig.options());
  REQUIRE(terminal.wait_for("Ctrl-C ends it"));
  terminal.type("\x03");
  CHECK(terminal.finish() == 0);
  CHECK(store::SessionReader::open(rig.file()).value().end().has_value());
}

TEST_CASE("nohup: a SIGHUP neither ends a recording without a command nor the command") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [] { ::signal(SIGHUP, SIG_IGN); };
  {
    Program program(rig.command({"--duration", "0.3", "-o", rig.file().string()}), options);
    REQUIRE(program.read_error_line().find("Ctrl-C ends it") != std::string::npos);
    program.send(SIGHUP);
    CHECK(program.finish().status() == 0);
    const store::SessionReader session = store::SessionReader::open(rig.file()).value();
    const std::optional<store::TimeSpan> span = session.span();
    GPUTRACE_CHECK(span.has_value());
    CHECK(span->end_ns - span->start_ns > 250 * kNsPerMs);
  }
  std::filesystem::remove(rig.file());
  Program program(rig.probe({"wait"}), options);
  REQUIRE(program.read_line() == "ready");
  program.send(SIGHUP);
  CHECK(program.finish().status() == 0);
}

TEST_CASE("gputrace stops with the command at SIGTSTP and goes on at SIGCONT") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [] { ::setpgid(0, 0); };
  Program program(rig.probe({"wait"}), options);
  REQUIRE(program.read_line() == "ready");
  REQUIRE(::kill(-program.pid(), SIGTSTP) == 0);
  CHECK(program.wait_until_stopped() == SIGTSTP);
  REQUIRE(::kill(-program.pid(), SIGCONT) == 0);
  CHECK(program.finish().status() == 0);
}

TEST_CASE("killing the whole process group leaves a file that is whole") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [] { ::setpgid(0, 0); };
  Program program(rig.probe({"wait"}), options);
  REQUIRE(program.read_line() == "ready");
  REQUIRE(::kill(-program.pid(), SIGKILL) == 0);
  CHECK(program.finish().signal == SIGKILL);
  // The recorder is in a session of its own and sees its socket close; nobody is left to say when.
  for (;;) {
    const auto session = store::SessionReader::open(rig.file());
    if (session && session->end()) {
      break;
    }
  }
  CHECK_FALSE(session_end(rig.file()).exit_code);
  CHECK_FALSE(session_end(rig.file()).signal);
}

std::string orphan_line(const std::string& line, pid_t& orphan, pid_t& parent) {
  const int fields = std::sscanf(line.c_str(), "orphan %d of %d", &orphan, &parent);
  return fields == 2 ? "" : "not an orphan: " + line;
}

TEST_CASE("--wait=child ends with the command, whose grandchild runs on") {
  const RecordRig rig;
  Program program(rig.probe({"grandchild", "5"}), rig.options());
  pid_t orphan = 0;
  pid_t parent = 0;
  const std::string line = program.read_line();
  REQUIRE(orphan_line(line, orphan, parent).empty());
  CHECK(parent != program.pid());
  CHECK(program.finish(Program::Reading::kNone).status() == 5);
  CHECK(::kill(orphan, 0) == 0);
  program.close_input();
}

TEST_CASE("--wait=tree ends with the last descendant, with the command's status") {
  const RecordRig rig;
  Program program(
      rig.command({"--wait=tree", "-o", rig.file().string(), "--", kProbe, "grandchild", "5"}),
      rig.options());
  pid_t orphan = 0;
  pid_t parent = 0;
  REQUIRE(orphan_line(program.read_line(), orphan, parent).empty());
  CHECK(parent == program.pid());
  CHECK(program.runs());
  CHECK(program.finish().status() == 5);  // closes the input that the orphan waits on
  CHECK(::kill(orphan, 0) != 0);
  CHECK(session_end(rig.file()).exit_code == 5);
}

TEST_CASE("--wait=tree: after the command's end SIGTERM ends the recording and nothing else") {
  const RecordRig rig;
  Program program(
      rig.command({"--wait=tree", "-o", rig.file().string(), "--", kProbe, "grandchild", "6"}),
      rig.options());
  pid_t orphan = 0;
  pid_t parent = 0;
  REQUIRE(orphan_line(program.read_line(), orphan, parent).empty());
  program.send(SIGTERM);
  CHECK(program.finish(Program::Reading::kNone).status() == 6);
  CHECK(::kill(orphan, 0) == 0);
  program.close_input();
}

struct Inheritance {
  const char* name;
  std::function<void()> set_up;
};

TEST_CASE("what the command inherits is the same with and without gputrace") {
  const std::vector<Inheritance> cases{
      {"nothing special", [] {}},
      {"signals ignored",
       [] {
         for (const int signal : {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1}) {
           ::signal(signal, SIG_IGN);
         }
       }},
      {"signals blocked",
       [] {
         sigset_t set;
         ::sigemptyset(&set);
         ::sigaddset(&set, SIGUSR2);
         ::sigaddset(&set, SIGCHLD);
         ::sigaddset(&set, SIGRTMIN);
         ::sigprocmask(SIG_BLOCK, &set, nullptr);
       }},
      {"mask, slack, priority, limits",
       [] {
         ::umask(027);
         ::prctl(PR_SET_TIMERSLACK, 123456UL, 0, 0, 0);
         const rlimit files{100, 200};
         ::setrlimit(RLIMIT_NOFILE, &files);
         ::setpriority(PRIO_PROCESS, 0, 3);
       }},
      {"folder, death of the parent, core files, io priority",
       [] {
         if (::chdir("/") != 0) {
           ::_exit(99);
         }
         ::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(SIGUSR2), 0, 0, 0);
         std::ofstream("/proc/self/coredump_filter") << "0x7";
         std::ofstream("/proc/self/oom_score_adj") << "500";
         constexpr int kLowestOfBestEffort = 2 << 13 | 7;
         ::syscall(SYS_ioprio_set, 1, 0, kLowestOfBestEffort);
       }},
      {"batch scheduling",
       [] {
         const sched_param parameter{};
         ::sched_setscheduler(0, SCHED_BATCH, &parameter);
       }},
      {"descriptors open and closed",
       [] {
         ::dup2(STDOUT_FILENO, 7);
         ::dup2(STDIN_FILENO, 42);
         ::close(STDIN_FILENO);
         ::close(STDERR_FILENO);
       }},
  };
  for (const Inheritance& inheritance : cases) {
    CAPTURE(inheritance.name);
    const RecordRig rig;
    Program::Options options = rig.options();
    options.before_exec = inheritance.set_up;
    const Finished direct = Program({kProbe, "state"}, options).finish();
    const Finished recorded = Program(rig.probe({"state"}), options).finish();
    REQUIRE(direct.status() == 0);
    CHECK(recorded.status() == 0);
    CHECK(recorded.out == direct.out);
  }
}

TEST_CASE("the exit status survives a parent that ignores SIGCHLD") {
  const RecordRig rig;
  Program::Options options = rig.options();
  options.before_exec = [] { ::signal(SIGCHLD, SIG_IGN); };
  CHECK(Program(rig.probe({"exit", "23"}), options).finish().status() == 23);
}

TEST_CASE("output is at its end when the command is, whatever the recorder does") {
  // A pipe that the recorder kept open would hang `$(gputrace record -- CMD)`.
  const RecordRig rig;
  Program::Options options = rig.options();
  const Pipe extra;
  options.before_exec = [&extra] { ::dup2(extra.write_end.get(), 9); };
  Program program(rig.probe({"wait"}), options);
  REQUIRE(program.read_line() == "ready");
  const Finished finished = program.finish();
  CHECK(finished.out == "ready\n");
}

}  // namespace
}  // namespace gputrace::test
