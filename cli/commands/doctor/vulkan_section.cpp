#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands/doctor/diagnosis.h"
#include "cli/commands/doctor/doctor_text.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kCosts =
    "measuring the GPU's limits with Vulkan workloads; recordings do not need it";

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

/// "integrated GPU, radv (Mesa 24.2.8), Vulkan 1.3.289, 0000:c4:00.0 (GPU 0)".
std::string describe(const vulkan::ListedDevice& device, const std::vector<os::GpuDevice>& gpus) {
  std::string text = device.type;
  if (!device.driver.empty()) {
    text += ", driver " + device.driver;
  }
  if (!device.driver_info.empty()) {
    text += fmt::format(" ({})", device.driver_info);
  }
  text += ", Vulkan " + device.api_version;
  if (const std::optional<std::string>& pci = device.pci; pci.has_value()) {
    text += ", " + *pci;
    const auto gpu = std::find_if(gpus.begin(), gpus.end(),
                                  [&](const auto& known) { return known.identity.pci == *pci; });
    if (gpu != gpus.end()) {
      text += fmt::format(", which is GPU {}", gpu - gpus.begin());
    }
  }
  return text;
}

Json to_json(const vulkan::ListedDevice& device) {
  return {{"name", device.name},
          {"type", device.type},
          {"driver", text_or_null(device.driver)},
          {"driver_info", text_or_null(device.driver_info)},
          {"api_version", device.api_version},
          {"vendor_id", fmt::format("{:#06x}", device.vendor_id)},
          {"device_id", fmt::format("{:#06x}", device.device_id)},
          {"pci", device.pci ? Json(*device.pci) : Json(nullptr)}};
}

Section with_reason(Mark mark, const std::string& reason, std::string_view fix) {
  Section section;
  section.text = "Vulkan\n";
  append_row(section.text, mark, "devices", reason);
  append_detail(section.text, "fix", fix);
  append_detail(section.text, "costs", kCosts);
  section.json = dump({{"state", word_of(mark)},
                       {"reason", reason},
                       {"fix", text_or_null(std::string(fix))},
                       {"devices", Json::array()}});
  return section;
}

}  // namespace

Section vulkan_section(const Surroundings& world, const std::vector<os::GpuDevice>& gpus) {
  for (const os::GpuDevice& gpu : gpus) {
    if (os::is_asleep(gpu.runtime_status)) {
      return with_reason(Mark::kAsleep,
                         fmt::format("not asked for: Vulkan opens every GPU, and that would wake "
                                     "{} ({})",
                                     gpu.identity.name, gpu.identity.pci),
                         "");
    }
  }
  const Result<std::vector<vulkan::ListedDevice>> devices = world.list_vulkan();
  if (!devices) {
    const bool is_absent = devices.error().code == ErrorCode::kNotFound;
    return with_reason(
        is_absent ? Mark::kNone : Mark::kBroken, devices.error().message,
        is_absent ? "install a driver: mesa-vulkan-drivers on Debian and Ubuntu" : "");
  }
  if (devices->empty()) {
    return with_reason(Mark::kNone, "a driver loads, but finds no device",
                       "see whether this user may open /dev/dri/renderD*");
  }
  Section section;
  section.text = "Vulkan\n";
  Json list = Json::array();
  for (const vulkan::ListedDevice& device : *devices) {
    append_row(section.text, Mark::kOk, "device", device.name);
    append_row(section.text, Mark::kAbout, "", describe(device, gpus));
    list.push_back(to_json(device));
  }
  section.json = dump(
      {{"state", word_of(Mark::kOk)}, {"reason", nullptr}, {"fix", nullptr}, {"devices", list}});
  return section;
}

}  // namespace gputrace::commands
