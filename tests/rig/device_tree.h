// The files of the rig's folder: sysfs and debugfs as far as gputrace reads them, the render
// node, the control file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/rig/gpu_model.h"

namespace gputrace::rig {

enum class NodeKind {
  kFolder,
  kPrivateFolder,  ///< mode 0700
  kText,
  kLink,
  kBarLink,
  kRenderNode,
  kRuntimeStatus,
  kPowerControl,
  kClients,
  kRegs,
  kRegs2,
  kSensor,
  kControl
};

struct TreeNode {
  NodeKind kind = NodeKind::kFolder;
  std::string name;
  std::string text;        ///< of a file, or where a link points to
  bool of_device = false;  ///< gone when the GPU is unplugged, with all below it
  std::size_t gpu = 0;     ///< whose; of what belongs to none the first
  std::size_t sensor = 0;  ///< of kSensor: index into sysfs_sensors_of()
  std::size_t parent = 0;
  std::vector<std::size_t> children;
};

/// Nodes by index; 0 is the root. Built once, then constant.
class DeviceTree {
 public:
  /// The first is the one that showed the boot screen: card1 and renderD128. Addresses differ.
  explicit DeviceTree(std::span<const GpuModel> gpus);

  [[nodiscard]] const TreeNode& at(std::size_t index) const { return nodes_.at(index); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// The folder itself, or anything in it.
  [[nodiscard]] bool is_in_debugfs(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::size_t folder, std::string_view name) const;

 private:
  /// Adds a node at `path`, with the folders on the way.
  void add(NodeKind kind, std::string_view path, std::string_view text = {});
  void add_gpu(const GpuModel& gpu);
  void add_sensors(const GpuModel& gpu, const std::string& folder);
  void add_pci_device(const GpuModel& gpu, const std::string& folder);
  void add_drm_minors(const GpuModel& gpu, const std::string& folder);
  void add_bars(const GpuModel& gpu, const std::string& folder);
  void add_debugfs(const GpuModel& gpu);
  void add_ip_discovery(const GpuModel& gpu, const std::string& folder);
  void mark_device(std::string_view path);

  std::vector<TreeNode> nodes_;
  std::size_t gpu_ = 0;  ///< being added
  unsigned card_ = 0;    ///< its minors
  unsigned render_ = 0;
};

}  // namespace gputrace::rig
