#include "tests/rig/device_tree.h"

#include <fmt/format.h>

#include <array>

#include "daemon/base/result.h"
#include "tests/rig/bar_file.h"
#include "tests/rig/sysfs_sensors.h"

namespace gputrace::rig {
namespace {

struct IpBlock {
  unsigned hw_id;  // include/soc15_hw_ip.h
  std::string_view name;
  unsigned instance;
  regdb::GcVersion version;
  std::string_view base_addresses;
};

constexpr std::string_view kDebugfs = "sys/kernel/debug";

std::string first_path_part(std::string_view& path) {
  const std::size_t slash = path.find('/');
  std::string part(path.substr(0, slash));
  path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  return part;
}

}  // namespace

DeviceTree::DeviceTree(std::span<const GpuModel> gpus) : nodes_(1) {
  add(NodeKind::kText, "sys/class/drm/version", "drm 1.1.0 20060810\n");
  add(NodeKind::kPrivateFolder, kDebugfs);
  for (const GpuModel& gpu : gpus) {
    add_gpu(gpu);
    add(NodeKind::kControl, gpu_ == 0 ? "control" : fmt::format("control{}", gpu_ + 1));
    ++gpu_;
  }
}

void DeviceTree::add_gpu(const GpuModel& gpu) {
  card_ = 1 + static_cast<unsigned>(gpu_);
  render_ = 128 + static_cast<unsigned>(gpu_);
  const std::string pci(gpu.pci);
  const std::string bridge = gpu_ == 0 ? "0000:00:08.1" : fmt::format("0000:00:01.{}", gpu_);
  const std::string device = "devices/pci0000:00/" + bridge + "/" + pci;
  add_pci_device(gpu, "sys/" + device);
  add_bars(gpu, "sys/" + device);
  add_drm_minors(gpu, "sys/" + device);
  if (gpu.ip_discovery) {
    add_ip_discovery(gpu, "sys/" + device + "/ip_discovery/die/0");
  }
  add_sensors(gpu, "sys/" + device);
  mark_device("sys/" + device);

  const std::string card = fmt::format("card{}", card_);
  const std::string render = fmt::format("renderD{}", render_);
  for (const auto& [path, minor] : std::to_array<std::pair<std::string, std::string>>(
           {{"sys/class/drm/" + card, card},
            {"sys/class/drm/" + render, render},
            {fmt::format("sys/dev/char/226:{}", card_), card},
            {fmt::format("sys/dev/char/226:{}", render_), render}})) {
    add(NodeKind::kLink, path, fmt::format("../../{}/drm/{}", device, minor));
    mark_device(path);
  }
  for (const std::string& path :
       {"sys/bus/pci/devices/" + pci, "sys/bus/pci/drivers/amdgpu/" + pci}) {
    const bool under_driver = path.find("drivers") != std::string::npos;
    add(NodeKind::kLink, path, (under_driver ? "../../../../" : "../../../") + device);
    mark_device(path);
  }
  add_debugfs(gpu);
  add(NodeKind::kRenderNode, "dev/dri/" + render);
  mark_device("dev/dri/" + render);
}

void DeviceTree::add_sensors(const GpuModel& gpu, const std::string& folder) {
  const std::vector<SysfsSensor> sensors = sysfs_sensors_of(gpu, gpu_);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const bool of_processor = sensors[i].kind == SensorKind::kProcessor;
    add(NodeKind::kSensor, fmt::format("{}/{}", of_processor ? "sys" : folder, sensors[i].path));
    nodes_.back().sensor = i;
  }
  for (const auto& [path, text] : sensor_labels_of(gpu, gpu_)) {
    add(NodeKind::kText, fmt::format("{}/{}", folder, path), text);
  }
  if (gpu.apu) {
    for (const auto& [path, text] : processor_texts()) {
      add(NodeKind::kText, "sys/" + path, text);
    }
  }
}

