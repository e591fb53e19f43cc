#include "daemon/base/mapped_region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace gputrace {

Result<MappedRegion> MappedRegion::map(int fd, std::uint64_t offset, std::size_t size,
                                       std::string_view name) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = offset / page * page;
  const auto skipped = static_cast<std::size_t>(offset - first);
  const std::size_t pages_size = skipped + size;
  void* pages = ::mmap(nullptr, pages_size, PROT_READ, MAP_SHARED, fd, static_cast<::off_t>(first));
  if (pages == MAP_FAILED) {  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): the macro's cast
    return fail_errno(errno, "cannot map " + std::string(name));
  }
  return MappedRegion(pages, pages_size, skipped, size);
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      pages_size_(std::exchange(other.pages_size_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(pages_size_, other.pages_size_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedRegion::~MappedRegion() {
  if (pages_ != nullptr) {
    ::munmap(pages_, pages_size_);
  }
}

}  // namespace gputrace
