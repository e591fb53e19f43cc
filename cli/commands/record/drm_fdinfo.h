// What the kernel tells of a DRM client: the text of /proc/PID/fdinfo/FD of an open DRM file
// (Documentation/gpu/drm-usage-stats.rst, drivers/gpu/drm/amd/amdgpu/amdgpu_fdinfo.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gputrace::commands {

/// Longer texts are not the kernel's.
inline constexpr std::size_t kMaxFdinfoBytes = std::size_t{16} * 1024;

struct DrmFdinfo {
  std::string driver;                      ///< "amdgpu"
  std::string pdev;                        ///< PCI address; empty for a device that has none
  std::optional<std::uint64_t> client_id;  ///< with the device it names the client
  /// Time that each engine worked for the client since it was opened. Engines that never did are
  /// left out by the kernel.
  std::map<std::string, std::uint64_t> engine_ns;
  std::optional<std::uint64_t> vram_bytes;  ///< that lie there now
  std::optional<std::uint64_t> gtt_bytes;
};

/// Absent: not a DRM file, or a kernel before 5.19. A field that makes no sense is absent by
/// itself.
[[nodiscard]] std::optional<DrmFdinfo> parse_drm_fdinfo(std::string_view text);

}  // namespace gputrace::commands
