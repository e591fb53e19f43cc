// Answers the ioctls of a render node as amdgpu does, faults included. Knows nothing of FUSE.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/rig/amdgpu_abi.h"
#include "tests/rig/control.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/graphics_core.h"

namespace gputrace::rig {

struct IoctlAnswer {
  int error = 0;                  ///< errno, 0 for success
  std::vector<std::byte> result;  ///< the argument struct as the caller gets it back
};

class DrmNode {
 public:
  DrmNode(const GpuModel& gpu, int drm_minor, std::shared_ptr<GraphicsCore> core,
          std::shared_ptr<RigControl> control)
      : gpu_(gpu), drm_minor_(drm_minor), core_(std::move(core)), control_(std::move(control)) {}

  /// What open(2) returns: 0 or an errno. Counts, and wakes a suspended device.
  [[nodiscard]] int open_error();
  /// Counts one ioctl and wakes a suspended device.
  void touch();
  [[nodiscard]] static bool is_register_read(std::uint32_t command,
                                             std::span<const std::byte> argument);
  /// `argument` is the struct of _IOC_SIZE bytes; pointers in it are followed into process `pid`.
  [[nodiscard]] IoctlAnswer answer(std::uint32_t command, std::span<const std::byte> argument,
                                   pid_t pid);

 private:
  [[nodiscard]] IoctlAnswer version(std::span<const std::byte> argument, pid_t pid) const;
  [[nodiscard]] int info(std::span<const std::byte> argument, pid_t pid);
  [[nodiscard]] int read_registers(const abi::InfoRequest& request, pid_t pid);
  [[nodiscard]] int register_error(std::uint32_t dword_offset, std::uint32_t count,
                                   std::uint32_t instance) const;

  GpuModel gpu_;
  int drm_minor_;
  std::shared_ptr<GraphicsCore> core_;
  std::shared_ptr<RigControl> control_;
};

}  // namespace gputrace::rig
