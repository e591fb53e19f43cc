#include "kernels/vulkan/instance.h"

#include <array>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/vulkan/vulkan_error.h"

namespace gputrace::vulkan {

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool has_validation_layer() {
  std::uint32_t count = 0;
  if (vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS) {
    return false;
  }
  std::vector<VkLayerProperties> layers(count);
  const VkResult result = vkEnumerateInstanceLayerProperties(&count, layers.data());
  layers.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? count : 0);
  for (const VkLayerProperties& layer : layers) {
    if (std::strncmp(layer.layerName, kValidationLayer, sizeof layer.layerName) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

/// Layers may call back from any thread.
struct VulkanInstance::ValidationLog {
  std::mutex mutex;
  std::string first_error;
};

VkBool32 VulkanInstance::note_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                      VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                      const VkDebugUtilsMessengerCallbackDataEXT* message,
                                      void* log) noexcept {
  auto* const found = static_cast<ValidationLog*>(log);
  try {
    const std::lock_guard lock(found->mutex);
    if (found->first_error.empty() && message->pMessage != nullptr) {
      found->first_error = message->pMessage;
    }
  } catch (const std::exception&) {
    return VK_FALSE;  // out of memory: the call that caused this fails by itself soon enough
  }
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT VulkanInstance::messenger_of(ValidationLog& log) noexcept {
  VkDebugUtilsMessengerCreateInfoEXT wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  wanted.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  wanted.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  wanted.pfnUserCallback = note_message;
  wanted.pUserData = &log;
  return wanted;
}

Result<VulkanInstance> VulkanInstance::create(bool validate) {
  if (volkInitialize() != VK_SUCCESS) {
    return fail(ErrorCode::kNotFound,
                "the Vulkan loader (libvulkan.so.1) is not installed, or does not load");
  }
  if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
    return fail(ErrorCode::kUnsupported, "the Vulkan loader is older than Vulkan 1.1");
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "gputrace";
  // The most that is used; drivers may know less (vkspec, VkApplicationInfo).
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  wanted.pApplicationInfo = &application;

  auto log = std::make_unique<ValidationLog>();
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_of(*log);
  constexpr std::array<const char*, 1> kExtensions{VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  const bool with_layer = validate && has_validation_layer();
  if (with_layer) {
    wanted.enabledLayerCount = 1;
    wanted.ppEnabledLayerNames = &kValidationLayer;
    wanted.enabledExtensionCount = static_cast<std::uint32_t>(kExtensions.size());
    wanted.ppEnabledExtensionNames = kExtensions.data();
  }
  VkInstance handle = VK_NULL_HANDLE;
  if (const VkResult result = vkCreateInstance(&wanted, nullptr, &handle); result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot create a Vulkan instance");
  }
  volkLoadInstanceOnly(handle);
  VulkanInstance instance(handle, std::move(log));
  if (with_layer) {
    const VkResult result =
        vkCreateDebugUtilsMessengerEXT(handle, &messenger, nullptr, &instance.messenger_);
    if (result != VK_SUCCESS) {
      return fail_vulkan(result, "cannot listen to the Vulkan validation layer");
    }
  }
  return instance;
}

VulkanInstance::VulkanInstance(VkInstance handle, std::unique_ptr<ValidationLog> log) noexcept
    : handle_(handle), log_(std::move(log)) {}

VulkanInstance::VulkanInstance(VulkanInstance&& other) noexcept
    : handle_(std::exchange(other.handle_, VK_NULL_HANDLE)),
      messenger_(std::exchange(other.messenger_, VK_NULL_HANDLE)),
      log_(std::move(other.log_)) {}

VulkanInstance& VulkanInstance::operator=(VulkanInstance&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(messenger_, other.messenger_);
  std::swap(log_, other.log_);
  return *this;
}

VulkanInstance::~VulkanInstance() {
  if (messenger_ != VK_NULL_HANDLE) {
    vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  }
  if (handle_ != VK_NULL_HANDLE) {
    vkDestroyInstance(handle_, nullptr);
  }
}

Status VulkanInstance::check_validation() const {
  const std::lock_guard lock(log_->mutex);
  if (log_->first_error.empty()) {
    return {};
  }
  return fail(ErrorCode::kIo,
              "the Vulkan validation layer says: " + std::exchange(log_->first_error, {}));
}

void VulkanInstance::abandon() noexcept {
  handle_ = VK_NULL_HANDLE;
  messenger_ = VK_NULL_HANDLE;
  // The messenger goes on to write to it.
  const ValidationLog* const left_behind = log_.release();
  static_cast<void>(left_behind);
}

}  // namespace gputrace::vulkan
