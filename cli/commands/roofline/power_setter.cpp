// The process behind PowerSetter. Requests and answers are single messages of a SOCK_SEQPACKET
// socket; its end without a `restore` before means that gputrace has crashed.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "cli/commands/record/invoking_user.h"
#include "cli/commands/roofline/power_command.h"
#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

constexpr std::int64_t kCommandLimitNs = 30 * kNsPerSecond;
constexpr std::int64_t kGraceNs = 2 * kNsPerSecond;  // after SIGTERM, and after SIGKILL
constexpr std::array kTerminalSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

struct Request {
  std::uint32_t watts = 0;
  bool restores = false;
};

/// How a command ended. `wait_status` is that of waitpid(2).
struct Answer {
  enum class Kind { kEnded, kNotStarted, kTooLong, kInterrupted, kGoesOn };
  Kind kind = Kind::kEnded;
  int wait_status = 0;
  int error_number = 0;
};

void ignore_terminal_signals(bool ignore) {
  for (const int number : kTerminalSignals) {
    ::signal(number, ignore ? SIG_IGN : SIG_DFL);
  }
}

/// What happens first: the process ends, the peer says something (or is gone), the time is over.
enum class Event { kEnded, kPeer, kTime };

Event wait_for(int process_fd, int peer_fd, std::int64_t until_ns) {
  for (;;) {
    std::array<pollfd, 2> fds{{{process_fd, POLLIN, 0}, {peer_fd, POLLIN, 0}}};
    const std::int64_t left_ns = until_ns - monotonic_now_ns();
    const int ready = ::poll(fds.data(), fds.size(),
                             static_cast<int>(std::max<std::int64_t>(left_ns / kNsPerMs + 1, 0)));
    if (ready > 0 && fds[0].revents != 0) {
      return Event::kEnded;
    }
    if (ready > 0) {
      return Event::kPeer;
    }
    if (left_ns <= 0) {
      return Event::kTime;
    }
  }
}

/// The helper: one thread, nothing open but its socket and the standard descriptors.
class Helper {
 public:
  Helper(const PowerCommand& command, std::uint32_t restore_watts, int socket)
      : command_(command), restore_watts_(restore_watts), socket_(socket) {}

  [[noreturn]] void serve() {
    ignore_terminal_signals(true);
    bool restore_due = false;
    for (;;) {
      Request request;
      const ssize_t size = ::recv(socket_, &request, sizeof request, 0);
      if (size < 0 && errno == EINTR) {
        continue;
      }
      if (size != static_cast<ssize_t>(sizeof request)) {
        break;
      }
      restore_due = !request.restores;
      const Answer answer = execute(request);
      ::send(socket_, &answer, sizeof answer, MSG_NOSIGNAL);
    }
    if (restore_due) {
      execute({.watts = restore_watts_, .restores = true});
    }
    ::_exit(0);
  }

 private:
  Answer execute(const Request& request) {
    const std::vector<std::string> words = command_.words(request.watts);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return {.kind = Answer::Kind::kNotStarted, .error_number = errno};
    }
    const UniqueFd exec_error(ends[0]);
    UniqueFd exec_error_end(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) {
      return {.kind = Answer::Kind::kNotStarted, .error_number = errno};
    }
    if (child == 0) {
      run_words(words, request.restores, exec_error_end.get());
    }
    exec_error_end.reset();
    int error_number = 0;
    const ssize_t got = ::read(exec_error.get(), &error_number, sizeof error_number);
    if (got == static_cast<ssize_t>(sizeof error_number)) {
      ::waitpid(child, nullptr, 0);
      return {.kind = Answer::Kind::kNotStarted, .error_number = error_number};
    }
    return wait_for_end(child, request.restores);
  }

  [[noreturn]] static void run_words(const std::vector<std::string>& words, bool restores,
                                     int exec_error) {
    // Ctrl-C reaches all of the terminal's processes. It may end a command that sets a level, never
    // the one that restores.
    ignore_terminal_signals(restores);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words) {
      argv.push_back(const_cast<char*>(word.c_str()));  // execvp(3) changes none of them
    }
    argv.push_back(nullptr);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is for results
    ::execvp(argv.front(), argv.data());
    const int error_number = errno;
    [[maybe_unused]] const auto written = ::write(exec_error, &error_number, sizeof error_number);
    ::_exit(127);
  }

  [[nodiscard]] Answer wait_for_end(pid_t child, bool restores) const {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0U)));
    // A restore is finished even when nobody waits for it.
    const int peer = restores ? -1 : socket_;
    Answer answer;
    const Event event = wait_for(process.get(), peer, monotonic_now_ns() + kCommandLimitNs);
    if (event != Event::kEnded) {
      answer.kind = event == Event::kTime ? Answer::Kind::kTooLong : Answer::Kind::kInterrupted;
      if (!end(child, process.get())) {
        return {.kind = Answer::Kind::kGoesOn};
      }
    }
    while (::waitpid(child, &answer.wait_status, 0) < 0 && errno == EINTR) {
    }
    return answer;
  }

  /// False: it goes on. What sudo has made another user's takes no signals of ours.
  [[nodiscard]] static bool end(pid_t child, int process_fd) {
    return std::ranges::any_of(std::array{SIGTERM, SIGKILL}, [&](int number) {
      ::kill(child, number);
      return wait_for(process_fd, -1, monotonic_now_ns() + kGraceNs) == Event::kEnded;
    });
  }

  const PowerCommand& command_;
  std::uint32_t restore_watts_;
  int socket_;
};

