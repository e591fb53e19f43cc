#include "daemon/recorder/disk_reserve.h"

#include <sys/statvfs.h>

namespace gputrace::recorder {

bool DiskReserve::may_write() {
  if (reserve_bytes_ == 0) {
    return true;
  }
  struct statvfs info{};
  if (::statvfs(folder_.c_str(), &info) != 0) {
    free_bytes_.reset();
    return !low_;  // the write itself will say what is wrong
  }
  free_bytes_ = std::uint64_t{info.f_bavail} * info.f_frsize;
  low_ = *free_bytes_ < (low_ ? reserve_bytes_ + reserve_bytes_ / 20 : reserve_bytes_);
  return !low_;
}

}  // namespace gputrace::recorder
