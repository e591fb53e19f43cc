#include "kernels/vulkan/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/vulkan/device_choice.h"
#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/features.h"
#include "kernels/vulkan/physical_device.h"

namespace gputrace::vulkan {

namespace {

struct QueueFamily {
  std::uint32_t index = 0;
  VkQueueFamilyProperties properties{};
};

/// One that draws and computes, else one that computes (accelerators without a rasteriser).
Result<QueueFamily> queue_family_of(VkPhysicalDevice physical) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  for (const VkQueueFlags wanted : {VkQueueFlags{VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT},
                                    VkQueueFlags{VK_QUEUE_COMPUTE_BIT}}) {
    for (std::uint32_t i = 0; i < families.size(); ++i) {
      if ((families[i].queueFlags & wanted) == wanted) {
        return QueueFamily{.index = i, .properties = families[i]};
      }
    }
  }
  return fail(ErrorCode::kUnsupported, "the device has no queue that computes");
}

}  // namespace

Result<Device> Device::open(std::string_view choice, bool validate) {
  auto instance = VulkanInstance::create(validate);
  if (!instance) {
    return tl::unexpected(instance.error());
  }
  const auto physical = physical_devices(*instance);
  if (!physical) {
    return tl::unexpected(physical.error());
  }
  std::vector<ListedDevice> listed;
  listed.reserve(physical->size());
  std::transform(physical->begin(), physical->end(), std::back_inserter(listed), describe);
  const Result<std::size_t> chosen = choose_device(listed, choice);
  if (!chosen) {
    return tl::unexpected(chosen.error());
  }
  auto impl = std::make_unique<Impl>(std::move(*instance));
  impl->facts.listed = listed[*chosen];
  if (const Status opened = impl->open((*physical)[*chosen]); !opened) {
    return fail(opened.error(), fmt::format("cannot open {}", listed[*chosen].name));
  }
  return Device(std::move(impl));
}

Status Device::Impl::open(VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physical, &properties);
  if (properties.apiVersion < VK_API_VERSION_1_1) {
    return fail(ErrorCode::kUnsupported, "its driver knows Vulkan 1.0 only; 1.1 is needed");
  }
  limits = properties.limits;
  context.physical = physical;
  vkGetPhysicalDeviceMemoryProperties(physical, &context.memory);
  const Result<QueueFamily> family = queue_family_of(physical);
  if (!family) {
    return tl::unexpected(family.error());
  }
  queue_family = family->index;
  const Features features(physical);
  facts = [&] {
    DeviceFacts found = features.facts();
    found.listed = std::move(facts.listed);
    return found;
  }();
  facts.graphics = (family->properties.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
  facts.is_validated = context.instance.validates();
  facts.loop_trip_limit = loop_trip_limit_of(facts.listed.driver, facts.listed.driver_info);
  if (family->properties.timestampValidBits == 0) {
    facts.timestamp_period_ns.reset();
  }
  if (facts.timestamp_period_ns) {
    timestamps = TimestampScale{.valid_bits = family->properties.timestampValidBits,
                                .period_ns = *facts.timestamp_period_ns,
                                .needs_flush = facts.is_cpu};
  }

  const float priority = 1;
  VkDeviceQueueCreateInfo queue_info{};
  queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue_info.queueFamilyIndex = queue_family;
  queue_info.queueCount = 1;
  queue_info.pQueuePriorities = &priority;
  VkDeviceCreateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  wanted.pNext = features.chain();
  wanted.queueCreateInfoCount = 1;
  wanted.pQueueCreateInfos = &queue_info;
  wanted.enabledExtensionCount = static_cast<std::uint32_t>(features.extensions().size());
  wanted.ppEnabledExtensionNames = features.extensions().data();
  const VkResult result = vkCreateDevice(physical, &wanted, nullptr, &context.device);
  if (result != VK_SUCCESS) {
    context.device = VK_NULL_HANDLE;
    return fail_vulkan(result, "the driver refuses");
  }
  volkLoadDeviceTable(&context.table, context.device);
  auto shared = SharedLayout::create(context);
  if (!shared) {
    return tl::unexpected(shared.error());
  }
  layout = std::move(*shared);
  if (!facts.is_null_device) {
    if (const Status opened = open_queue(); !opened) {
      return opened;
    }
  }
  return check_validation();
}

Status Device::Impl::open_queue() {
  auto opened = Queue::create(context, queue_family, timestamps);
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  queue.emplace(std::move(*opened));
  auto made = DescriptorSets::create(context, layout);
  if (!made) {
    return tl::unexpected(made.error());
  }
  sets.emplace(std::move(*made));
  return make_dummies();
}

Status Device::Impl::make_dummies() {
  constexpr std::uint64_t kDummyBytes = 256;
  auto buffer = make_buffer(kDummyBytes, MemoryUse::kDevice);
  if (!buffer) {
    return tl::unexpected(buffer.error());
  }
  dummy_buffer = std::move(*buffer);
  if (const Status filled = fill_with_zeros(*dummy_buffer); !filled) {
    return filled;
  }
  VkSamplerCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  info.maxLod = VK_LOD_CLAMP_NONE;
  auto sampler = OwnedSampler::create(context, info, "cannot make a sampler");
  if (!sampler) {
    return tl::unexpected(sampler.error());
  }
  nearest = std::move(*sampler);
  info.magFilter = VK_FILTER_LINEAR;
  info.minFilter = VK_FILTER_LINEAR;
  sampler = OwnedSampler::create(context, info, "cannot make a sampler");
  if (!sampler) {
    return tl::unexpected(sampler.error());
  }
  bilinear = std::move(*sampler);
  constexpr std::array<std::byte, 4> kBlack{};
  auto texture = make_texture({.width = 1, .height = 1}, kBlack);
  if (!texture) {
    return tl::unexpected(texture.error());
  }
  dummy_texture = std::move(*texture);
  return {};
}

std::string Device::Impl::why_not_run() const {
  return facts.listed.name + " has no memory: it compiles shaders and cannot run them";
}

Status Device::Impl::can_run() const {
  if (!queue) {
    return fail(ErrorCode::kUnsupported, why_not_run());
  }
  return {};
}

Status Device::Impl::run_commands(const std::function<void(VkCommandBuffer)>& record) {
  if (!queue) {
    return fail(ErrorCode::kUnsupported, why_not_run());
  }
  const Result<VkCommandBuffer> commands = queue->begin();
  if (!commands) {
    return tl::unexpected(commands.error());
  }
  record(*commands);
  const Result<RunTime> done = queue->finish(kCopyTimeoutNs);
  if (!done) {
    return tl::unexpected(done.error());
  }
  return {};
}

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::Device(Device&& other) noexcept = default;
Device& Device::operator=(Device&& other) noexcept = default;
Device::~Device() = default;

const DeviceFacts& Device::facts() const {
  return impl_->facts;
}

}  // namespace gputrace::vulkan
