// What gputraced does between start and end: one thread, one poll loop over clients, recorders,
// uevents and signals. Nothing in it waits for a disk, a device or a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/uevent_socket.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/service/config.h"
#include "daemon/service/session_shelf.h"

namespace gputrace::service {

/// What a service manager is told (os/service_manager.h). Any may be empty.
struct ServiceNotices {
  std::function<void(std::string_view status)> ready;
  std::function<void(std::string_view status)> status;
  std::function<void()> reloading;  ///< followed by ready
  std::function<void()> stopping;
  std::function<void()> watchdog;
  std::optional<std::int64_t> watchdog_interval_ns;
};

struct ServiceOptions {
  Config config;
  std::function<Result<Config>()> reload;  ///< on SIGHUP; an error keeps the old configuration
  UniqueFd listener;
  SessionShelf shelf;
  gid_t group = 0;   ///< of config.group: may use the daemon and read day files
  std::string name;  ///< "gputraced 0.1.0"
  os::SystemRoots roots;
  std::optional<os::UeventSocket> uevents;
  recorder::ReaderFactory open_gpu;  ///< in the recorder processes
  ServiceNotices notices;
  LogSink log;
};

/// Serves until SIGTERM or SIGINT, then finishes every recording and returns within 2 s. An error
/// means that it never began. The caller has one thread; SIGTERM, SIGINT and SIGHUP are blocked
/// while it runs.
[[nodiscard]] Status run_service(ServiceOptions options);

}  // namespace gputrace::service
