// A program under test: started as a shell would, with its output captured and its signals sent.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::test {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    GPUTRACE_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

struct Finished {
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string out;
  std::string err;

  /// As a shell says it.
  [[nodiscard]] int status() const { return exit_code ? *exit_code : 128 + signal.value_or(0); }
};

class Program {
 public:
  struct Options {
    std::map<std::string, std::string> environment;  ///< added to ours
    std::function<void()> before_exec;  ///< in the child: limits, masks, users, namespaces
    std::string start_folder;
  };

  explicit Program(const std::vector<std::string>& command, const Options& options = {}) {
    pid_ = ::fork();
    GPUTRACE_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      run_child(command, options);
    }
    in_.read_end.reset();
    out_.write_end.reset();
    err_.write_end.reset();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0 && !waited_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signal) const { GPUTRACE_CHECK(::kill(pid_, signal) == 0); }
  void close_input() { in_.write_end.reset(); }

  /// Waits for the next line of standard output, without its end; empty at the end of the output.
  std::string read_line() { return read_line_of(out_.read_end.get(), finished_.out); }
  std::string read_error_line() { return read_line_of(err_.read_end.get(), finished_.err); }

  [[nodiscard]] bool runs() {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }
  /// Waits until it is stopped by a signal; returns which.
  [[nodiscard]] int wait_until_stopped() const {
    int status = 0;
    GPUTRACE_CHECK(::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status));
    return WSTOPSIG(status);
  }

  enum class Reading {
    kToTheEnd,  ///< closes the input, reads what any descendant writes until none is left
    kNone,      ///< leaves input and output to descendants that live on
  };
  /// Takes the exit status.
  Finished finish(Reading reading = Reading::kToTheEnd) {
    if (reading == Reading::kToTheEnd) {
      in_.write_end.reset();
      drain();
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
      GPUTRACE_CHECK(errno == EINTR);
    }
    waited_ = true;
    if (WIFEXITED(status)) {
      finished_.exit_code = WEXITSTATUS(status);
    } else {
      finished_.signal = WTERMSIG(status);
    }
    return finished_;
  }

 private:
  [[noreturn]] void run_child(const std::vector<std::string>& command, const Options& options) {
    ::dup2(in_.read_end.get(), STDIN_FILENO);
    ::dup2(out_.write_end.get(), STDOUT_FILENO);
    ::dup2(err_.write_end.get(), STDERR_FILENO);
    for (const auto& [name, value] : options.environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    if (!options.start_folder.empty() && ::chdir(options.start_folder.c_str()) != 0) {
      ::_exit(99);
    }
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& word : command) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    if (options.before_exec) {
      options.before_exec();
    }
    ::execvp(argv.front(), argv.data());
    ::_exit(99);
  }

  static std::string read_line_of(int fd, std::string& all) {
    std::string line;
    char byte = 0;
    while (::read(fd, &byte, 1) == 1) {
      all.push_back(byte);
      if (byte == '\n') {
        break;
      }
      line.push_back(byte);
    }
    return line;
  }

  void drain() {
    std::array<pollfd, 2> sources{
        {{out_.read_end.get(), POLLIN, 0}, {err_.read_end.get(), POLLIN, 0}}};
    std::array<std::string*, 2> texts{&finished_.out, &finished_.err};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
      ::poll(sources.data(), sources.size(), -1);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::array<char, 4096> buffer{};
        if (sources[i].fd < 0 || sources[i].revents == 0) {
          continue;
        }
        const ssize_t got = ::read(sources[i].fd, buffer.data(), buffer.size());
        if (got <= 0) {
          sources[i].fd = -1;
        } else {
          texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
        }
      }
    }
  }

  Pipe in_;
  Pipe out_;
  Pipe err_;
  pid_t pid_ = -1;
  bool waited_ = false;
  Finished finished_;
};

}  // namespace gputrace::test
