// The constants of a modelled GPU. Marks: [P] published or specification, [C] calibrated on the one
// published table named, [A] assumed, no source found. Percentages of busy bits are never an input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regdb/gc_version.h"

namespace gputrace::simulated_gpu {

/// Times in clk are GFX clocks, rates "per clk" are of the whole GPU unless they say "per CU".
/// 1 GB/s is one byte a nanosecond. The defaults are the Radeon 780M with DDR5-5600.
struct GpuDescription {
  int compute_units = 12;      // [P]
  int shader_engines = 1;      // [P]
  double max_clock_ghz = 2.6;  // [C] peak of the scalar FP32 table; boost is 2.7 [P]
  double min_clock_ghz = 0.4;  // [A]

  double dual_issue_flops_per_clk_cu = 256;  // [P]; kernels reach a share of it: Pass::issue_share
  double dram_peak_gbps = 89.6;              // [P] 128 bits of DDR5-5600
  double dram_pure_efficiency = 0.93;        // [C] RGBA8 fill: all writes
  double dram_turnaround = 0.452;            // [C] copy: 0.817 at an even mix of reads and writes
  double dram_random_efficiency = 0.92;      // [C] random 4096x4096 texture: page misses
  double dram_latency_ns = 310;              // [A] mean of fabric and DRAM behind an L2 miss
  double dram_latency_tail_ns = 70;          // [A] its exponential part
  double write_acknowledge_ns = 40;          // [A]
  double write_buffer_bytes = 256.0 * 1024;  // [A] L2 accepts writes until this much waits for DRAM

  double l0_fill_bytes_per_clk_cu = 64;  // [A]
  double l0_lines_per_clk_cu = 2;        // [C] random 64x64 texture
  double gl1_bytes_per_clk = 512;        // [A] both arrays
  double gl2_bytes_per_clk = 512;        // [A]
  double l0_kib = 32;                    // [P] a CU
  double gl1_array_kib = 256;            // [P] an array; a wave sees one of them
  double gl2_kib = 2048;                 // [P]
  // Latencies added by each level: 28.5, 48.1 and 86.3 ns at 2.56 GHz, measured on an RX 6900 XT
  // [P].
  double l0_latency_clk = 73;
  double gl1_latency_clk = 50;
  double gl2_latency_clk = 98;

  double scalar_cache_kib = 16;    // [P] shared by two CUs; a chase of one wave has it to itself
  double scalar_latency_clk = 50;  // [A]
  double texture_filter_clk = 30;  // [A] what sampling adds to a fetch

  double local_kib = 64;                 // [P] a CU
  double local_granule_bytes = 1024;     // [P] radv_shader_info of gfx10.3 and later
  double local_bytes_per_clk_cu = 128;   // [P] 32 banks
  double local_atomics_per_clk_cu = 16;  // [P] 32 a clk and WGP
  double local_latency_clk = 60;         // [A]

  double instruction_cache_kib = 32;                // [P]
  double instruction_fetch_bytes_per_clk_cu = 6.4;  // [C] AI 64 at 54 W: code past the cache

  double spi_clk_per_wave = 2.6;               // [C] R8 fill at its peak
  double spi_clk_per_wave_interpolated = 4.0;  // [C] texture, one fetch
  double primitives_per_clk = 1;               // [A]
  double raster_pixels_per_clk = 32;           // [A]
  double depth_pixels_per_clk = 64;            // [A]
  double rop_pixels_per_clk = 32;              // [P]
  double export_pixels_per_clk = 64;           // [A]
  int waves_per_simd = 16;                     // [P] wave64; two SIMDs a CU

  double tlb1_reach_kib = 2048;  // [A]
  double tlb2_ns = 80;           // [A]
  double page_walk_ns = 400;     // [A] for half of the second level's look-ups

  double busy_hold_clk = 32;       // [A] clock-gating hysteresis: shorter idle gaps do not show
  double simd_time_spread = 0.10;  // [A] standard deviation; 0.02 is enough to break lock step

  // P = base + memory [DRAM in use] + per_gbps GB/s + k (floor + (1 - floor) activity) gui f V^2,
  // V = 1 + slope max(0, f - knee). Seven constants [C], 99 points of the FLOP sweep and the scalar
  // rows at nine power limits.
  double base_w = 8.0;
  double dram_in_use_w = 2.4;
  double w_per_gbps = 0.034;
  double dynamic_w = 4.16;
  double activity_floor = 0.18;
  double voltage_knee_ghz = 1.29;
  double voltage_slope_per_ghz = 0.63;

  /// 1 at low clocks.
  [[nodiscard]] double relative_voltage(double clock_ghz) const;
  /// GPU's share of the package power in steady state. `activity` is useful work of the units, 0 to
  /// 1, while GUI_ACTIVE; `gui_share` the share of time that GUI_ACTIVE is set.
  [[nodiscard]] double power_w(double clock_ghz, double activity, double dram_gbps,
                               double gui_share) const;
};

/// How power and temperature follow the load. Nothing of this moves a busy bit.
struct ThermalDescription {
  double power_lag_s = 0.05;  // [A]
  double tau_s = 40;          // [A] of the temperature
  double ambient_c = 34.75;   // [C] with c_per_w: temperatures at 15 to 35 W
  double c_per_w = 0.55;
  double fan_knee_c = 43;  // [C] same rows
  double fan_knee_rpm = 1590;
  double fan_rpm_per_c = 52;
};

/// A GPU that `--gpu sim:KEY` names.
struct SimulatedModel {
  std::string key;   ///< "780m"
  std::string name;  ///< "AMD Radeon 780M"
  regdb::GcVersion gc;
  double power_limit_w = 54;  ///< of scenarios that do not say
  GpuDescription gpu;
  ThermalDescription thermal = {};
  bool apu = true;  ///< shares package, power and DRAM with the CPU
  double vram_mib = 4096;
  double memory_clock_mhz = 2800;  ///< under load; DDR5-5600 moves two bits a clock
};

/// The first is the default.
[[nodiscard]] const std::vector<SimulatedModel>& simulated_models();
[[nodiscard]] const SimulatedModel* find_simulated_model(std::string_view key);

}  // namespace gputrace::simulated_gpu
