#include "tests/support/counted_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> frees{0};
}  // namespace

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

namespace gputrace::test {

std::uint64_t allocation_count() noexcept {
  return allocations;
}
std::uint64_t free_count() noexcept {
  return frees;
}

}  // namespace gputrace::test