Status judge(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::kNotStarted:
      return fail_errno(answer.error_number, "cannot execute it");
    case Answer::Kind::kTooLong:
      return fail(ErrorCode::kIo, fmt::format("it did not end within {} s and was stopped",
                                              kCommandLimitNs / kNsPerSecond));
    case Answer::Kind::kInterrupted:
      return fail(ErrorCode::kBusy, "interrupted");
    case Answer::Kind::kGoesOn:
      return fail(
          ErrorCode::kIo,
          "a command that runs as another user could not be stopped and may still set its limit");
    case Answer::Kind::kEnded:
      break;
  }
  if (WIFSIGNALED(answer.wait_status)) {
    const int number = WTERMSIG(answer.wait_status);
    return fail(number == SIGINT || number == SIGTERM ? ErrorCode::kBusy : ErrorCode::kIo,
                fmt::format("it was ended by signal {}", number));
  }
  if (WEXITSTATUS(answer.wait_status) != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("it ended with exit status {}", WEXITSTATUS(answer.wait_status)));
  }
  return {};
}

}  // namespace

Result<PowerSetter> PowerSetter::start(const PowerCommand& command, std::uint32_t restore_watts) {
  const auto user = find_invoking_user();
  if (!user) {
    return tl::unexpected(user.error());
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno(errno, "cannot make a socket for the power commands");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t process = ::fork();
  if (process < 0) {
    return fail_errno(errno, "cannot start a process for the power commands");
  }
  if (process == 0) {
    ours.reset();
    // Nothing of sudo's reaches the command: who may set limits says so with sudo in the command.
    const std::optional<InvokingUser>& invoking = *user;
    if (invoking && (!take_environment(*invoking) || !become(*invoking))) {
      ::_exit(1);
    }
    Helper(command, restore_watts, theirs.get()).serve();
  }
  return PowerSetter(std::move(ours), process, restore_watts);
}

PowerSetter::~PowerSetter() {
  if (process_ <= 0 || !socket_) {
    return;  // moved from
  }
  socket_.reset();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status PowerSetter::ask(std::uint32_t watts, const std::function<bool()>& cancelled) {
  const Request request{.watts = watts, .restores = !cancelled};
  const auto lost = [] {
    return fail(ErrorCode::kIo, "the process that executes power commands has ended");
  };
  if (::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof request)) {
    return lost();
  }
  ++answers_due_;
  constexpr int kLookMs = 100;  // for a signal that came between a look and poll(2)
  Answer answer;
  bool earlier_goes_on = false;
  while (answers_due_ > 0) {
    pollfd readable{socket_.get(), POLLIN, 0};
    if (::poll(&readable, 1, kLookMs) > 0) {
      if (::recv(socket_.get(), &answer, sizeof answer, 0) != static_cast<ssize_t>(sizeof answer)) {
        return lost();
      }
      --answers_due_;
      earlier_goes_on =
          earlier_goes_on || (answers_due_ > 0 && answer.kind == Answer::Kind::kGoesOn);
    } else if (cancelled && cancelled()) {
      // The next request ends the command; its answer comes before that of the request.
      return fail(ErrorCode::kBusy, "interrupted");
    }
  }
  const Status judged = judge(answer);
  return judged && earlier_goes_on ? judge({.kind = Answer::Kind::kGoesOn}) : judged;
}

Status PowerSetter::set(std::uint32_t watts, const std::function<bool()>& cancelled) {
  restore_due_ = true;
  return ask(watts, cancelled ? cancelled : [] { return false; });
}

Status PowerSetter::restore() {
  if (!restore_due_) {
    return {};
  }
  restore_due_ = false;
  return ask(restore_watts_, {});
}

}  // namespace gputrace::commands
