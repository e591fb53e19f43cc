// Serves the rig's folder: one thread, one loop, nothing cached by the kernel, so that a switch
// takes effect with the next call.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "daemon/base/result.h"
#include "tests/rig/rig_device.h"

namespace gputrace::rig {

struct ServerOptions {
  std::vector<DeviceOptions> gpus;
  int drm_minor = 58;
  std::filesystem::path mount_point;  ///< an existing folder
  int wake_fd = -1;                   ///< eventfd: written when hold_reads was switched off
};

class FuseServer {
 public:
  /// Mounts. kUnsupported or kPermissionDenied with libfuse's own words when that is not possible.
  static Result<FuseServer> mount(const ServerOptions& options);

  FuseServer(FuseServer&&) noexcept;
  FuseServer& operator=(FuseServer&&) noexcept;
  FuseServer(const FuseServer&) = delete;
  FuseServer& operator=(const FuseServer&) = delete;
  ~FuseServer();  ///< unmounts

  /// Serves until the folder is unmounted or SIGINT, SIGTERM or SIGHUP arrives. The caller has
  /// blocked those three (block_stop_signals).
  Status run();

 private:
  struct Impl;
  explicit FuseServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// So that a signal that arrives before run() is not lost.
Status block_stop_signals();

}  // namespace gputrace::rig
