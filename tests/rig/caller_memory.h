// Pointers inside a DRM struct point into the process that made the call: FUSE carries only the
// struct itself, so the server writes there with process_vm_writev(2).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gputrace::rig {

/// False when the address is not writable or the server may not touch that process.
[[nodiscard]] bool write_to_caller(pid_t pid, std::uint64_t address,
                                   std::span<const std::byte> bytes) noexcept;

}  // namespace gputrace::rig
