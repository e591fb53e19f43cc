#include "daemon/os/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "daemon/os/ip_discovery.h"
#include "daemon/os/sysfs.h"
#include "regdb/chip_names.h"

namespace gputrace::os {

namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t kAmd = 0x1002;

template <class T>
std::optional<T> read_as(const fs::path& file) {
  const auto value = read_number(file, std::numeric_limits<T>::max());
  return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
}

/// PCI_ID=1002:15BF of a uevent file: vendor and device.
std::optional<std::pair<std::uint16_t, std::uint16_t>> pci_id(std::string_view uevent) {
  const auto text = uevent_value(uevent, "PCI_ID");
  if (!text || text->size() != 9 || (*text)[4] != ':') {
    return std::nullopt;
  }
  const auto vendor = parse_number("0x" + text->substr(0, 4), 0xffff);
  const auto device = parse_number("0x" + text->substr(5), 0xffff);
  if (!vendor || !device) {
    return std::nullopt;
  }
  return std::pair(static_cast<std::uint16_t>(*vendor), static_cast<std::uint16_t>(*device));
}

/// Empty when nothing tells.
std::string driver_name(const fs::path& device_dir, std::string_view uevent) {
  std::error_code error;
  const fs::path driver = fs::read_symlink(device_dir / "driver", error);
  return error ? uevent_value(uevent, "DRIVER").value_or("") : driver.filename().string();
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// The product name in libdrm's amdgpu.ids: "15BF,\tC1,\tAMD Radeon 780M Graphics".
std::optional<std::string> product_name(const fs::path& ids, std::uint16_t device,
                                        std::uint8_t revision) {
  std::ifstream file(ids);
  const std::string wanted = fmt::format("{:04x},{:02x},", device, revision);
  for (std::string line; std::getline(file, line);) {
    std::string key;
    std::size_t commas = 0;
    std::size_t end = 0;
    for (; end < line.size() && commas < 2; ++end) {
      commas += line[end] == ',' ? 1 : 0;
      if (line[end] != ' ' && line[end] != '\t') {
        key += line[end];
      }
    }
    const std::size_t start = line.find_first_not_of(" \t", end);
    if (lower(key) == wanted && start != std::string::npos) {
      return line.substr(start);
    }
  }
  return std::nullopt;
}

/// A name that fits the kernel's buffer (AMDGPU_PRODUCT_NAME_LEN in amdgpu.h); boards without one
/// have an empty file, broken ones anything.
std::optional<std::string> board_name(const fs::path& device_dir) {
  constexpr std::size_t kMaxLength = 64;
  auto name = read_text(device_dir / "product_name");
  const bool usable = name && !name->empty() && name->size() < kMaxLength;
  return usable ? std::move(name) : std::nullopt;
}

/// These names end up on terminals; one of them comes from the board's own memory.
std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return text;
}

std::string gpu_name(const SystemRoots& roots, const fs::path& device_dir,
                     const sampler::GpuIdentity& identity) {
  if (const auto name = board_name(device_dir)) {
    return printable(*name);
  }
  if (identity.device_id && identity.revision_id) {
    if (const auto name = product_name(roots.ids, *identity.device_id, *identity.revision_id)) {
      return printable(*name);
    }
  }
  if (!identity.device_id) {
    return "AMD GPU";
  }
  return regdb::chip_name(*identity.device_id, identity.revision_id)
      .value_or(fmt::format("AMD GPU {:04x}:{:04x}", kAmd, *identity.device_id));
}

bool is_same_device(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error);
}

std::string find_render_node(const SystemRoots& roots, const fs::path& device_dir) {
  for (const std::string& name : list_folder(device_dir / "drm")) {
    if (number_after(name, "renderD")) {
      return name;
    }
  }
  const fs::path drm_class = roots.sys / "class" / "drm";
  for (const std::string& name : list_folder(drm_class)) {
    if (number_after(name, "renderD") && is_same_device(drm_class / name / "device", device_dir)) {
      return name;
    }
  }
  return {};
}

/// "0000:c4:00.0": where uevent does not say, the device folder's own name in /sys/devices.
std::string pci_address(const fs::path& device_dir, std::string_view uevent) {
  if (const auto slot = uevent_value(uevent, "PCI_SLOT_NAME")) {
    return lower(*slot);
  }
  std::error_code error;
  const std::string name = fs::canonical(device_dir, error).filename().string();
  const bool is_address = name.size() >= 12 && name[name.size() - 8] == ':' &&
                          name[name.size() - 5] == ':' && name[name.size() - 2] == '.';
  return is_address ? lower(name) : std::string();
}

