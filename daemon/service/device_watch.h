// What the kernel says of GPUs (uevents): into the log, and as events into the sessions of the GPU.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/os/uevent_socket.h"
#include "daemon/service/cause_log.h"
#include "daemon/service/recorders.h"

namespace gputrace::service {

class DeviceWatch {
 public:
  /// Without a socket it does nothing. `changed`: GPUs have come or gone.
  DeviceWatch(std::optional<os::UeventSocket> socket, Recorders& recorders,
              const os::SystemRoots& roots, std::function<void()> changed, CauseLog& log);

  void append_poll(std::vector<pollfd>& fds) const;
  void dispatch(std::span<const pollfd> ready, std::int64_t now_ns);

 private:
  void take(const os::Uevent& event, std::int64_t now_ns);
  [[nodiscard]] bool is_gpu(const std::string& pci) const;

  std::optional<os::UeventSocket> socket_;
  Recorders& recorders_;
  const os::SystemRoots& roots_;
  std::function<void()> changed_;
  CauseLog& log_;
};

}  // namespace gputrace::service
