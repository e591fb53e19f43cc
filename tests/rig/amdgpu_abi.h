// The part of the kernel's DRM interface that the rig answers, written down from the layout of
// include/uapi/drm/{drm,amdgpu_drm}.h. Not taken from libdrm's copy: that one differs by version,
// and the rig must notice when the program and the kernel's layout disagree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputrace::rig::abi {

inline constexpr std::uint32_t kIoctlVersion = 0xc0406400;
inline constexpr std::uint32_t kIoctlGetClient = 0xc0286405;
inline constexpr std::uint32_t kIoctlGetCap = 0xc010640c;
inline constexpr std::uint32_t kIoctlAmdgpuInfo = 0x40206445;

struct Version {
  std::int32_t major;
  std::int32_t minor;
  std::int32_t patch_level;
  std::uint32_t padding;
  std::uint64_t name_length;
  std::uint64_t name;
  std::uint64_t date_length;
  std::uint64_t date;
  std::uint64_t description_length;
  std::uint64_t description;
};
static_assert(sizeof(Version) == 64);

struct Client {
  std::int32_t index;
  std::int32_t authenticated;
  std::uint64_t pid;
  std::uint64_t uid;
  std::uint64_t magic;
  std::uint64_t ioctl_count;
};
static_assert(sizeof(Client) == 40);

struct Capability {
  std::uint64_t capability;
  std::uint64_t value;
};

enum class Query : std::uint32_t {
  kAccelWorking = 0x00,
  kHwIpInfo = 0x02,
  kHwIpCount = 0x03,
  kTimestamp = 0x05,
  kFirmwareVersion = 0x0e,
  kBytesMoved = 0x0f,
  kVramUsage = 0x10,
  kGttUsage = 0x11,
  kVramGtt = 0x14,
  kReadMmrReg = 0x15,
  kDeviceInfo = 0x16,
  kVisibleVramUsage = 0x17,
  kEvictions = 0x18,
  kMemory = 0x19,
  kSensor = 0x1d,
  kVramLostCounter = 0x1f,
};

struct InfoRequest {
  std::uint64_t return_pointer;
  std::uint32_t return_size;
  std::uint32_t query;
  std::uint32_t argument;  ///< dword_offset, type
  std::uint32_t count;     ///< of registers; ip_instance
  std::uint32_t instance;  ///< shader engine in bits 0-7, array in bits 8-15
  std::uint32_t flags;
};
static_assert(sizeof(InfoRequest) == 32);

inline constexpr std::uint32_t kSensorGfxSclk = 1;
inline constexpr std::uint32_t kSensorGfxMclk = 2;

inline constexpr std::uint32_t kHwIpGfx = 0;
inline constexpr std::uint32_t kHwIpCompute = 1;
inline constexpr std::uint32_t kHwIpDma = 2;

struct HwIpInfo {
  std::uint32_t version_major;
  std::uint32_t version_minor;
  std::uint64_t capabilities;
  std::uint32_t ib_start_alignment;
  std::uint32_t ib_size_alignment;
  std::uint32_t available_rings;
  std::uint32_t ip_discovery_version;  ///< since KMS 3.48
};
static_assert(sizeof(HwIpInfo) == 32);

struct HeapInfo {
  std::uint64_t total;
  std::uint64_t usable;
  std::uint64_t used;
  std::uint64_t max_allocation;
};
struct MemoryInfo {
  HeapInfo vram;
  HeapInfo visible_vram;
  HeapInfo gtt;
};
struct VramGtt {
  std::uint64_t vram;
  std::uint64_t visible_vram;
  std::uint64_t gtt;
};

/// drm_amdgpu_info_device with the fields the rig fills by name and the others as gaps.
struct DeviceInfo {
  std::uint32_t device_id;
  std::uint32_t chip_rev;
  std::uint32_t external_rev;
  std::uint32_t pci_rev;
  std::uint32_t family;
  std::uint32_t shader_engines;
  std::uint32_t arrays_per_engine;
  std::uint32_t counter_khz;
  std::uint64_t max_engine_khz;
  std::uint64_t max_memory_khz;
  std::uint32_t active_cus;
  std::uint32_t cu_always_on_mask;
  std::uint32_t cu_bitmap[4][4];
  std::uint32_t rb_mask;
  std::uint32_t rb_pipes;
  std::uint32_t contexts;
  std::uint32_t pcie_generation;
  std::uint64_t ids_flags;  ///< bit 0: APU
  std::uint8_t gap_144[96];
  std::uint32_t wave_size;
  std::uint32_t visible_vgprs;
  std::uint32_t cus_per_array;
  std::uint32_t tcc_blocks;
  std::uint8_t gap_256[112];
  std::uint64_t min_engine_khz;
  std::uint64_t min_memory_khz;
  std::uint8_t gap_384[56];
};
static_assert(offsetof(DeviceInfo, cu_bitmap) == 56);
static_assert(offsetof(DeviceInfo, ids_flags) == 136);
static_assert(offsetof(DeviceInfo, wave_size) == 240);
static_assert(offsetof(DeviceInfo, tcc_blocks) == 252);
static_assert(offsetof(DeviceInfo, min_engine_khz) == 368);
static_assert(sizeof(DeviceInfo) == 440);

}  // namespace gputrace::rig::abi