void DeviceTree::add_pci_device(const GpuModel& gpu, const std::string& folder) {
  const std::string ids = fmt::format("{:04X}", gpu.device_id);
  add(NodeKind::kText, folder + "/vendor", "0x1002\n");
  add(NodeKind::kText, folder + "/device", fmt::format("0x{:04x}\n", gpu.device_id));
  add(NodeKind::kText, folder + "/revision", fmt::format("0x{:02x}\n", gpu.pci_revision));
  add(NodeKind::kText, folder + "/subsystem_vendor", "0x1002\n");
  add(NodeKind::kText, folder + "/subsystem_device", "0x0123\n");
  add(NodeKind::kText, folder + "/class", "0x030000\n");
  add(NodeKind::kText, folder + "/boot_vga", gpu_ == 0 ? "1\n" : "0\n");
  add(NodeKind::kText, folder + "/uevent",
      fmt::format("DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:{}\nPCI_SUBSYS_ID=1002:0123\n"
                  "PCI_SLOT_NAME={}\n",
                  ids, gpu.pci));
  add(NodeKind::kLink, folder + "/driver", "../../../../bus/pci/drivers/amdgpu");
  add(NodeKind::kLink, folder + "/subsystem", "../../../../bus/pci");
  add(NodeKind::kPowerControl, folder + "/power/control");
  add(NodeKind::kText, folder + "/power/autosuspend_delay_ms", "5000\n");
  add(NodeKind::kRuntimeStatus, folder + "/power/runtime_status");
}

void DeviceTree::add_drm_minors(const GpuModel& gpu, const std::string& folder) {
  struct Minor {
    std::string name;
    unsigned number;
  };
  for (const Minor& minor : {Minor{fmt::format("card{}", card_), card_},
                             Minor{fmt::format("renderD{}", render_), render_}}) {
    const std::string path = fmt::format("{}/drm/{}", folder, minor.name);
    add(NodeKind::kText, path + "/dev", fmt::format("226:{}\n", minor.number));
    add(NodeKind::kText, path + "/uevent",
        fmt::format("MAJOR=226\nMINOR={}\nDEVNAME=dri/{}\nDEVTYPE=drm_minor\n", minor.number,
                    minor.name));
    add(NodeKind::kLink, path + "/device", fmt::format("../../../{}", gpu.pci));
    add(NodeKind::kLink, path + "/subsystem", "../../../../../../class/drm");
  }
}

// As pci-sysfs.c shows them: six BARs and the ROM. libpci takes sizes from `resource`.
void DeviceTree::add_bars(const GpuModel& gpu, const std::string& folder) {
  constexpr std::uint64_t kMemory = 0x40200;           // IORESOURCE_MEM, of 32 bits
  constexpr std::uint64_t kPrefetchable64 = 0x14220c;  // with IORESOURCE_PREFETCH, of 64 bits
  constexpr std::uint64_t kVramStart = 0xfc00000000;
  constexpr std::uint64_t kVramBytes = 256ULL << 20U;  // the window, not all of it
  constexpr std::uint64_t kBarStart = 0xdfc00000;
  std::string text;
  for (unsigned bar = 0; bar < 7; ++bar) {
    if (bar == 0) {
      text += fmt::format("{:#018x} {:#018x} {:#018x}\n", kVramStart, kVramStart + kVramBytes - 1,
                          kPrefetchable64);
    } else if (bar == bar_number(gpu)) {
      text += fmt::format("{:#018x} {:#018x} {:#018x}\n", kBarStart, kBarStart + kBarBytes - 1,
                          kMemory);
    } else {
      text += fmt::format("{0:#018x} {0:#018x} {0:#018x}\n", 0);
    }
  }
  add(NodeKind::kText, folder + "/resource", text);
  add(NodeKind::kText, folder + "/irq", "0\n");
  add(NodeKind::kBarLink, fmt::format("{}/resource{}", folder, bar_number(gpu)));

  std::string config(64, '\0');  // the standard header; more needs root
  const auto put = [&](std::size_t at, std::uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      config[at + i] = static_cast<char>((value >> (8 * i)) & 0xffU);
    }
  };
  put(0x00, 0x1002, 2);
  put(0x02, gpu.device_id, 2);
  put(0x04, 0x0006, 2);  // memory decoding, bus master
  put(0x08, gpu.pci_revision, 1);
  put(0x0a, 0x0300, 2);  // VGA compatible
  put(0x10 + std::size_t{4} * bar_number(gpu), static_cast<std::uint32_t>(kBarStart), 4);
  put(0x2c, 0x1002, 2);
  put(0x2e, 0x0123, 2);
  add(NodeKind::kText, folder + "/config", config);
}

