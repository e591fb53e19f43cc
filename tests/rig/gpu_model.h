// The GPUs that the rig can stand in for: what amdgpu and sysfs say of each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "regdb/gc_version.h"

namespace gputrace::rig {

/// Which *_allowed_read_registers table of the kernel applies (si.c, cik.c, vi.c, soc15.c; nv.c,
/// soc21.c and soc24.c are alike).
enum class ReadTable { kSi, kCik, kVi, kSoc15, kNv };

struct GpuModel {
  std::string_view key;             ///< argument of --gpu: "780m"
  std::string_view marketing_name;  ///< as libdrm's amdgpu.ids has it; "" where not used
  regdb::GcVersion gc;
  ReadTable read_table = ReadTable::kNv;
  std::uint16_t device_id = 0;
  std::uint8_t pci_revision = 0;
  std::uint32_t family = 0;        ///< AMDGPU_FAMILY_*
  std::uint32_t external_rev = 0;  ///< tells chips of one family apart
  std::uint32_t shader_engines = 1;
  std::uint32_t arrays_per_engine = 1;
  std::uint32_t compute_units = 0;
  std::uint32_t sdma_engines = 1;
  bool ip_discovery = true;  ///< the sysfs tree; false for chips older than the discovery table
  bool apu = false;
  std::uint32_t wave_size = 32;
  std::uint32_t max_engine_mhz = 0;
  std::uint32_t max_memory_mhz = 0;
  std::uint64_t vram_bytes = 0;
  std::string_view pci = "0000:03:00.0";
};

[[nodiscard]] std::span<const GpuModel> gpu_models();
[[nodiscard]] std::optional<GpuModel> find_gpu_model(std::string_view key);
/// The 780M: GC 11.0.1, one shader engine, 12 CUs.
[[nodiscard]] GpuModel default_gpu_model();

/// Would amdgpu_info_ioctl read this register for an unprivileged caller?
[[nodiscard]] bool may_read(const GpuModel& gpu, std::uint32_t dword_offset);

}  // namespace gputrace::rig
