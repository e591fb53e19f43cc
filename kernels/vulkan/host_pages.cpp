#include "kernels/vulkan/host_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <limits>
#include <memory>
#include <utility>

namespace gputrace::vulkan {

Result<HostPages> HostPages::map(std::uint64_t bytes, std::uint64_t alignment) {
  GPUTRACE_CHECK(std::has_single_bit(alignment));
  const auto refuse = [&] {
    return fail(ErrorCode::kNoSpace, fmt::format("cannot map {} bytes of memory", bytes));
  };
  if (bytes == 0 || bytes > std::numeric_limits<std::size_t>::max() / 2 ||
      alignment > std::numeric_limits<std::size_t>::max() / 4) {
    return refuse();
  }
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  // The kernel aligns to its pages; a GPU may ask for more.
  const std::size_t mapped = size + alignment;
  void* const mapping =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return refuse();
  }
  HostPages pages;
  pages.mapping_ = mapping;
  pages.mapping_size_ = mapped;
  void* begin = mapping;
  std::size_t room = mapped;
  GPUTRACE_CHECK(std::align(alignment, size, begin, room) != nullptr);
  pages.bytes_ = {static_cast<std::byte*>(begin), size};
  return pages;
}

HostPages::HostPages(HostPages&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(std::exchange(other.mapping_size_, 0)),
      bytes_(std::exchange(other.bytes_, {})) {}

HostPages& HostPages::operator=(HostPages&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_size_, other.mapping_size_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostPages::~HostPages() {
  if (mapping_ != nullptr) {
    ::munmap(mapping_, mapping_size_);
  }
}

}  // namespace gputrace::vulkan
