// Kernel uevents: GPUs that come, go, hang. They arrive in a private network namespace too, unlike
// udev's (lib/kobject_uevent.c sends to every namespace of the initial user namespace).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::os {

struct Uevent {
  std::string action;   ///< "add", "remove", "change", "bind", "unbind"
  std::string devpath;  ///< "/devices/pci0000:00/.../drm/card1"
  std::string subsystem;
  std::string pci;     ///< address of the PCI device in devpath nearest to its end; may be empty
  std::string wedged;  ///< WEDGED= of drm_dev_wedged_event: how a hung GPU is to be recovered
};

/// "ACTION@DEVPATH\0KEY=VALUE\0..."; absent for anything else (udev's own messages start
/// "libudev").
[[nodiscard]] std::optional<Uevent> parse_uevent(std::string_view message);

class UeventSocket {
 public:
  /// NETLINK_KOBJECT_UEVENT, group 1, non-blocking.
  [[nodiscard]] static Result<UeventSocket> open();
  /// For tests: any datagram socket.
  explicit UeventSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  /// The next message of subsystem drm or pci; absent when none waits. Messages that do not come
  /// from the kernel are dropped. kIo "messages were lost" after ENOBUFS: look at everything again.
  [[nodiscard]] Result<std::optional<Uevent>> receive();
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace gputrace::os
