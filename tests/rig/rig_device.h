// One GPU of the rig, with everything that answers for it. Knows the order of things, nothing of
// FUSE's callbacks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "daemon/base/result.h"
#include "tests/rig/bar_file.h"
#include "tests/rig/control.h"
#include "tests/rig/debugfs_files.h"
#include "tests/rig/drm_node.h"
#include "tests/rig/graphics_core.h"
#include "tests/rig/held_calls.h"
#include "tests/rig/rig_sensors.h"
#include "tests/rig/sysfs_sensors.h"

namespace gputrace::rig {

struct DeviceOptions {
  GpuModel gpu = default_gpu_model();
  std::shared_ptr<WordSource> words;
  std::shared_ptr<const RigSensors> sensors;
  std::shared_ptr<RigControl> control;
};

struct RigDevice {
  /// `index` of the GPU in the tree.
  static Result<std::unique_ptr<RigDevice>> make(const DeviceOptions& options, std::size_t index,
                                                 int drm_minor);

  /// Answers an ioctl of the render node. The BAR is never behind what the caller has just read.
  [[nodiscard]] IoctlAnswer answer(std::uint32_t command, std::span<const std::byte> argument,
                                   pid_t pid);
  /// No request waits to be served.
  void idle(std::int64_t now_ns);
  /// When idle() or the held calls have something to do.
  [[nodiscard]] std::optional<std::int64_t> next_due_ns() const;

  std::shared_ptr<RigControl> control;
  std::shared_ptr<GraphicsCore> core;
  DrmNode node;
  DebugfsFiles debugfs;
  SysfsSensors sensors;
  std::unique_ptr<BarFile> bar;
  HeldCalls held;
};

}  // namespace gputrace::rig
