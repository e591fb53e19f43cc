#include "cli/commands/doctor/isolated_call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

constexpr std::int64_t kGraceNs = kNsPerSecond;  // between SIGKILL and giving the child up

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      ::_exit(1);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void be_child(int answer, const std::function<std::string()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // What drivers and layers have to say is not for this terminal.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
  }
  write_all(answer, work());
  ::_exit(0);
}

/// Waits until `fd` is readable; false at the deadline.
bool wait_readable(int fd, std::int64_t until_ns) {
  for (;;) {
    const std::int64_t left_ns = until_ns - monotonic_now_ns();
    pollfd poll{fd, POLLIN, 0};
    const int ready =
        ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left_ns / kNsPerMs + 1, 0)));
    if (ready > 0) {
      return true;
    }
    if (left_ns <= 0 || (ready < 0 && errno != EINTR)) {
      return false;
    }
  }
}

/// All that the child wrote until it closed its end; absent at the deadline.
std::optional<std::string> read_answer(int fd, std::int64_t until_ns) {
  std::string answer;
  std::array<char, 4096> buffer{};
  while (wait_readable(fd, until_ns)) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return answer;
    }
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

/// Kills the child; one that is stuck in the driver stays behind.
void end_child(pid_t child) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  ::kill(child, SIGKILL);
  if (!pidfd || wait_readable(pidfd.get(), monotonic_now_ns() + kGraceNs)) {
    ::waitpid(child, nullptr, pidfd ? 0 : WNOHANG);
  }
}

}  // namespace

Result<std::string> call_isolated(std::chrono::milliseconds deadline,
                                  const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail_errno(errno, "cannot start a process");
  }
  if (child == 0) {
    be_child(write_end.get(), work);
  }
  write_end.reset();
  const auto deadline_ns = std::chrono::nanoseconds(deadline).count();
  std::optional<std::string> answer = read_answer(read_end.get(), monotonic_now_ns() + deadline_ns);
  if (!answer) {
    end_child(child);
    return fail(ErrorCode::kBusy, fmt::format("no answer within {:g} s",
                                              static_cast<double>(deadline.count()) / 1000));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail_errno(errno, "cannot wait for a process");
    }
  }
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::kIo, fmt::format("the process crashed (signal {}, {})", WTERMSIG(status),
                                            ::strsignal(WTERMSIG(status))));
  }
  if (status != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("the process ended with status {}", WEXITSTATUS(status)));
  }
  return std::move(*answer);
}

}  // namespace gputrace::commands
