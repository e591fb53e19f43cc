#include "tests/rig/bar_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "regdb/register_database.h"

namespace gputrace::rig {

namespace {
constexpr std::uint32_t kAllOnes = 0xffffffff;
}

unsigned bar_number(const GpuModel& gpu) {
  return gpu.gc.major == 6 ? 2 : 5;
}

Result<std::unique_ptr<BarFile>> BarFile::make(const GpuModel& gpu,
                                               std::shared_ptr<GraphicsCore> core,
                                               std::shared_ptr<RigControl> control) {
  const auto map = regdb::RegisterDatabase::built_in().map_for(gpu.gc);
  if (!map) {
    return tl::unexpected(map.error());
  }
  std::vector<std::uint32_t> offsets;
  for (const regdb::Register& reg : map->registers) {
    GPUTRACE_CHECK(std::uint64_t{reg.dword_offset} < kBarBytes / sizeof(std::uint32_t));
    offsets.push_back(reg.dword_offset);
  }
  UniqueFd file(::memfd_create("gputrace-rig-bar", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(kBarBytes)) != 0) {
    return fail_errno(errno, "cannot make the memory of the rig's BAR");
  }
  void* pages = ::mmap(nullptr, kBarBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (pages == MAP_FAILED) {  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): the macro's cast
    return fail_errno(errno, "cannot map the memory of the rig's BAR");
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0) {
    const int error = errno;
    ::munmap(pages, kBarBytes);
    return fail_errno(error, "cannot seal the memory of the rig's BAR");
  }
  return std::unique_ptr<BarFile>(new BarFile(std::move(file), static_cast<std::uint32_t*>(pages),
                                              std::move(offsets), std::move(core),
                                              std::move(control)));
}

BarFile::BarFile(UniqueFd file, std::uint32_t* words, std::vector<std::uint32_t> offsets,
                 std::shared_ptr<GraphicsCore> core, std::shared_ptr<RigControl> control)
    : file_(std::move(file)),
      words_(words),
      offsets_(std::move(offsets)),
      core_(std::move(core)),
      control_(std::move(control)),
      path_(fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get())) {}

BarFile::~BarFile() {
  ::munmap(words_, kBarBytes);
}

const std::string& BarFile::path_for_client() {
  is_in_use_ = true;
  return path_;
}

void BarFile::renew(std::int64_t now_ns) {
  if (!is_in_use_) {
    return;
  }
  const bool is_there = control_->unplugged == 0;
  if (is_there != has_pages_) {
    has_pages_ = ::ftruncate(file_.get(), is_there ? static_cast<off_t>(kBarBytes) : 0) == 0
                     ? is_there
                     : has_pages_;
  }
  if (!has_pages_) {
    return;
  }
  const bool is_dead = !core_->has_power() || control_->all_ones != 0 ||
                       control_->bar_all_ones != 0 || control_->suspended != 0;
  for (const std::uint32_t offset : offsets_) {
    const std::uint32_t word = is_dead ? kAllOnes : core_->word(offset, now_ns);
    std::atomic_ref(words_[offset]).store(word, std::memory_order_relaxed);
  }
}

}  // namespace gputrace::rig
