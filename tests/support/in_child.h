// Runs a function in a forked child: what it changes of its process (capabilities, environment,
// descriptors) stays there.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::test {

/// What `function` returns, from the child. A child that does not end well is told as text too.
/// Its descriptors 3 to 9 are free.
inline std::string in_child(const std::function<std::string()>& function) {
  std::array<int, 2> ends{};
  GPUTRACE_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(::fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
  ::close(ends[1]);
  const pid_t child = ::fork();
  GPUTRACE_CHECK(child >= 0);
  if (child == 0) {
    const std::string text = function();
    const bool written =
        ::write(write_end.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 99);
  }
  write_end.reset();
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(read_end.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    GPUTRACE_CHECK(errno == EINTR);
  }
  return status == 0 ? text
                     : text + " (the child ended with wait status " + std::to_string(status) + ")";
}

}  // namespace gputrace::test
