#include "tests/rig/drm_node.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "daemon/base/time.h"
#include "tests/rig/caller_memory.h"

namespace gputrace::rig {
namespace {

constexpr std::uint32_t kMaxRegistersPerCall = 128;  // amdgpu_kms.c
constexpr std::uint32_t kBroadcast = 0xff;           // SE or SH
constexpr std::uint32_t kMaxEngines = 4;             // AMDGPU_GFX_MAX_SE
constexpr std::uint32_t kMaxArrays = 2;              // AMDGPU_GFX_MAX_SH_PER_SE
constexpr int kFirstMinorWithDiscoveryVersion = 48;  // of interface version 3
constexpr std::string_view kDriverName = "amdgpu";
constexpr std::string_view kDriverDate = "20150101";
constexpr std::string_view kDriverDescription = "AMD GPU";
constexpr std::uint32_t kAllOnes = 0xffffffff;
constexpr std::uint64_t kGib = 1ULL << 30U;
constexpr std::uint64_t kGttBytes = 8 * kGib;

template <class T>
std::optional<T> struct_from(std::span<const std::byte> bytes) {
  T value{};
  if (bytes.size() != sizeof(T)) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> u32_bytes(std::uint32_t value) {
  return bytes_of(value);
}
std::vector<std::byte> u64_bytes(std::uint64_t value) {
  return bytes_of(value);
}

abi::DeviceInfo device_info(const GpuModel& gpu) {
  abi::DeviceInfo info{};
  info.device_id = gpu.device_id;
  info.external_rev = gpu.external_rev;
  info.pci_rev = gpu.pci_revision;
  info.family = gpu.family;
  info.shader_engines = gpu.shader_engines;
  info.arrays_per_engine = gpu.arrays_per_engine;
  info.counter_khz = 100'000;
  info.max_engine_khz = 1000ULL * gpu.max_engine_mhz;
  info.max_memory_khz = 1000ULL * gpu.max_memory_mhz;
  info.active_cus = gpu.compute_units;
  info.contexts = 8;
  info.ids_flags = gpu.apu ? 1 : 0;
  info.wave_size = gpu.wave_size;
  info.cus_per_array = gpu.compute_units / (gpu.shader_engines * gpu.arrays_per_engine);
  return info;
}

std::vector<std::byte> hw_ip_info(const GpuModel& gpu, int drm_minor) {
  abi::HwIpInfo info{};
  info.version_major = gpu.gc.major;
  info.version_minor = gpu.gc.minor;
  info.ib_start_alignment = 32;
  info.ib_size_alignment = 32;
  info.available_rings = 1;
  // amdgpu_kms.c fills this from Vega on, whether or not the chip has a discovery table.
  if (gpu.gc.major >= 9) {
    info.ip_discovery_version = (std::uint32_t{gpu.gc.major} << 16U) |
                                (std::uint32_t{gpu.gc.minor} << 8U) | gpu.gc.revision;
  }
  std::vector<std::byte> bytes = bytes_of(info);
  if (drm_minor < kFirstMinorWithDiscoveryVersion) {
    bytes.resize(offsetof(abi::HwIpInfo, ip_discovery_version));
  }
  return bytes;
}

abi::MemoryInfo memory_info(const GpuModel& gpu) {
  const abi::HeapInfo vram{gpu.vram_bytes, gpu.vram_bytes, gpu.vram_bytes / 4, gpu.vram_bytes / 2};
  return {vram, vram, {kGttBytes, kGttBytes, kGttBytes / 8, kGttBytes / 2}};
}

// Nothing where this kernel has no answer (EINVAL).
std::optional<std::vector<std::byte>> simple_query(const GpuModel& gpu, int drm_minor,
                                                   const abi::InfoRequest& request) {
  switch (static_cast<abi::Query>(request.query)) {
    case abi::Query::kAccelWorking:
      return u32_bytes(1);
    case abi::Query::kHwIpInfo:
      if (request.argument > abi::kHwIpDma) {
        return std::nullopt;
      }
      return hw_ip_info(gpu, drm_minor);
    case abi::Query::kHwIpCount:
      return u32_bytes(1);
    case abi::Query::kTimestamp:
      return u64_bytes(static_cast<std::uint64_t>(monotonic_now_ns()) / 10);  // counter_khz
    case abi::Query::kFirmwareVersion:
      return bytes_of(std::array<std::uint32_t, 2>{});
    case abi::Query::kBytesMoved:
    case abi::Query::kEvictions:
      return u64_bytes(0);
    case abi::Query::kVramUsage:
    case abi::Query::kVisibleVramUsage:
      return u64_bytes(memory_info(gpu).vram.used);
    case abi::Query::kGttUsage:
      return u64_bytes(memory_info(gpu).gtt.used);
    case abi::Query::kVramGtt:
      return bytes_of(abi::VramGtt{gpu.vram_bytes, gpu.vram_bytes, kGttBytes});
    case abi::Query::kDeviceInfo:
      return bytes_of(device_info(gpu));
    case abi::Query::kMemory:
      return bytes_of(memory_info(gpu));
    case abi::Query::kSensor:
      if (request.argument == abi::kSensorGfxSclk) {
        return u32_bytes(gpu.max_engine_mhz);
      }
      if (request.argument == abi::kSensorGfxMclk) {
        return u32_bytes(gpu.max_memory_mhz);
      }
      return std::nullopt;
    case abi::Query::kVramLostCounter:
      return u32_bytes(0);
    case abi::Query::kReadMmrReg:
      break;
  }
  return std::nullopt;
}

bool write_text(pid_t pid, std::uint64_t address, std::uint64_t room, std::string_view text) {
  const std::size_t size = std::min<std::size_t>(room, text.size());
  return address == 0 || size == 0 ||
         write_to_caller(pid, address, std::as_bytes(std::span(text).first(size)));
}

}  // namespace

int DrmNode::open_error() {
  ++control_->opens;
  if (control_->unplugged != 0) {
    return ENODEV;
  }
  if (control_->open_errno != 0) {
    return static_cast<int>(control_->open_errno);  // the VFS refuses before the driver is asked
  }
  if (control_->suspended.exchange(0) != 0) {
    ++control_->touched_while_suspended;
  }
  return 0;
}

void DrmNode::touch() {
  ++control_->ioctls;
  if (control_->suspended.exchange(0) != 0) {
    ++control_->touched_while_suspended;
  }
}

bool DrmNode::is_register_read(std::uint32_t command, std::span<const std::byte> argument) {
  if (command != abi::kIoctlAmdgpuInfo) {
    return false;
  }
  const auto request = struct_from<abi::InfoRequest>(argument);
  return request && static_cast<abi::Query>(request->query) == abi::Query::kReadMmrReg;
}

IoctlAnswer DrmNode::answer(std::uint32_t command, std::span<const std::byte> argument, pid_t pid) {
  if (control_->unplugged != 0) {
    return {ENODEV, {}};
  }
  switch (command) {
    case abi::kIoctlVersion:
      return version(argument, pid);
    case abi::kIoctlGetClient: {
      // A real render node refuses this. libdrm asks only because a FUSE file is no character
      // device, and amdgpu_device_initialize goes on when the client is authenticated.
      auto client = struct_from<abi::Client>(argument);
      if (!client) {
        return {EINVAL, {}};
      }
      client->authenticated = 1;
      return {0, bytes_of(*client)};
    }
    case abi::kIoctlGetCap: {
      auto capability = struct_from<abi::Capability>(argument);
      if (!capability) {
        return {EINVAL, {}};
      }
      capability->value = 0;
      return {0, bytes_of(*capability)};
    }
    case abi::kIoctlAmdgpuInfo:
      return {info(argument, pid), {}};
    default:
      return {EINVAL, {}};
  }
}

IoctlAnswer DrmNode::version(std::span<const std::byte> argument, pid_t pid) const {
  auto reply = struct_from<abi::Version>(argument);
  if (!reply) {
    return {EINVAL, {}};
  }
  if (!write_text(pid, reply->name, reply->name_length, kDriverName) ||
      !write_text(pid, reply->date, reply->date_length, kDriverDate) ||
      !write_text(pid, reply->description, reply->description_length, kDriverDescription)) {
    return {EFAULT, {}};
  }
  reply->major = 3;
  reply->minor = drm_minor_;
  reply->patch_level = 0;
  reply->name_length = kDriverName.size();
  reply->date_length = kDriverDate.size();
  reply->description_length = kDriverDescription.size();
  return {0, bytes_of(*reply)};
}

int DrmNode::info(std::span<const std::byte> argument, pid_t pid) {
  const auto request = struct_from<abi::InfoRequest>(argument);
  if (!request || request->return_size == 0 || request->return_pointer == 0) {
    return EINVAL;
  }
  if (static_cast<abi::Query>(request->query) == abi::Query::kReadMmrReg) {
    const int error = control_->no_read_mmr != 0 ? EINVAL : read_registers(*request, pid);
    ++(error == 0 ? control_->register_reads : control_->failed_register_reads);
    return error;
  }
  const auto reply = simple_query(gpu_, drm_minor_, *request);
  if (!reply) {
    return EINVAL;
  }
  const std::size_t size = std::min<std::size_t>(request->return_size, reply->size());
  return write_to_caller(pid, request->return_pointer, std::span(*reply).first(size)) ? 0 : EFAULT;
}

int DrmNode::register_error(std::uint32_t dword_offset, std::uint32_t count,
                            std::uint32_t instance) const {
  // In the order of amdgpu_info_ioctl: reset, then SE, SH, count, then the list.
  if (control_->read_errno != 0) {
    return static_cast<int>(control_->read_errno);
  }
  const std::uint32_t engine = instance & 0xffU;
  const std::uint32_t array = (instance >> 8U) & 0xffU;
  if ((engine != kBroadcast && engine >= kMaxEngines) ||
      (array != kBroadcast && array >= kMaxArrays) || count > kMaxRegistersPerCall) {
    return EINVAL;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!may_read(gpu_, dword_offset + i) || control_->denied_offset == dword_offset + i) {
      return EFAULT;
    }
  }
  return 0;
}

int DrmNode::read_registers(const abi::InfoRequest& request, pid_t pid) {
  if (const int error = register_error(request.argument, request.count, request.instance)) {
    return error;
  }
  const std::int64_t now_ns = monotonic_now_ns();
  core_->hold_power(now_ns);
  std::array<std::uint32_t, kMaxRegistersPerCall> words{};
  for (std::uint32_t i = 0; i < request.count; ++i) {
    words.at(i) = control_->all_ones != 0 ? kAllOnes : core_->word(request.argument + i, now_ns);
  }
  const auto bytes = std::as_bytes(std::span(words).first(request.count));
  const std::size_t size = std::min<std::size_t>(request.return_size, bytes.size());
  return write_to_caller(pid, request.return_pointer, bytes.first(size)) ? 0 : EFAULT;
}

}  // namespace gputrace::rig
