#include "tests/rig/caller_memory.h"

#include <sys/uio.h>

#include <bit>

namespace gputrace::rig {

bool write_to_caller(pid_t pid, std::uint64_t address, std::span<const std::byte> bytes) noexcept {
  // iovec has no const; process_vm_writev only reads the local side.
  iovec local{std::bit_cast<void*>(bytes.data()), bytes.size()};
  iovec remote{std::bit_cast<void*>(address), bytes.size()};
  return ::process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace gputrace::rig
