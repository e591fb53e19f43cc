#include "kernels/vulkan/device_list.h"

#include <fmt/format.h>
#include <volk.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "kernels/vulkan/instance.h"
#include "kernels/vulkan/physical_device.h"
#include "kernels/vulkan/vulkan_error.h"

namespace gputrace::vulkan {

namespace {

std::string_view type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "CPU";
    default:
      return "other";
  }
}

}  // namespace

Result<std::vector<VkPhysicalDevice>> physical_devices(const VulkanInstance& instance) {
  std::vector<VkPhysicalDevice> devices;
  VkResult result = VK_INCOMPLETE;
  while (result == VK_INCOMPLETE) {  // one came between the two calls
    std::uint32_t count = 0;
    result = vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr);
    if (result == VK_SUCCESS) {
      devices.resize(count);
      result = vkEnumeratePhysicalDevices(instance.handle(), &count, devices.data());
      devices.resize(count);
    }
  }
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot list Vulkan devices");
  }
  return devices;
}

std::vector<VkExtensionProperties> extensions_of(VkPhysicalDevice device) {
  std::uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) {
    return {};
  }
  std::vector<VkExtensionProperties> extensions(count);
  const VkResult result =
      vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  extensions.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? count : 0);
  return extensions;
}

bool offers(const std::vector<VkExtensionProperties>& extensions, std::string_view name) {
  return std::any_of(extensions.begin(), extensions.end(), [&](const auto& extension) {
    return text_of(extension.extensionName) == name;
  });
}

ListedDevice describe(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties basic{};
  vkGetPhysicalDeviceProperties(device, &basic);
  ListedDevice listed;
  listed.name = text_of(basic.deviceName);
  listed.type = type_name(basic.deviceType);
  listed.api_version =
      fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(basic.apiVersion),
                  VK_API_VERSION_MINOR(basic.apiVersion), VK_API_VERSION_PATCH(basic.apiVersion));
  listed.vendor_id = basic.vendorID;
  listed.device_id = basic.deviceID;
  if (basic.apiVersion < VK_API_VERSION_1_1) {
    return listed;  // it has no vkGetPhysicalDeviceProperties2
  }
  const std::vector<VkExtensionProperties> extensions = extensions_of(device);
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDevicePCIBusInfoPropertiesEXT bus{};
  bus.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  const bool has_driver = basic.apiVersion >= VK_API_VERSION_1_2 ||
                          offers(extensions, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  const bool has_bus = offers(extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  if (has_driver) {
    driver.pNext = properties.pNext;
    properties.pNext = &driver;
  }
  if (has_bus) {
    bus.pNext = properties.pNext;
    properties.pNext = &bus;
  }
  vkGetPhysicalDeviceProperties2(device, &properties);
  if (has_driver) {
    listed.driver = text_of(driver.driverName);
    listed.driver_info = text_of(driver.driverInfo);
  }
  if (has_bus) {
    listed.pci = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bus.pciDomain, bus.pciBus, bus.pciDevice,
                             bus.pciFunction);
  }
  return listed;
}

Result<std::vector<ListedDevice>> list_devices() {
  const Result<VulkanInstance> instance = VulkanInstance::create();
  if (!instance) {
    return tl::unexpected(instance.error());
  }
  const Result<std::vector<VkPhysicalDevice>> devices = physical_devices(*instance);
  if (!devices) {
    return tl::unexpected(devices.error());
  }
  std::vector<ListedDevice> listed;
  listed.reserve(devices->size());
  for (VkPhysicalDevice device : *devices) {
    listed.push_back(describe(device));
  }
  return listed;
}

}  // namespace gputrace::vulkan
