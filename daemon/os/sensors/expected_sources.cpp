#include "daemon/os/sensors/expected_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace gputrace::os {

namespace {

/// Visibility rules: amdgpu_pm.c of Linux (hwmon_attributes_visible, default_attr_update).
struct ExpectedSource {
  std::string_view source;
  std::string_view loses;
  std::string_view why_apu;
  std::string_view why_card;
};

constexpr std::string_view kHwmon = "hwmon amdgpu ";
constexpr std::string_view kOlder = "this kernel or chip has none";
constexpr std::string_view kNoFan = "an APU has no fan of its own";
constexpr std::string_view kHiddenFan = "the driver controls no fan on this card";
constexpr std::string_view kNewCards = "only cards from GC 9 on have it";

constexpr std::array kExpected{
    ExpectedSource{"hwmon amdgpu power1_average", "power averaged by the firmware",
                   "this driver gives the momentary power at most",
                   "this driver gives the momentary power at most"},
    ExpectedSource{"hwmon amdgpu power1_input", "momentary power",
                   "this driver gives an average at most", "this driver gives an average at most"},
    ExpectedSource{"hwmon amdgpu power1_cap", "the power limit that power is compared with",
                   "of APUs only Van Gogh has it", kOlder},
    ExpectedSource{"hwmon amdgpu temp1_input", "edge temperature", kOlder, kOlder},
    ExpectedSource{"hwmon amdgpu temp2_input", "junction temperature", kNewCards, kNewCards},
    ExpectedSource{"hwmon amdgpu temp3_input", "mem temperature", kNewCards, kNewCards},
    ExpectedSource{"hwmon amdgpu freq1_input", "gfx clock", kOlder, kOlder},
    ExpectedSource{"hwmon amdgpu freq2_input", "mem clock", "APUs have none there", kOlder},
    ExpectedSource{"hwmon amdgpu in0_input", "gfx voltage", kOlder, kOlder},
    ExpectedSource{"hwmon amdgpu in1_input", "soc voltage", kOlder, "only APUs have it"},
    ExpectedSource{"hwmon amdgpu fan1_input", "fan speed", kNoFan, kHiddenFan},
    ExpectedSource{"hwmon amdgpu pwm1", "fan pwm", kNoFan, kHiddenFan},
    ExpectedSource{"gpu_busy_percent", "the driver's own idea of gfx activity", kOlder, kOlder},
    ExpectedSource{"mem_busy_percent", "mem activity", "APUs have none",
                   "this kernel or chip has none (GC 9.0.1 never)"},
    ExpectedSource{"vcn_busy_percent", "media activity",
                   "only some APUs have it, with Linux 6.11 or newer", "only some APUs have it"},
    ExpectedSource{"mem_info_vram_used", "vram used", kOlder, kOlder},
    ExpectedSource{"mem_info_vram_total", "vram total", kOlder, kOlder},
    ExpectedSource{"mem_info_vis_vram_used", "visible vram used", kOlder, kOlder},
    ExpectedSource{"mem_info_vis_vram_total", "visible vram total", kOlder, kOlder},
    ExpectedSource{"mem_info_gtt_used", "gtt used", kOlder, kOlder},
    ExpectedSource{"mem_info_gtt_total", "gtt total", kOlder, kOlder},
    ExpectedSource{"pp_dpm_sclk", "level of the gfx clock", kOlder, kOlder},
    ExpectedSource{"pp_dpm_mclk", "level of the mem clock", kOlder, kOlder},
    ExpectedSource{"pp_dpm_socclk", "level of the soc clock", kOlder, "only chips from GC 9 on"},
    ExpectedSource{"pp_dpm_fclk", "level of the fabric clock", kOlder,
                   "only some cards from GC 9.4 on have it"},
    ExpectedSource{"pp_dpm_vclk", "level of the video clock", kOlder,
                   "only chips from GC 10.3 on have it"},
    ExpectedSource{"pp_dpm_dclk", "level of the video decode clock", kOlder,
                   "only chips from GC 10.3 on have it"},
    ExpectedSource{"pp_dpm_pcie", "capacity of the PCIe link", kOlder, kOlder},
};

}  // namespace

std::vector<SourceFinding> absent_sources(const std::filesystem::path& device_dir, bool has_hwmon,
                                          bool is_apu, std::span<const SourceFinding> findings) {
  std::vector<SourceFinding> absent;
  if (!has_hwmon) {
    absent.push_back({.source = "hwmon amdgpu",
                      .state = SourceState::kAbsent,
                      .reason = fmt::format(
                          "no folder in {} is of amdgpu, which has none where power management "
                          "(DPM) is off",
                          (device_dir / "hwmon").string()),
                      .fix = "boot without amdgpu.dpm=0",
                      .loses = "power, energy, temperatures, clocks, voltages and fan of hwmon"});
  }
  for (const ExpectedSource& expected : kExpected) {
    const bool is_hwmon = expected.source.starts_with(kHwmon);
    const bool is_found = std::any_of(
        findings.begin(), findings.end(),
        [&](const SourceFinding& finding) { return finding.source == expected.source; });
    if (is_found || (is_hwmon && !has_hwmon)) {
      continue;
    }
    const std::string_view file =
        is_hwmon ? expected.source.substr(kHwmon.size()) : expected.source;
    absent.push_back({.source = std::string(expected.source),
                      .state = SourceState::kAbsent,
                      .reason = fmt::format("{} has no {}: {}",
                                            (is_hwmon ? device_dir / "hwmon" : device_dir).string(),
                                            file, is_apu ? expected.why_apu : expected.why_card),
                      .fix = {},
                      .loses = std::string(expected.loses)});
  }
  return absent;
}

}  // namespace gputrace::os
