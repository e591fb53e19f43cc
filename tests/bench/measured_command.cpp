#include "tests/bench/measured_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Result<pid_t> spawn(const std::vector<std::string>& words, int output) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail_errno(error, "cannot run " + words.front());
  }
  return pid;
}

}  // namespace

Result<MeasuredCommand> measure_command(const std::vector<std::string>& words) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot make a pipe");
  }
  const UniqueFd from_child(ends[0]);
  UniqueFd to_us(ends[1]);
  const std::int64_t start_ns = monotonic_now_ns();
  const Result<pid_t> pid = spawn(words, to_us.get());
  to_us.reset();
  if (!pid) {
    return tl::unexpected(pid.error());
  }
  MeasuredCommand result;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = ::read(from_child.get(), part.data(), part.size());
    if (size > 0) {
      result.output.append(part.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || errno != EINTR) {
      break;
    }
  }
  int status = 0;
  rusage usage{};
  while (::wait4(*pid, &status, 0, &usage) < 0) {
    if (errno != EINTR) {
      return fail_errno(errno, "cannot wait for " + words.front());
    }
  }
  result.wall_s = static_cast<double>(monotonic_now_ns() - start_ns) * 1e-9;
  result.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Result<MeasuredCommand> measure_success(const std::vector<std::string>& words) {
  auto result = measure_command(words);
  if (result && result->exit_status != 0) {
    std::string text;
    for (const std::string& word : words) {
      text += (text.empty() ? "" : " ") + word;
    }
    return fail(ErrorCode::kIo,
                "`" + text + "` ended with status " + std::to_string(result->exit_status));
  }
  return result;
}

}  // namespace gputrace::bench
