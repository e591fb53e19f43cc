#include "tests/rig/rig_device.h"

#include <algorithm>
#include <utility>

namespace gputrace::rig {

Result<std::unique_ptr<RigDevice>> RigDevice::make(const DeviceOptions& options, std::size_t index,
                                                   int drm_minor) {
  auto core = std::make_shared<GraphicsCore>(options.words, options.control);
  auto bar = BarFile::make(options.gpu, core, options.control);
  if (!bar) {
    return tl::unexpected(bar.error());
  }
  return std::unique_ptr<RigDevice>(
      new RigDevice{options.control, core, DrmNode(options.gpu, drm_minor, core, options.control),
                    DebugfsFiles(options.gpu, index, core, options.control),
                    SysfsSensors(options.gpu, index, options.sensors, options.control),
                    std::move(*bar), HeldCalls(options.control)});
}

IoctlAnswer RigDevice::answer(std::uint32_t command, std::span<const std::byte> argument,
                              pid_t pid) {
  IoctlAnswer reply = node.answer(command, argument, pid);
  if (DrmNode::is_register_read(command, argument)) {
    bar->renew(core->last_guarded_read_ns());
  }
  return reply;
}

void RigDevice::idle(std::int64_t now_ns) {
  if (core->end_power_if_due(now_ns)) {
    bar->renew(now_ns);
    control->guarded = 0;
    ++control->power_downs;
    ::sem_post(&control->power_is_down);
  }
}

std::optional<std::int64_t> RigDevice::next_due_ns() const {
  const auto power = core->power_ends_ns();
  const auto call = held.next_due_ns();
  return power && call ? std::min(power, call) : power ? power : call;
}

}  // namespace gputrace::rig
