// Pages of this process that are lent to a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/base/result.h"

namespace gputrace::vulkan {

/// Move-only. Zeros until they are written.
class HostPages {
 public:
  HostPages() = default;
  /// `alignment`: a power of two, also of the size, which is rounded up. kNoSpace.
  [[nodiscard]] static Result<HostPages> map(std::uint64_t bytes, std::uint64_t alignment);

  HostPages(HostPages&& other) noexcept;
  HostPages& operator=(HostPages&& other) noexcept;
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  ~HostPages();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapping_size_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace gputrace::vulkan