void DeviceTree::add_debugfs(const GpuModel& gpu) {
  const std::string folder = fmt::format("{}/dri/{}", kDebugfs, card_);
  const std::string link = fmt::format("{}/dri/{}", kDebugfs, render_);
  add(NodeKind::kText, folder + "/name", fmt::format("amdgpu dev={0} unique={0}\n", gpu.pci));
  add(NodeKind::kClients, folder + "/clients");
  add(NodeKind::kRegs, folder + "/amdgpu_regs");
  add(NodeKind::kRegs2, folder + "/amdgpu_regs2");
  add(NodeKind::kLink, link, std::to_string(card_));
  mark_device(folder);
  mark_device(link);
}

bool DeviceTree::is_in_debugfs(std::size_t index) const {
  for (; index != 0; index = nodes_.at(index).parent) {
    if (nodes_[index].kind == NodeKind::kPrivateFolder) {
      return true;
    }
  }
  return false;
}

void DeviceTree::add_ip_discovery(const GpuModel& gpu, const std::string& folder) {
  const auto blocks = std::to_array<IpBlock>({
      {11, "GC", 0, gpu.gc, "0x00001260\n0x0000A000\n0x0001C000\n0x02402C00\n"},
      {42, "SDMA0", 0, {6, 0, 1}, "0x00001260\n0x0000A000\n0x0001C000\n0x02402C00\n"},
      {1, "MP1", 0, {13, 0, 4}, "0x00016000\n0x0243FC00\n"},
  });
  add(NodeKind::kText, folder + "/num_ips", fmt::format("{}\n", blocks.size()));
  for (const IpBlock& block : blocks) {
    const std::string path = fmt::format("{}/{}/{}", folder, block.hw_id, block.instance);
    std::size_t bases = 0;
    for (const char c : block.base_addresses) {
      bases += c == '\n' ? 1 : 0;
    }
    add(NodeKind::kText, path + "/hw_id", fmt::format("{}\n", block.hw_id));
    add(NodeKind::kText, path + "/num_instance", fmt::format("{}\n", block.instance));
    add(NodeKind::kText, path + "/major", fmt::format("{}\n", block.version.major));
    add(NodeKind::kText, path + "/minor", fmt::format("{}\n", block.version.minor));
    add(NodeKind::kText, path + "/revision", fmt::format("{}\n", block.version.revision));
    add(NodeKind::kText, path + "/harvest", "0x0\n");
    add(NodeKind::kText, path + "/num_base_addresses", fmt::format("{}\n", bases));
    add(NodeKind::kText, path + "/base_addr", block.base_addresses);
    add(NodeKind::kLink, fmt::format("{}/{}", folder, block.name), std::to_string(block.hw_id));
  }
}

std::optional<std::size_t> DeviceTree::find(std::size_t folder, std::string_view name) const {
  for (const std::size_t child : nodes_.at(folder).children) {
    if (nodes_[child].name == name) {
      return child;
    }
  }
  return std::nullopt;
}

void DeviceTree::add(NodeKind kind, std::string_view path, std::string_view text) {
  std::size_t folder = 0;
  while (true) {
    const std::string name = first_path_part(path);
    const bool last = path.empty();
    if (const auto existing = find(folder, name); existing && !last) {
      folder = *existing;
      continue;
    }
    TreeNode node;
    node.kind = last ? kind : NodeKind::kFolder;
    node.name = name;
    node.text = last ? text : std::string_view{};
    node.parent = folder;
    node.gpu = gpu_;
    nodes_.push_back(std::move(node));
    nodes_[folder].children.push_back(nodes_.size() - 1);
    folder = nodes_.size() - 1;
    if (last) {
      return;
    }
  }
}

void DeviceTree::mark_device(std::string_view path) {
  std::size_t index = 0;
  while (!path.empty()) {
    const auto child = find(index, first_path_part(path));
    GPUTRACE_CHECK(child.has_value());
    index = *child;
  }
  nodes_[index].of_device = true;
}

}  // namespace gputrace::rig
