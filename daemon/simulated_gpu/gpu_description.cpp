#include "daemon/simulated_gpu/gpu_description.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

double GpuDescription::relative_voltage(double clock_ghz) const {
  return 1 + voltage_slope_per_ghz * std::max(0.0, clock_ghz - voltage_knee_ghz);
}

double GpuDescription::power_w(double clock_ghz, double activity, double dram_gbps,
                               double gui_share) const {
  const double voltage = relative_voltage(clock_ghz);
  // Below 2 GB/s the memory controller sleeps part of the time [A].
  return base_w + dram_in_use_w * std::min(1.0, dram_gbps / 2) + w_per_gbps * dram_gbps +
         dynamic_w * (activity_floor + (1 - activity_floor) * activity) * gui_share * clock_ghz *
             voltage * voltage;
}

namespace {

/// The smaller Phoenix parts: the same die with fewer compute units in use [P]; the power of the
/// units goes with their number [A].
GpuDescription phoenix(int compute_units, double max_clock_ghz) {
  GpuDescription gpu;
  gpu.compute_units = compute_units;
  gpu.max_clock_ghz = max_clock_ghz;
  gpu.dynamic_w *= compute_units / 12.0;
  return gpu;
}

/// A discrete RDNA3 GPU with two shader engines (Navi 33): counts, clock, memory and cache sizes
/// are published; widths and power grow with the number of arrays and units [A]. Its Infinity Cache
/// is not modelled, so its DRAM traffic is an upper bound.
GpuDescription navi33() {
  GpuDescription gpu;
  gpu.compute_units = 32;
  gpu.shader_engines = 2;
  gpu.max_clock_ghz = 2.65;
  gpu.dram_peak_gbps = 288;
  gpu.gl1_bytes_per_clk = 1024;
  gpu.gl2_bytes_per_clk = 1024;
  gpu.rop_pixels_per_clk = 64;
  gpu.raster_pixels_per_clk = 64;
  gpu.depth_pixels_per_clk = 128;
  gpu.export_pixels_per_clk = 128;
  gpu.primitives_per_clk = 2;
  gpu.spi_clk_per_wave /= 2;
  gpu.spi_clk_per_wave_interpolated /= 2;
  gpu.base_w = 20;
  gpu.dynamic_w *= 32 / 12.0;
  return gpu;
}

/// A cooler for 165 W: 76 C at that [A].
ThermalDescription desktop_card() {
  ThermalDescription thermal;
  thermal.c_per_w = 0.25;
  return thermal;
}

}  // namespace

const std::vector<SimulatedModel>& simulated_models() {
  static const std::vector<SimulatedModel> kModels = {
      {"780m", "AMD Radeon 780M", {11, 0, 1}, 54, phoenix(12, 2.6)},
      {"760m", "AMD Radeon 760M", {11, 0, 1}, 54, phoenix(8, 2.6)},
      {"740m", "AMD Radeon 740M", {11, 0, 4}, 54, phoenix(4, 2.8)},
      {"rx7600",
       "AMD Radeon RX 7600",
       {11, 0, 2},
       165,
       navi33(),
       desktop_card(),
       false,
       8192,
       1124},
  };
  return kModels;
}

const SimulatedModel* find_simulated_model(std::string_view key) {
  const auto& models = simulated_models();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [key](const SimulatedModel& model) { return model.key == key; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace gputrace::simulated_gpu
