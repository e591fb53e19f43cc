// Registers through the GPU's register BAR, mapped read-only from sysfs (resource5, on GC 6
// resource2). Root only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/guarded_reader.h"
#include "regdb/gc_version.h"

namespace gputrace::os {

/// 2 on SI (GC 6), else 5 (amdgpu_device_init, amdgpu_device.c).
[[nodiscard]] int register_bar_number(regdb::GcVersion gc);

/// Size in bytes of one BAR of the device, which libpci finds in
/// sys/bus/pci/devices/ADDRESS/resource; kNotFound when the device has no such BAR in memory.
[[nodiscard]] Result<std::uint64_t> bar_size(const GpuDevice& gpu, int bar,
                                             const SystemRoots& roots);

/// Maps the pages that hold `registers`, no more. kUnsupported when the BAR is too small for them.
[[nodiscard]] Result<std::unique_ptr<PrivilegedRegisters>> open_register_bar(
    const GpuDevice& gpu, regdb::GcVersion gc, std::span<const sampler::OfferedRegister> registers,
    const SystemRoots& roots);

}  // namespace gputrace::os
