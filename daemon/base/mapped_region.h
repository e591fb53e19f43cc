// A read-only, shared mapping of a part of a file: nothing can be written through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace {

class MappedRegion {
 public:
  /// Maps the pages that hold [offset, offset + size) of the file behind `fd`, which may be closed
  /// afterwards. `name` is for the error text. The caller has checked that the file is so long:
  /// a load from beyond its end raises SIGBUS.
  [[nodiscard]] static Result<MappedRegion> map(int fd, std::uint64_t offset, std::size_t size,
                                                std::string_view name);

  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion();

  /// Exactly the bytes asked for.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  MappedRegion(void* pages, std::size_t pages_size, std::size_t skipped, std::size_t size) noexcept
      : pages_(pages),
        pages_size_(pages_size),
        data_(static_cast<const std::byte*>(pages) + skipped),
        size_(size) {}

  void* pages_;
  std::size_t pages_size_;
  const std::byte* data_;
  std::size_t size_;
};

}  // namespace gputrace