/// Absent for a card that is none of AMD's or not driven by amdgpu.
std::optional<GpuDevice> read_gpu(const SystemRoots& roots, const std::string& card) {
  const fs::path device_dir = roots.sys / "class" / "drm" / card / "device";
  GpuDevice gpu = read_device_folder(roots, device_dir);
  if (gpu.identity.vendor_id != kAmd || gpu.identity.driver != "amdgpu") {
    return std::nullopt;
  }
  gpu.card = card;
  return gpu;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Indices of the GPUs that fit, by the first way of naming that any fits.
std::vector<std::size_t> find_matches(const std::vector<GpuDevice>& gpus,
                                      std::string_view selector) {
  const std::string wanted = lower(selector);
  if (const auto index = number_after(wanted, ""); index && *index < gpus.size()) {
    return {*index};
  }
  using Fits = bool (*)(const GpuDevice&, const std::string&);
  const std::array<Fits, 3> ways{[](const GpuDevice& gpu, const std::string& text) {
                                   return text == gpu.card || text == lower(gpu.render_node_name) ||
                                          text == gpu.identity.pci ||
                                          "0000:" + text == gpu.identity.pci;
                                 },
                                 [](const GpuDevice& gpu, const std::string& text) {
                                   return lower(gpu.identity.name) == text;
                                 },
                                 [](const GpuDevice& gpu, const std::string& text) {
                                   return contains(lower(gpu.identity.name), text);
                                 }};
  std::vector<std::size_t> matches;
  for (const Fits fits : ways) {
    for (std::size_t i = 0; i < gpus.size() && !wanted.empty(); ++i) {
      if (fits(gpus[i], wanted)) {
        matches.push_back(i);
      }
    }
    if (!matches.empty()) {
      break;
    }
  }
  return matches;
}

std::string describe(const std::vector<GpuDevice>& gpus, const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t i : indices) {
    text += fmt::format("\n  {}: {} ({}, {}{}{})", i, gpus[i].identity.name, gpus[i].identity.pci,
                        gpus[i].card, gpus[i].render_node_name.empty() ? "" : ", ",
                        gpus[i].render_node_name);
  }
  return text;
}

}  // namespace

bool is_asleep(std::string_view runtime_status) {
  return runtime_status == "suspended" || runtime_status == "suspending" ||
         runtime_status == "resuming";
}

GpuDevice read_device_folder(const SystemRoots& roots, const std::filesystem::path& device_dir) {
  const std::string uevent = read_text(device_dir / "uevent").value_or("");
  const auto ids = pci_id(uevent);
  GpuDevice gpu;
  gpu.identity.vendor_id = read_as<std::uint16_t>(device_dir / "vendor");
  if (!gpu.identity.vendor_id && ids) {
    gpu.identity.vendor_id = ids->first;
  }
  gpu.identity.device_id = read_as<std::uint16_t>(device_dir / "device");
  if (!gpu.identity.device_id && ids) {
    gpu.identity.device_id = ids->second;
  }
  gpu.identity.revision_id = read_as<std::uint8_t>(device_dir / "revision");
  gpu.identity.pci = pci_address(device_dir, uevent);
  gpu.identity.gc = discovered_gc(device_dir);
  gpu.identity.driver = driver_name(device_dir, uevent);
  gpu.identity.name = gpu_name(roots, device_dir, gpu.identity);
  gpu.render_node_name = find_render_node(roots, device_dir);
  if (!gpu.render_node_name.empty()) {
    gpu.render_node = roots.dev / "dri" / gpu.render_node_name;
  }
  gpu.device_dir = device_dir;
  gpu.runtime_status = read_text(device_dir / "power" / "runtime_status").value_or("");
  gpu.boot_vga = read_text(device_dir / "boot_vga") == "1";
  return gpu;
}

Result<std::vector<GpuDevice>> list_gpus(const SystemRoots& roots) {
  const fs::path drm_class = roots.sys / "class" / "drm";
  std::error_code error;
  const fs::directory_iterator readable(drm_class, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail_errno(error.value(), "cannot list " + drm_class.string());
  }
  std::vector<GpuDevice> gpus;
  for (const std::string& name : list_folder(drm_class)) {
    if (!number_after(name, "card")) {
      continue;  // connectors, render nodes, "version"
    }
    if (std::optional<GpuDevice> gpu = read_gpu(roots, name)) {
      gpus.push_back(std::move(*gpu));
    }
  }
  std::stable_sort(gpus.begin(), gpus.end(), [](const GpuDevice& one, const GpuDevice& other) {
    return one.identity.pci < other.identity.pci;
  });
  return gpus;
}

Result<GpuDevice> select_gpu(const std::vector<GpuDevice>& gpus, std::string_view selector) {
  if (gpus.empty()) {
    return fail(ErrorCode::kNotFound,
                "no AMD GPU with the amdgpu driver was found in /sys/class/drm");
  }
  if (selector.empty()) {
    const auto preferred = [&](auto fits) { return std::find_if(gpus.begin(), gpus.end(), fits); };
    auto gpu = preferred([](const GpuDevice& each) { return each.boot_vga; });
    if (gpu == gpus.end()) {
      gpu = preferred([](const GpuDevice& each) { return !is_asleep(each.runtime_status); });
    }
    return gpu == gpus.end() ? gpus.front() : *gpu;
  }
  const std::vector<std::size_t> matches = find_matches(gpus, selector);
  if (matches.size() == 1) {
    return gpus[matches.front()];
  }
  if (matches.empty()) {
    std::vector<std::size_t> all(gpus.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return fail(ErrorCode::kNotFound,
                fmt::format("no GPU fits '{}'. There {}:{}", selector,
                            all.size() == 1 ? "is" : "are", describe(gpus, all)));
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' fits {} GPUs; name one by its PCI address:{}", selector,
                          matches.size(), describe(gpus, matches)));
}

}  // namespace gputrace::os
