#include "daemon/base/mapped_region.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace gputrace {

Result<MappedRegion> MappedRegion::map_file(int fd, std::string_view name) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return fail_errno(errno, "cannot stat " + std::string(name));
  }
  if (!S_ISREG(info.st_mode) || info.st_size <= 0) {
    return fail(ErrorCode::kCorrupt, std::string(name) + " is empty or not a regular file");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): the macro's cast
    return fail_errno(errno, "cannot map " + std::string(name));
  }
  return MappedRegion(static_cast<const std::byte*>(data), size);
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedRegion::~MappedRegion() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

}  // namespace gputrace
