#include "tests/support/counted_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/sanitizers.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> frees{0};
}  // namespace

#ifdef GPUTRACE_THREAD_SANITIZER
// Clang links the sanitizer's own operator new into each program, which tells of what it gives.
#include <sanitizer/allocator_interface.h>

namespace {
[[maybe_unused]] const int kHooked = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void* /*memory*/, std::size_t /*size*/) { ++allocations; },
    [](const volatile void* /*memory*/) { ++frees; });
}  // namespace
#else
// The nothrow, array and sized forms of libstdc++ end in these two.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  std::abort();
}
void operator delete(void* memory) noexcept {
  ++frees;
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
#endif

namespace gputrace::test {

std::uint64_t allocation_count() noexcept {
  return allocations;
}
std::uint64_t free_count() noexcept {
  return frees;
}

}  // namespace gputrace::test
