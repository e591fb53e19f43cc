// Finds AMD GPUs through sysfs, without touching the devices: reading these files never wakes one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sampler/gpu_identity.h"
#include "regdb/register_database.h"

namespace gputrace::os {

/// Where the kernel's trees are. Tests pass fixture folders.
struct SystemRoots {
  std::filesystem::path sys = "/sys";
  std::filesystem::path dev = "/dev";
  std::filesystem::path proc = "/proc";
  /// Names, for sleeping GPUs too. Those that it lacks come from regdb/chips.txt.
  std::filesystem::path ids = "/usr/share/libdrm/amdgpu.ids";
};

struct GpuDevice {
  sampler::GpuIdentity identity;  ///< gc from IP discovery, else absent until the node is opened
  std::string card;               ///< "card1"
  std::string render_node_name;   ///< "renderD128"; empty when the GPU has none
  std::filesystem::path render_node;
  std::filesystem::path device_dir;  ///< /sys/class/drm/card1/device
  std::string runtime_status;        ///< "active", "suspended", "unsupported"; empty = unreadable
  bool boot_vga = false;
  std::optional<unsigned> shader_engines;  ///< only after opening
};

/// Runtime-suspended, or on the way there or back: an open or ioctl now would wake it or wait.
[[nodiscard]] bool is_asleep(std::string_view runtime_status);

/// vendor 0x1002 bound to amdgpu, in order of PCI address. An empty list is not an error.
[[nodiscard]] Result<std::vector<GpuDevice>> list_gpus(const SystemRoots& roots);

/// What a device folder tells, wherever it lies: a copy of one, too. What it lacks is absent or
/// empty; whether it is a GPU of AMD's at all is for the caller to see. Without `card`.
[[nodiscard]] GpuDevice read_device_folder(const SystemRoots& roots,
                                           const std::filesystem::path& device_dir);

/// `selector`: index, PCI address, cardN, renderDN or (part of) a name; empty = boot_vga, else the
/// first that is awake, else the first. kNotFound (none fits) and kInvalidArgument (several do)
/// list what there is.
[[nodiscard]] Result<GpuDevice> select_gpu(const std::vector<GpuDevice>& gpus,
                                           std::string_view selector);

}  // namespace gputrace::os
