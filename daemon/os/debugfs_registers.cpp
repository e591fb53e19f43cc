#include "daemon/os/debugfs_registers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

// amdgpu_umr.h. All zero: no bank of GRBM or SRBM selected, power gating not held.
struct Regs2State {
  std::uint32_t use_srbm, use_grbm, pg_lock;
  std::uint32_t grbm_se, grbm_sh, grbm_instance;
  std::uint32_t srbm_me, srbm_pipe, srbm_queue, srbm_vmid;
};
struct Regs2StateV2 {
  Regs2State v1;
  std::uint32_t xcc_id;
};
constexpr unsigned kRegs2Magic = 0x20;
// NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast): of the kernel's macro
constexpr unsigned long kSetState = _IOWR(kRegs2Magic, 0, Regs2State);
constexpr unsigned long kSetStateV2 = _IOWR(kRegs2Magic, 1, Regs2StateV2);
// NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast)
static_assert(kSetState == 0xc0282000 && kSetStateV2 == 0xc02c2001);

// Of the offset of amdgpu_regs, bits 0 to 21 are the address, those above choose banks
// (amdgpu_debugfs_process_reg_op, amdgpu_debugfs.c).
constexpr std::uint64_t kRegsAddressEnd = std::uint64_t{1} << 22U;

constexpr int kMostInterruptions = 8;

class DebugfsRegisters final : public PrivilegedRegisters {
 public:
  DebugfsRegisters(UniqueFd file, std::string path, DebugfsCalls calls, std::uint64_t address_end)
      : file_(std::move(file)),
        path_(std::move(path)),
        calls_(std::move(calls)),
        address_end_(address_end) {}

  [[nodiscard]] int read(std::uint32_t first_dword_offset,
                         std::span<std::uint32_t> words) noexcept override {
    const std::uint64_t address = std::uint64_t{first_dword_offset} * sizeof(std::uint32_t);
    if (address + words.size_bytes() > address_end_) {
      return EINVAL;
    }
    ssize_t size = 0;
    int interruptions = 0;
    do {
      size =
          calls_.pread(file_.get(), words.data(), words.size_bytes(), static_cast<off_t>(address));
    } while (size < 0 && errno == EINTR && ++interruptions < kMostInterruptions);
    if (size < 0) {
      return errno;
    }
    return static_cast<std::size_t>(size) == words.size_bytes() ? 0 : EIO;
  }
  [[nodiscard]] const std::string& path() const noexcept override { return path_; }

 private:
  UniqueFd file_;
  std::string path_;
  DebugfsCalls calls_;
  std::uint64_t address_end_;
};

Result<UniqueFd> open_read_only(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail_errno(errno, "cannot open " + file.string());
  }
  return fd;
}

bool is_unknown_ioctl(int error_number) {
  return error_number == ENOTTY || error_number == EINVAL;
}

/// "amdgpu dev=0000:c4:00.0 unique=0000:c4:00.0" (drm_name_info, drm_debugfs.c).
bool names_device(std::string_view text, std::string_view pci) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n");
    const std::string_view word = text.substr(0, end);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && word.substr(equals + 1) == pci) {
      return true;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

/// Why the folder `dri` cannot be used at all; success when it can be searched.
Status check_root(const std::filesystem::path& dri) {
  const UniqueFd folder(::open(dri.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder) {
    return {};
  }
  if (errno == ENOENT) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{0} is not there: debugfs is not mounted (`mount -t debugfs none "
                            "{1}`), or the kernel has none",
                            dri.string(), dri.parent_path().string()));
  }
  return fail_errno(errno, "cannot open " + dri.string());
}

}  // namespace

DebugfsCalls DebugfsCalls::of_system() {
  return {
      [](int fd, unsigned long request, void* argument) { return ::ioctl(fd, request, argument); },
      [](int fd, void* buffer, std::size_t size, off_t offset) {
        return ::pread(fd, buffer, size, offset);
      }};
}

Result<std::filesystem::path> find_debugfs_folder(const GpuDevice& gpu, const SystemRoots& roots) {
  const std::filesystem::path dri = roots.sys / "kernel/debug/dri";
  if (const Status status = check_root(dri); !status) {
    return tl::unexpected(status.error());
  }
  const auto card = number_after(gpu.card, "card");
  std::string refusals;
  for (const std::string& folder : {card ? std::to_string(*card) : "", gpu.identity.pci}) {
    if (folder.empty()) {
      continue;
    }
    const std::filesystem::path file = dri / folder / "name";
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd && errno == EACCES) {
      return fail_errno(errno, "cannot open " + file.string());
    }
    const auto text = fd ? read_text(file) : std::nullopt;
    if (text && !gpu.identity.pci.empty() && names_device(*text, gpu.identity.pci)) {
      return dri / folder;
    }
    refusals += fmt::format("{}{} {}", refusals.empty() ? "" : ", ", file.string(),
                            text ? "is of another device" : "is not there");
  }
  return fail(ErrorCode::kNotFound, fmt::format("no folder of {} ({}) is in debugfs: {}", gpu.card,
                                                gpu.identity.pci, refusals));
}

Result<std::unique_ptr<PrivilegedRegisters>> open_debugfs_regs2(const std::filesystem::path& folder,
                                                                DebugfsCalls calls) {
  const std::filesystem::path file = folder / "amdgpu_regs2";
  Result<UniqueFd> fd = open_read_only(file);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  Regs2StateV2 state{};
  int error = calls.ioctl(fd->get(), kSetStateV2, &state) == 0 ? 0 : errno;
  if (is_unknown_ioctl(error)) {  // before Linux 6.4
    state = {};
    error = calls.ioctl(fd->get(), kSetState, &state.v1) == 0 ? 0 : errno;
  }
  if (is_unknown_ioctl(error)) {
    return fail(ErrorCode::kUnsupported, file.string() + " knows no ioctl SET_STATE");
  }
  if (error != 0) {
    return fail_errno(error, "ioctl SET_STATE on " + file.string());
  }
  constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 32U;
  return std::make_unique<DebugfsRegisters>(std::move(*fd), file.string(), std::move(calls),
                                            kAddressEnd);
}

Result<std::unique_ptr<PrivilegedRegisters>> open_debugfs_regs(const std::filesystem::path& folder,
                                                               DebugfsCalls calls) {
  const std::filesystem::path file = folder / "amdgpu_regs";
  Result<UniqueFd> fd = open_read_only(file);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  return std::make_unique<DebugfsRegisters>(std::move(*fd), file.string(), std::move(calls),
                                            kRegsAddressEnd);
}

}  // namespace gputrace::os
