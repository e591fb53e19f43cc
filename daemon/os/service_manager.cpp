#include "daemon/os/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "daemon/base/time.h"

namespace gputrace::os {
namespace {

// A line break would begin a new assignment of the message (sd_notify(3)).
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\0'; }, ' ');
  return line;
}

// That systemd cannot be told has no remedy here, and must not end a recording.
void notify(const std::string& assignments) {
  [[maybe_unused]] const int sent = ::sd_notify(0, assignments.c_str());
}

const char* priority(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return SD_ERR;
    case LogLevel::kWarning:
      return SD_WARNING;
    case LogLevel::kHint:
      return SD_NOTICE;
    case LogLevel::kInfo:
      return SD_INFO;
  }
  return SD_INFO;
}

// systemd.exec(5), $JOURNAL_STREAM: device and inode, to be compared, since a child whose standard
// error goes elsewhere inherits the variable.
bool stderr_is_the_journal() {
  const char* stream = ::secure_getenv("JOURNAL_STREAM");
  struct stat status{};
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
         fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

void write_to_journal(LogLevel level, std::string_view text) {
  std::string lines;
  // Each line is an entry; one without a number would get a priority that its text chooses.
  while (true) {
    const std::size_t end = text.find('\n');
    lines += fmt::format("{}{}\n", priority(level), text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  // A message that cannot be written has nobody left to be told.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, lines.data(), lines.size());
}

}  // namespace

Result<std::vector<UniqueFd>> sockets_from_service_manager() {
  const int count = ::sd_listen_fds(1);
  if (count < 0) {
    return fail_errno(-count, "cannot take the sockets of the service manager (sd_listen_fds(3))");
  }
  std::vector<UniqueFd> sockets;
  sockets.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    sockets.emplace_back(SD_LISTEN_FDS_START + i);
  }
  for (const UniqueFd& socket : sockets) {
    const int matches = ::sd_is_socket(socket.get(), AF_UNIX, SOCK_SEQPACKET, 1);
    if (matches < 0) {
      return fail_errno(-matches, fmt::format("cannot look at descriptor {} of the service manager",
                                              socket.get()));
    }
    if (matches == 0) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("descriptor {} of the service manager is not a listening "
                              "SOCK_SEQPACKET Unix socket; gputraced.socket must say "
                              "ListenSequentialPacket=",
                              socket.get()));
    }
  }
  return sockets;
}

void notify_ready(std::string_view status) {
  notify(fmt::format("READY=1\nSTATUS={}", one_line(status)));
}

void notify_status(std::string_view status) {
  notify(fmt::format("STATUS={}", one_line(status)));
}

void notify_reloading() {
  // The time is what Type=notify-reload asks for (systemd 253 and later).
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_now_ns() / 1000));
}

void notify_stopping() {
  notify("STOPPING=1");
}

void notify_watchdog() {
  notify("WATCHDOG=1");
}

std::optional<std::int64_t> watchdog_interval_ns() {
  std::uint64_t timeout_us = 0;
  if (::sd_watchdog_enabled(0, &timeout_us) <= 0) {
    return std::nullopt;
  }
  constexpr std::uint64_t kMostUs = std::uint64_t{INT64_MAX} / 1000;
  return static_cast<std::int64_t>(std::min(timeout_us, kMostUs) * 1000 / 2);
}

LogSink log_to_journal_or_stderr(std::string_view program) {
  if (stderr_is_the_journal()) {
    return write_to_journal;
  }
  return log_to_stderr(std::string(program));
}

}  // namespace gputrace::os
