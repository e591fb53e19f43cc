#include "daemon/service/device_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/os/sysfs.h"
#include "daemon/service/poll_set.h"

namespace gputrace::service {

namespace {

constexpr int kMaxEventsAtOnce = 64;

/// "card1" of ".../drm/card1"; connectors ("card1-DP-1") and what is below are something else.
bool is_card(std::string_view devpath) {
  const std::string_view name = devpath.substr(devpath.rfind('/') + 1);
  return os::number_after(name, "card").has_value();
}

/// What a reader of a recording should know; absent for monitors that are plugged in and the like.
std::optional<std::string> text_of(const os::Uevent& event) {
  if (!event.wedged.empty()) {
    return fmt::format("the kernel says that GPU {} hangs; it can be recovered by: {}", event.pci,
                       event.wedged);
  }
  if (event.subsystem == "drm" && is_card(event.devpath)) {
    if (event.action == "add") {
      return fmt::format("GPU {} has come", event.pci);
    }
    if (event.action == "remove") {
      return fmt::format("GPU {} has gone", event.pci);
    }
  }
  if (event.subsystem == "pci" && event.action == "unbind") {
    return fmt::format("GPU {} has lost its driver", event.pci);
  }
  if (event.subsystem == "pci" && event.action == "bind") {
    return fmt::format("GPU {} has a driver", event.pci);
  }
  return std::nullopt;
}

}  // namespace

DeviceWatch::DeviceWatch(std::optional<os::UeventSocket> socket, Recorders& recorders,
                         const os::SystemRoots& roots, std::function<void()> changed, CauseLog& log)
    : socket_(std::move(socket)),
      recorders_(recorders),
      roots_(roots),
      changed_(std::move(changed)),
      log_(log) {}

void DeviceWatch::append_poll(std::vector<pollfd>& fds) const {
  if (socket_) {
    fds.push_back({socket_->fd(), POLLIN, 0});
  }
}

void DeviceWatch::dispatch(std::span<const pollfd> ready, std::int64_t now_ns) {
  if (!socket_ || !is_ready(ready, socket_->fd())) {
    return;
  }
  for (int i = 0; i < kMaxEventsAtOnce; ++i) {
    const Result<std::optional<os::Uevent>> event = socket_->receive();
    if (!event) {
      log_.say_once(LogLevel::kWarning, "uevents", event.error().message);
      changed_();
      return;
    }
    const std::optional<os::Uevent>& received = *event;
    if (!received) {
      return;
    }
    take(*received, now_ns);
  }
}

void DeviceWatch::take(const os::Uevent& event, std::int64_t now_ns) {
  const std::optional<std::string> text = text_of(event);
  if (!text || !is_gpu(event.pci)) {
    return;
  }
  log_.say_once(event.wedged.empty() ? LogLevel::kInfo : LogLevel::kError, *text, *text);
  recorders_.mark_gpu(event.pci, {now_ns, *text, "device"});
  changed_();
}

bool DeviceWatch::is_gpu(const std::string& pci) const {
  const std::vector<ipc::RecorderEntry> known = recorders_.entries();  // also when it has gone
  if (std::any_of(known.begin(), known.end(),
                  [&](const auto& entry) { return entry.pci == pci; })) {
    return true;
  }
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots_);
  return gpus && std::any_of(gpus->begin(), gpus->end(),
                             [&](const os::GpuDevice& gpu) { return gpu.identity.pci == pci; });
}

}  // namespace gputrace::service
