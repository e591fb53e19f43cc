// What gputraced does between start and end: one thread, one poll loop over clients, recorders,
// uevents and signals.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/gpu_device.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/service/config.h"

namespace gputrace::service {

struct ServiceOptions {
  Config config;
  std::function<Result<Config>()> reload;  ///< on SIGHUP; an error keeps the old configuration
  UniqueFd listener;
  std::string name;  ///< "gputraced 0.1.0"
  os::SystemRoots roots;
  recorder::ReaderFactory open_gpu;  ///< in the recorder processes
  LogSink log;
};

/// Serves until SIGTERM or SIGINT, then finishes every recording and returns within 2 s. An error
/// means that it never began.
[[nodiscard]] Status run_service(ServiceOptions options);

}  // namespace gputrace::service
