#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/gpus/gpus_output.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

/// Names come from boards and kernels: what is not UTF-8 there is replaced, not thrown upon.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
Json hex_or_null(const std::optional<T>& value, int digits) {
  return value ? Json(fmt::format("0x{:0{}x}", *value, digits)) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json names_or_null(const ListedGpu& gpu) {
  if (!gpu.readable) {
    return nullptr;
  }
  Json names = Json::array();
  for (const sampler::OfferedRegister& reg : *gpu.readable) {
    names.push_back(reg.name);
  }
  return names;
}

/// {"GRBM_STATUS": "drm ioctl", ...}.
Json sources_or_null(const ListedGpu& gpu) {
  if (!gpu.readable) {
    return nullptr;
  }
  Json sources = Json::object();
  for (const sampler::OfferedRegister& reg : *gpu.readable) {
    sources[reg.name] = reg.source;
  }
  return sources;
}

Json to_json(std::size_t index, const ListedGpu& gpu) {
  const os::GpuDevice& device = gpu.device;
  const sampler::GpuIdentity& identity = device.identity;
  return {{"index", index},
          {"name", identity.name},
          {"pci", text_or_null(identity.pci)},
          {"vendor_id", hex_or_null(identity.vendor_id, 4)},
          {"device_id", hex_or_null(identity.device_id, 4)},
          {"revision_id", hex_or_null(identity.revision_id, 2)},
          {"card", device.card},
          {"render_node", text_or_null(device.render_node.string())},
          {"driver", text_or_null(identity.driver)},
          {"gc", identity.gc ? Json(regdb::to_string(*identity.gc)) : Json(nullptr)},
          {"table", value_or_null(gpu.table)},
          {"unsupported", text_or_null(gpu.unsupported)},
          {"shader_engines", value_or_null(device.shader_engines)},
          {"runtime_status", text_or_null(device.runtime_status)},
          {"boot_vga", device.boot_vga},
          {"readable", names_or_null(gpu)},
          {"sources", sources_or_null(gpu)},
          {"not_opened", text_or_null(gpu.not_opened)},
          {"needs_root", gpu.table ? Json(gpu.needs_root) : Json(nullptr)},
          {"notes", gpu.notes},
          {"simulated", false}};
}

}  // namespace

std::string gpus_to_json(std::span<const ListedGpu> gpus) {
  Json list = Json::array();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    list.push_back(to_json(i, gpus[i]));
  }
  return dump({{"schema", "gputrace.gpus/1"}, {"gpus", std::move(list)}});
}

std::string simulated_gpus_to_json(SimulatedGpus gpus) {
  Json list = Json::array();
  for (const simulated_gpu::SimulatedGpuListing& gpu : gpus) {
    list.push_back({{"argument", gpu.argument},
                    {"name", gpu.gpu_name},
                    {"description", gpu.description},
                    {"length_s", gpu.length_s},
                    {"simulated", true}});
  }
  return dump({{"schema", "gputrace.gpus/1"}, {"gpus", std::move(list)}});
}

}  // namespace gputrace::commands
