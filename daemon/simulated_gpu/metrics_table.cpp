#include "daemon/simulated_gpu/metrics_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::simulated_gpu {

namespace {

using Values = SensorValues;

constexpr std::uint8_t kCard = 1;
constexpr std::uint8_t kApu = 2;

/// Core, L3 and fixed clocks are of the CPU and the fabric, which the model does not have [A].
constexpr double kCoreMhz = 3800;
constexpr double kRestingCoreMhz = 1400;
constexpr double kSocMhz = 1200;
constexpr double kRestingSocMhz = 400;
constexpr double kVideoMhz = 400;

struct KnownField {
  std::string_view name;
  double (*value)(const Values& values);  ///< in the unit of the series
  bool cards_only = false;
  std::size_t elements = 64;  ///< at most so many of an array
};

double celsius(const Values& values) {
  return values.temperature_c;
}
double nothing(const Values& /*values*/) {
  return 0;
}
double memory_mhz(const Values& values) {
  return values.memory_clock_mhz;
}
double video_mhz(const Values& /*values*/) {
  return kVideoMhz;
}
bool is_working(const Values& values) {
  return values.gfx_activity > 0;
}
double core_mhz(const Values& values) {
  return is_working(values) ? kCoreMhz : kRestingCoreMhz;
}
double soc_mhz(const Values& values) {
  return is_working(values) ? kSocMhz : kRestingSocMhz;
}

constexpr auto kFields = std::to_array<KnownField>({
    {"temperature_edge", celsius},
    {"temperature_hotspot", [](const Values& v) { return v.junction_c; }},
    {"temperature_mem", celsius},
    {"temperature_gfx", celsius},
    {"temperature_soc", celsius},
    {"temperature_core", celsius},
    {"temperature_l3", celsius, false, 1},
    {"average_gfx_activity", [](const Values& v) { return 100 * v.gfx_activity; }},
    {"average_umc_activity", [](const Values& v) { return 100 * v.memory_activity; }},
    {"average_mm_activity", nothing},
    {"average_vcn_activity", nothing},
    {"average_dram_reads", [](const Values& v) { return v.dram_read_bytes_per_s; }},
    {"average_dram_writes", [](const Values& v) { return v.dram_written_bytes_per_s; }},
    {"average_socket_power", [](const Values& v) { return v.package_w; }},
    {"average_soc_power", [](const Values& v) { return v.soc_w; }},
    {"average_gfx_power", [](const Values& v) { return v.gfx_w; }},
    {"average_all_core_power", [](const Values& v) { return v.cpu_w; }},
    {"average_core_power", [](const Values& v) { return v.cpu_w / 8; }, false, 8},
    {"energy_accumulator", [](const Values& v) { return v.package_j; }},
    {"average_gfxclk_frequency", [](const Values& v) { return v.gfx_clock_average_mhz; }},
    {"average_socclk_frequency", soc_mhz},
    {"average_uclk_frequency", memory_mhz},
    {"average_fclk_frequency", memory_mhz},
    {"average_vclk_frequency", video_mhz},
    {"average_dclk_frequency", video_mhz},
    {"current_gfxclk", [](const Values& v) { return v.gfx_clock_mhz; }, true},
    {"current_socclk", soc_mhz, true},
    {"current_uclk", memory_mhz, true},
    {"current_coreclk", core_mhz, false, 8},
    {"current_l3clk", core_mhz, false, 1},
    {"throttle_status", nothing},
    {"indep_throttle_status", nothing},
    {"throttle_residency_prochot", nothing},
    {"throttle_residency_spl", nothing},
    {"throttle_residency_fppt", nothing},
    {"throttle_residency_sppt", nothing},
    {"throttle_residency_thm_core", nothing},
    {"throttle_residency_thm_gfx", nothing},
    {"throttle_residency_thm_soc", nothing},
    {"current_fan_speed", [](const Values& v) { return v.fan_rpm; }},
    {"voltage_gfx", [](const Values& v) { return v.gfx_v; }},
    {"voltage_soc", [](const Values& v) { return v.soc_v; }},
});

/// Of a field whose unit the table leaves open: what the drivers of these formats use.
double open_scale(const regdb::MetricsLayout& layout, std::string_view unit) noexcept {
  if (unit == "activity") {
    return layout.format == kApu ? 0.01 : 1;
  }
  if (unit == "temperature") {
    return layout.format == kCard ? 1 : 0.01;
  }
  return layout.format == kApu ? 0.001 : 1;  // power
}

void put(std::span<std::byte> bytes, std::uint64_t number) noexcept {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(number & 0xffU);
    number >>= 8U;
  }
}

/// All ones mean "not provided", so the greatest number is one less.
std::uint64_t saturated(double number, std::size_t width) noexcept {
  const double most = std::ldexp(1.0, static_cast<int>(8 * std::min<std::size_t>(width, 6))) - 2;
  return static_cast<std::uint64_t>(std::clamp(std::round(number), 0.0, most));
}

}  // namespace

const regdb::MetricsLayout& metrics_layout_of(const SimulatedModel& model) {
  const regdb::MetricsLayout* layout =
      model.apu ? regdb::find_metrics_layout(kApu, 1) : regdb::find_metrics_layout(kCard, 3);
  GPUTRACE_CHECK(layout != nullptr);
  return *layout;
}

void write_metrics_table(const regdb::MetricsLayout& layout, const SensorValues& values,
                         std::int64_t boot_ns, std::span<std::byte> table) noexcept {
  std::fill(table.begin(), table.end(), std::byte{0xff});
  put(table.first(2), layout.size);
  put(table.subspan(2, 1), layout.format);
  put(table.subspan(3, 1), layout.content);
  for (const regdb::MetricsField& field : layout.fields) {
    if (field.name == "system_clock_counter") {
      put(table.subspan(field.offset, field.width), static_cast<std::uint64_t>(boot_ns));
      continue;
    }
    const auto* const known =
        std::find_if(kFields.begin(), kFields.end(),
                     [&](const KnownField& one) { return one.name == field.name; });
    if (known == kFields.end() || (known->cards_only && layout.format != kCard)) {
      continue;
    }
    const double scale = field.value_unit.empty() ? open_scale(layout, field.unit) : field.scale;
    const std::uint64_t raw = saturated(known->value(values) / scale, field.width);
    for (std::size_t i = 0; i < std::min(field.count, known->elements); ++i) {
      put(table.subspan(field.offset + i * field.width, field.width), raw);
    }
  }
}

}  // namespace gputrace::simulated_gpu
