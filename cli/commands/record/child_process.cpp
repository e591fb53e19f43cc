#include "cli/commands/record/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gputrace::commands {

namespace {

constexpr int kNotFoundStatus = 127;
constexpr int kNotExecutableStatus = 126;

[[noreturn]] void report_and_exit(int status_fd, int error_number) {
  // Four bytes are written to a pipe whole; when nobody reads, nobody needs to know.
  [[maybe_unused]] const auto written = ::write(status_fd, &error_number, sizeof error_number);
  ::_exit(exit_status_of_exec_error(error_number));
}

}  // namespace

Result<ChildProcess> start_child(const std::vector<std::string>& command, const SignalGate& signals,
                                 const std::function<int()>& become_user) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));  // execvp(3) changes none of them
  }
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  int parent_death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &parent_death_signal, 0, 0, 0);
  UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "cannot start '" + command.front() + "'");
  }
  if (pid == 0) {
    if (const int error_number = become_user ? become_user() : 0; error_number != 0) {
      report_and_exit(write_end.get(), error_number);
    }
    ::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(parent_death_signal), 0, 0, 0);
    signals.restore();
    ::execvp(argv.front(), argv.data());
    report_and_exit(write_end.get(), errno);
  }
  return ChildProcess{pid, std::move(read_end)};
}

int take_exec_error(const UniqueFd& exec_status) {
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(exec_status.get(), &error_number, sizeof error_number);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error_number) ? error_number : 0;
}

int exit_status_of_exec_error(int error_number) {
  return error_number == ENOENT ? kNotFoundStatus : kNotExecutableStatus;
}

}  // namespace gputrace::commands
