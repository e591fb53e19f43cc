// A read-only mapping of a file.
#pragma once

#include <cstddef>
#include <span>

#include "daemon/base/result.h"

namespace gputrace {

class MappedRegion {
 public:
  /// Maps the whole regular file behind `fd` (which may be closed afterwards). `name` is for the
  /// error text. An empty file is kCorrupt: mmap refuses length 0.
  static Result<MappedRegion> map_file(int fd, std::string_view name);

  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  MappedRegion(const std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

}  // namespace gputrace
