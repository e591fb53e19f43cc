// amdgpu_regs, amdgpu_regs2 and clients in sys/kernel/debug/dri/N, as amdgpu_debugfs.c and
// drm_debugfs.c answer them, faults included. Knows nothing of FUSE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/rig/control.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/graphics_core.h"
#include "tests/rig/open_files.h"

namespace gputrace::rig {

struct RegistersAnswer {
  int error = 0;  ///< errno, 0 for success
  std::vector<std::byte> bytes;
};

class DebugfsFiles {
 public:
  /// `index` of the GPU in the tree.
  DebugfsFiles(const GpuModel& gpu, std::size_t index, std::shared_ptr<GraphicsCore> core,
               std::shared_ptr<RigControl> control)
      : gpu_(gpu), index_(index), core_(std::move(core)), control_(std::move(control)) {}

  /// What open(2) of a register file returns: 0 or an errno. Wakes nothing, as in the kernel.
  [[nodiscard]] int open_error() const;
  /// pread(2): wakes a suspended device.
  [[nodiscard]] RegistersAnswer read(const OpenFile& file, std::size_t size, std::uint64_t offset);
  /// ioctl(2) on amdgpu_regs2: 0 or an errno.
  [[nodiscard]] int set_state(OpenFile& file, std::uint32_t command,
                              std::span<const std::byte> argument) const;
  [[nodiscard]] std::string clients_text(const OpenFiles& files) const;

 private:
  struct Request;
  [[nodiscard]] int request_of(const OpenFile& file, std::size_t size, std::uint64_t offset,
                               Request& request) const;

  GpuModel gpu_;
  std::size_t index_;
  std::shared_ptr<GraphicsCore> core_;
  std::shared_ptr<RigControl> control_;
};

}  // namespace gputrace::rig
