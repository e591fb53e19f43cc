#include "tests/rig/gpu_model.h"

#include <algorithm>
#include <array>

namespace gputrace::rig {
namespace {

constexpr std::uint64_t kGib = 1ULL << 30;

// Families: include/uapi/drm/amdgpu_drm.h. external_rev: the *_common_early_init functions of the
// kernel's amdgpu (si.c, vi.c, soc15.c, nv.c, soc21.c, soc24.c).
constexpr auto kModels = std::to_array<GpuModel>({
    {.key = "780m",
     .marketing_name = "AMD Radeon 780M",
     .gc = {11, 0, 1},
     .device_id = 0x15bf,
     .pci_revision = 0xc1,
     .family = 148,
     .external_rev = 0x01,
     .arrays_per_engine = 2,
     .compute_units = 12,
     .apu = true,
     .max_engine_mhz = 2700,
     .max_memory_mhz = 2800,
     .vram_bytes = 4 * kGib,
     .pci = "0000:c4:00.0"},
    {.key = "890m",
     .marketing_name = "AMD Radeon 890M",
     .gc = {11, 5, 0},
     .device_id = 0x150e,
     .pci_revision = 0xc1,
     .family = 150,
     .external_rev = 0x01,
     .arrays_per_engine = 2,
     .compute_units = 16,
     .apu = true,
     .max_engine_mhz = 2900,
     .max_memory_mhz = 2800,
     .vram_bytes = 4 * kGib,
     .pci = "0000:c4:00.0"},
    {.key = "rx7600",
     .marketing_name = "AMD Radeon RX 7600",
     .gc = {11, 0, 2},
     .device_id = 0x7480,
     .pci_revision = 0xcf,
     .family = 145,
     .external_rev = 0x10,
     .shader_engines = 2,
     .arrays_per_engine = 2,
     .compute_units = 32,
     .sdma_engines = 2,
     .max_engine_mhz = 2655,
     .max_memory_mhz = 1124,
     .vram_bytes = 8 * kGib},
    {.key = "rx7900xtx",
     .marketing_name = "AMD Radeon RX 7900 XTX",
     .gc = {11, 0, 0},
     .device_id = 0x744c,
     .pci_revision = 0xc8,
     .family = 145,
     .external_rev = 0x01,
     .shader_engines = 6,
     .arrays_per_engine = 2,
     .compute_units = 96,
     .sdma_engines = 2,
     .max_engine_mhz = 2500,
     .max_memory_mhz = 1249,
     .vram_bytes = 24 * kGib},
    {.key = "rx9070xt",
     .marketing_name = "AMD Radeon RX 9070 XT",
     .gc = {12, 0, 1},
     .device_id = 0x7550,
     .pci_revision = 0xc0,
     .family = 152,
     .external_rev = 0x50,
     .shader_engines = 4,
     .arrays_per_engine = 2,
     .compute_units = 64,
     .sdma_engines = 2,
     .max_engine_mhz = 2970,
     .max_memory_mhz = 1258,
     .vram_bytes = 16 * kGib},
    {.key = "rx6600xt",
     .marketing_name = "AMD Radeon RX 6600 XT",
     .gc = {10, 3, 4},
     .device_id = 0x73ff,
     .pci_revision = 0xc1,
     .family = 143,
     .external_rev = 0x3c,
     .shader_engines = 2,
     .arrays_per_engine = 2,
     .compute_units = 32,
     .sdma_engines = 2,
     .max_engine_mhz = 2589,
     .max_memory_mhz = 1000,
     .vram_bytes = 8 * kGib},
    {.key = "rx6800",
     .marketing_name = "AMD Radeon RX 6800",
     .gc = {10, 3, 0},
     .device_id = 0x73bf,
     .pci_revision = 0xc3,
     .family = 143,
     .external_rev = 0x28,
     .shader_engines = 4,
     .arrays_per_engine = 2,
     .compute_units = 60,
     .sdma_engines = 2,
     .max_engine_mhz = 2105,
     .max_memory_mhz = 1000,
     .vram_bytes = 16 * kGib},
    {.key = "vega64",
     .marketing_name = "Radeon RX Vega",
     .gc = {9, 0, 1},
     .read_table = ReadTable::kSoc15,
     .device_id = 0x687f,
     .pci_revision = 0xc1,
     .family = 141,
     .external_rev = 0x01,
     .shader_engines = 4,
     .compute_units = 64,
     .sdma_engines = 2,
     .ip_discovery = false,
     .wave_size = 64,
     .max_engine_mhz = 1630,
     .max_memory_mhz = 945,
     .vram_bytes = 8 * kGib},
    {.key = "rx580",
     .marketing_name = "Radeon RX 580 Series",
     .gc = {8, 0, 0},
     .read_table = ReadTable::kVi,
     .device_id = 0x67df,
     .pci_revision = 0xe7,
     .family = 130,
     .external_rev = 0x50,
     .shader_engines = 4,
     .compute_units = 36,
     .sdma_engines = 2,
     .ip_discovery = false,
     .wave_size = 64,
     .max_engine_mhz = 1340,
     .max_memory_mhz = 2000,
     .vram_bytes = 8 * kGib},
    {.key = "r7-260x",
     .marketing_name = "AMD Radeon R7 200 Series",
     .gc = {7, 2, 0},
     .read_table = ReadTable::kCik,
     .device_id = 0x6658,
     .pci_revision = 0x00,
     .family = 120,
     .external_rev = 0x14,
     .shader_engines = 2,
     .compute_units = 14,
     .sdma_engines = 2,
     .ip_discovery = false,
     .wave_size = 64,
     .max_engine_mhz = 1100,
     .max_memory_mhz = 1625,
     .vram_bytes = 2 * kGib},
    {.key = "hd7970",
     .marketing_name = "AMD Radeon HD 7900 Series",
     .gc = {6, 0, 0},
     .read_table = ReadTable::kSi,
     .device_id = 0x6798,
     .pci_revision = 0x00,
     .family = 110,
     .external_rev = 0x05,
     .shader_engines = 2,
     .arrays_per_engine = 2,
     .compute_units = 32,
     .sdma_engines = 2,
     .ip_discovery = false,
     .wave_size = 64,
     .max_engine_mhz = 925,
     .max_memory_mhz = 1375,
     .vram_bytes = 3 * kGib},
});

struct OffsetRange {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr auto kSiRanges = std::to_array<OffsetRange>({
    {0x2002, 0x2002},  // GRBM_STATUS2
    {0x2004, 0x2006},  // GRBM_STATUS, _SE0, _SE1
    {0x0393, 0x0394},  // SRBM_STATUS2, SRBM_STATUS
    {0x340d, 0x340d},
    {0x360d, 0x360d},  // DMA0_STATUS_REG, DMA1_STATUS_REG
    {0x219c, 0x219e},
    {0x21a0, 0x21a0},  // CP_STALLED_STAT3, 1, 2; CP_STAT
    {0x263e, 0x263e},
    {0x09d8, 0x09d8},  // GB_ADDR_CONFIG, MC_ARB_RAMCFG
    {0x2644, 0x2663},  // GB_TILE_MODE0..31
    {0x263d, 0x263d},  // CC_RB_BACKEND_DISABLE (per engine)
    {0xa0d4, 0xa0d4},  // PA_SC_RASTER_CONFIG (per engine)
});

constexpr auto kCikExtra = std::to_array<OffsetRange>({
    {0x200e, 0x200f},  // GRBM_STATUS_SE2, _SE3
    {0x2084, 0x2089},  // CP_CPC_*, CP_CPF_*
    {0x2664, 0x2673},
    {0x263f, 0x263f},  // GB_MACROTILE_MODE0..15, GB_BACKEND_MAP
    {0x26df, 0x26df},
    {0xa0d5, 0xa0d5},  // GC_USER_RB_BACKEND_DISABLE, PA_SC_RASTER_CONFIG_1
});

// The list that soc15, nv, soc21 and soc24 share.
constexpr auto kCommonRanges = std::to_array<OffsetRange>({
    {0x2002, 0x2002},
    {0x2004, 0x2006},
    {0x200e, 0x200f},  // GRBM_STATUS2; _STATUS, SE0, 1; SE2, 3
    {0x1285, 0x1285},  // SDMA0_STATUS_REG
    {0x219c, 0x219e},
    {0x21a0, 0x21a0},  // CP_STALLED_STAT3, 1, 2; CP_STAT
    {0x2084, 0x2089},  // CP_CPC_*, CP_CPF_*
    {0x263e, 0x263e},  // GB_ADDR_CONFIG
});

constexpr std::uint32_t kSrbmStatus3 = 0x0395;
constexpr std::uint32_t kVegaSdma1Status = 0x1485;
constexpr std::uint32_t kDbDebug2 = 0x260d;
constexpr std::uint32_t kSdma1Status = 0x1885;

bool in_any(std::span<const OffsetRange> ranges, std::uint32_t offset) {
  return std::any_of(ranges.begin(), ranges.end(), [offset](const OffsetRange& range) {
    return offset >= range.first && offset <= range.last;
  });
}

}  // namespace

std::span<const GpuModel> gpu_models() {
  return kModels;
}

std::optional<GpuModel> find_gpu_model(std::string_view key) {
  for (const GpuModel& model : kModels) {
    if (model.key == key) {
      return model;
    }
  }
  return std::nullopt;
}

GpuModel default_gpu_model() {
  return kModels.front();
}

bool may_read(const GpuModel& gpu, std::uint32_t dword_offset) {
  switch (gpu.read_table) {
    case ReadTable::kSi:
      return in_any(kSiRanges, dword_offset);
    case ReadTable::kCik:
      return in_any(kSiRanges, dword_offset) || in_any(kCikExtra, dword_offset);
    case ReadTable::kVi:
      return in_any(kSiRanges, dword_offset) || in_any(kCikExtra, dword_offset) ||
             dword_offset == kSrbmStatus3;
    case ReadTable::kSoc15: {
      return in_any(kCommonRanges, dword_offset) || dword_offset == kVegaSdma1Status ||
             dword_offset == kDbDebug2;
    }
    case ReadTable::kNv: {
      // soc21.c skips an entry whose engine the discovery table does not have.
      return in_any(kCommonRanges, dword_offset) ||
             (dword_offset == kSdma1Status && gpu.sdma_engines > 1);
    }
  }
  return false;
}

}  // namespace gputrace::rig
