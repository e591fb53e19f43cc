// Registers through debugfs: amdgpu_regs2, and amdgpu_regs of older kernels. Both files are opened
// read-only; no bank is ever selected, so nothing is written to the GPU either.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/guarded_reader.h"

namespace gputrace::os {

/// System calls that tests replace. Same results and errno.
struct DebugfsCalls {
  std::function<int(int fd, unsigned long request, void* argument)> ioctl;
  std::function<ssize_t(int fd, void* buffer, std::size_t size, off_t offset)> pread;

  [[nodiscard]] static DebugfsCalls of_system();
};

/// The GPU's folder under sys/kernel/debug/dri: that of its card number or, on newer kernels, of
/// its PCI address. The file `name` in it must state the address, or another GPU might be read.
[[nodiscard]] Result<std::filesystem::path> find_debugfs_folder(const GpuDevice& gpu,
                                                                const SystemRoots& roots);

/// kUnsupported when this kernel's file knows neither form of its ioctl.
[[nodiscard]] Result<std::unique_ptr<PrivilegedRegisters>> open_debugfs_regs2(
    const std::filesystem::path& folder, DebugfsCalls calls = DebugfsCalls::of_system());
[[nodiscard]] Result<std::unique_ptr<PrivilegedRegisters>> open_debugfs_regs(
    const std::filesystem::path& folder, DebugfsCalls calls = DebugfsCalls::of_system());

}  // namespace gputrace::os
