// What a service says to systemd and gets from it. Without systemd every call does nothing. Linked
// into gputraced alone (libsystemd).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::os {

/// Sockets of gputraced.socket (sd_listen_fds(3)); checks that each listens and is SOCK_SEQPACKET.
[[nodiscard]] Result<std::vector<UniqueFd>> sockets_from_service_manager();

void notify_ready(std::string_view status);
void notify_status(std::string_view status);
void notify_reloading();  ///< followed by notify_ready()
void notify_stopping();
void notify_watchdog();
/// How often notify_watchdog() must be called at least: half of WatchdogSec; absent without one.
[[nodiscard]] std::optional<std::int64_t> watchdog_interval_ns();

/// "<4>text" lines, whose number the journal takes as priority (sd-daemon(3)), when standard error
/// is the journal ($JOURNAL_STREAM); else as log_to_stderr.
[[nodiscard]] LogSink log_to_journal_or_stderr(std::string_view program);

}  // namespace gputrace::os
