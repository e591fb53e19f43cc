#include "daemon/os/render_node.h"

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/os/render_node_reader.h"
#include "daemon/os/runtime_status.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;

constexpr std::uint32_t kBroadcast = 0xffffffff;  // `instance` of a plain register

// libdrm's answer for chips that its amdgpu.ids does not list (amdgpu_asic_id.c). The PCI ids,
// which sysfs gives then, say more; where this is a chip's true name, sysfs has found it in that
// file.
constexpr std::string_view kUnlistedName = "AMD Radeon Graphics";

struct CloseDevice {
  void operator()(amdgpu_device_handle device) const { amdgpu_device_deinitialize(device); }
};
using UniqueDevice = std::unique_ptr<std::remove_pointer_t<amdgpu_device_handle>, CloseDevice>;

std::string group_name(gid_t gid) {
  std::array<char, 4096> buffer{};
  group entry{};
  group* found = nullptr;
  if (::getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->gr_name;
  }
  return std::to_string(gid);
}

tl::unexpected<Error> fail_to_open(int error_number, const std::string& node) {
  Error error = error_from_errno(error_number, "cannot open " + node);
  struct stat info{};
  if (error.code == ErrorCode::kPermissionDenied && ::stat(node.c_str(), &info) == 0) {
    // Nobody should be told to join root's group.
    error.message +=
        info.st_gid == 0
            ? ". It belongs to group 'root'; udev should give it to 'render'. After that: "
              "`sudo usermod -aG render $USER`, then log in again"
            : fmt::format(
                  ". It belongs to group '{0}': `sudo usermod -aG {0} $USER`, then log in again",
                  group_name(info.st_gid));
  }
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_without_node(const GpuDevice& gpu) {
  return fail(ErrorCode::kUnsupported,
              gpu.card + " has no render node, which is the way in without root");
}

Result<UniqueFd> open_node(const GpuDevice& gpu) {
  if (gpu.render_node.empty()) {
    return fail_without_node(gpu);
  }
  if (is_asleep(read_text(gpu.device_dir / "power" / "runtime_status").value_or(""))) {
    return fail(ErrorCode::kBusy,
                fmt::format("{} ({}) is asleep and opening it would wake it. Start the program "
                            "that uses it first, or name another GPU",
                            gpu.identity.name, gpu.identity.pci));
  }
  UniqueFd fd(::open(gpu.render_node.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {
    return fail_to_open(errno, gpu.render_node.string());
  }
  return fd;
}

/// GC version from HW_IP_INFO: ip_discovery_version follows available_rings; older headers call
/// the word _pad, older kernels (KMS below 3.48) leave it 0.
std::optional<regdb::GcVersion> gc_from_kernel(amdgpu_device_handle device) {
  drm_amdgpu_info_hw_ip info{};
  if (amdgpu_query_hw_ip_info(device, AMDGPU_HW_IP_GFX, 0, &info) != 0) {
    return std::nullopt;
  }
  std::uint32_t version = 0;
  static_assert(offsetof(drm_amdgpu_info_hw_ip, available_rings) + 8 == sizeof info);
  std::memcpy(&version, &info.available_rings + 1, sizeof version);
  if (version == 0) {
    return std::nullopt;
  }
  return regdb::GcVersion{static_cast<std::uint8_t>(version >> 16U),
                          static_cast<std::uint8_t>(version >> 8U),
                          static_cast<std::uint8_t>(version)};
}

Result<regdb::GcVersion> find_gc(const GpuDevice& gpu, amdgpu_device_handle device,
                                 const drm_amdgpu_info_device& info,
                                 const regdb::RegisterDatabase& regdb) {
  if (gpu.identity.gc) {
    return *gpu.identity.gc;
  }
  if (const auto version = gc_from_kernel(device)) {
    return *version;
  }
  return regdb.gc_from_family(info.family, info.external_rev);
}

std::vector<OfferedRegister> candidates(const regdb::RegisterMap& map, unsigned shader_engines) {
  std::vector<OfferedRegister> offered;
  for (const regdb::Register& reg : map.registers) {
    if (reg.unprivileged && is_in_gpu(reg, shader_engines)) {
      offered.push_back({reg.name, reg.dword_offset, "drm ioctl"});
    }
  }
  return offered;
}

RenderNodeAccess make_access(UniqueDevice device, const GpuDevice& gpu) {
  RenderNodeAccess access;
  access.node = gpu.render_node.string();
  access.read_registers = [handle = std::shared_ptr(std::move(device))](
                              std::uint32_t offset, std::span<std::uint32_t> words) {
    return -amdgpu_read_mm_registers(handle.get(), offset, static_cast<unsigned>(words.size()),
                                     kBroadcast, 0, words.data());
  };
  // Without the file (a kernel without runtime power management) the device does not sleep; after
  // an unplug the ioctl says so.
  access.is_asleep = [status = std::make_shared<RuntimeStatus>(gpu.device_dir)] {
    return status->look() == PowerState::kAsleep;
  };
  access.now_ns = [] { return monotonic_now_ns(); };
  return access;
}

tl::unexpected<Error> fail_to_read(int error_number, const std::string& node) {
  if (error_number == ENOENT) {
    return fail(ErrorCode::kBusy, "the GPU behind " + node + " is being reset; try again");
  }
  if (error_number == EINVAL) {
    return fail(ErrorCode::kUnsupported, "the kernel's amdgpu driver does not read registers for " +
                                             node +
                                             " (AMDGPU_INFO_READ_MMR_REG: Invalid argument)");
  }
  return fail_errno(error_number, "cannot read status registers through " + node);
}

std::vector<std::string> refusal_notes(const std::vector<OfferedRegister>& refused) {
  std::vector<std::string> notes;
  notes.reserve(refused.size());
  for (const OfferedRegister& reg : refused) {
    notes.push_back(fmt::format("this kernel refuses {} ({:#06x}) to unprivileged programs",
                                reg.name, reg.dword_offset));
  }
  return notes;
}

}  // namespace

Status check_render_node(const GpuDevice& gpu) {
  if (gpu.render_node.empty()) {
    return fail_without_node(gpu);
  }
  if (::faccessat(AT_FDCWD, gpu.render_node.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
    return fail_to_open(errno, gpu.render_node.string());
  }
  return {};
}

bool is_in_gpu(const regdb::Register& reg, unsigned shader_engines) {
  const auto engine = number_after(reg.name, "GRBM_STATUS_SE");
  return !engine || *engine < shader_engines;
}

Result<OpenedRenderNode> open_render_node(const GpuDevice& gpu,
                                          const regdb::RegisterDatabase& regdb) {
  const std::string node = gpu.render_node.string();
  const Result<UniqueFd> fd = open_node(gpu);
  if (!fd) {
    return tl::unexpected(fd.error());
  }
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  amdgpu_device_handle handle = nullptr;
  // It duplicates the descriptor, so ours may go at the end of this function. It reads
  // GB_ADDR_CONFIG with READ_MMR_REG, so its errors are those of register reads.
  if (const int error = amdgpu_device_initialize(fd->get(), &major, &minor, &handle); error != 0) {
    return fail_to_read(-error, node);
  }
  UniqueDevice device(handle);
  drm_amdgpu_info_device info{};
  if (const int error = amdgpu_query_info(handle, AMDGPU_INFO_DEV_INFO, sizeof info, &info);
      error != 0) {
    return fail_errno(-error, "cannot ask " + node + " for its properties");
  }
  OpenedRenderNode opened;
  opened.identity = gpu.identity;
  opened.identity.driver = fmt::format("amdgpu {}.{}", major, minor);
  if (const char* name = amdgpu_get_marketing_name(handle);
      name != nullptr && std::string_view(name) != kUnlistedName) {
    opened.identity.name = name;
  }
  opened.shader_engines = info.num_shader_engines;
  const Result<regdb::GcVersion> gc = find_gc(gpu, handle, info, regdb);
  if (!gc) {
    return fail(gc.error(), "cannot tell the graphics core of " + node);
  }
  opened.identity.gc = *gc;
  const Result<regdb::RegisterMap> map = regdb.map_for(*gc);
  if (!map) {
    return fail(map.error(), "cannot read " + node);
  }
  RenderNodeAccess access = make_access(std::move(device), gpu);
  ProbeOutcome probe = probe_registers(candidates(*map, info.num_shader_engines), access);
  if (probe.error != 0) {
    return fail_to_read(probe.error, node);
  }
  if (probe.accepted.empty()) {
    return fail(ErrorCode::kUnsupported,
                "this kernel lets no status register be read through " + node);
  }
  opened.notes = refusal_notes(probe.refused);
  opened.reader = std::make_unique<RenderNodeReader>(std::move(probe.accepted), std::move(access));
  return opened;
}

}  // namespace gputrace::os
