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

std::vector<QueueFamily> queue_families_of(VkPhysicalDevice physical) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> listed(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, listed.data());
  std::vector<QueueFamily> families;
  families.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = listed[i].queueFlags;
    constexpr VkQueueFlags kOrdinary = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                       VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT |
                                       VK_QUEUE_PROTECTED_BIT;
    families.push_back({.index = i,
                        .graphics = (flags & VK_QUEUE_GRAPHICS_BIT) != 0,
                        .compute = (flags & VK_QUEUE_COMPUTE_BIT) != 0,
                        .transfer = (flags & VK_QUEUE_TRANSFER_BIT) != 0,
                        .special = (flags & ~kOrdinary) != 0,
                        .queues = listed[i].queueCount,
                        .timestamp_bits = listed[i].timestampValidBits});
  }
  return families;
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
  const std::vector<QueueFamily> queues = choose_queues(queue_families_of(physical));
  if (queues.empty()) {
    return fail(ErrorCode::kUnsupported, "the device has no queue that computes");
  }
  const Features features(physical);
  facts = [&] {
    DeviceFacts found = features.facts();
    found.listed = std::move(facts.listed);
    return found;
  }();
  facts.queues = queues;
  facts.graphics = queues.front().graphics;
  resets_queries = features.resets_queries();
  facts.is_validated = context.instance.validates();
  facts.loop_trip_limit = loop_trip_limit_of(facts.listed.driver, facts.listed.driver_info);
  if (queues.front().timestamp_bits == 0) {
    facts.timestamp_period_ns.reset();
  }

  const float priority = 1;
  std::vector<VkDeviceQueueCreateInfo> queue_infos;
  queue_infos.reserve(queues.size());
  for (const QueueFamily& family : queues) {
    VkDeviceQueueCreateInfo& info = queue_infos.emplace_back();
    info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    info.queueFamilyIndex = family.index;
    info.queueCount = 1;
    info.pQueuePriorities = &priority;
  }
  VkDeviceCreateInfo wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  wanted.pNext = features.chain();
  wanted.queueCreateInfoCount = static_cast<std::uint32_t>(queue_infos.size());
  wanted.pQueueCreateInfos = queue_infos.data();
  wanted.enabledExtensionCount = static_cast<std::uint32_t>(features.extensions().size());
  wanted.ppEnabledExtensionNames = features.extensions().data();
  const VkResult result = vkCreateDevice(physical, &wanted, nullptr, &context.device);
  if (result != VK_SUCCESS) {
    context.device = VK_NULL_HANDLE;
    return fail_vulkan(result, "the driver refuses");
  }
  volkLoadDeviceTable(&context.table, context.device);
  auto shared = SharedLayout::create(context, facts.ray_query);
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
  const QueueFamily& family = facts.queues.front();
  auto opened = Queue::create(context, family.index, timestamps_of(family));
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

std::optional<TimestampScale> Device::Impl::timestamps_of(const QueueFamily& family) const {
  const bool only_copies = !family.graphics && !family.compute;
  if (!facts.timestamp_period_ns || family.timestamp_bits == 0 ||
      (only_copies && !resets_queries)) {
    return std::nullopt;
  }
  return TimestampScale{.valid_bits = family.timestamp_bits,
                        .period_ns = *facts.timestamp_period_ns,
                        .needs_flush = facts.is_cpu,
                        .reset_by_host = only_copies};
}

Result<Queue*> Device::Impl::queue_at(std::size_t index) {
  if (!queue) {
    return fail(ErrorCode::kUnsupported, why_not_run());
  }
  if (index == 0) {
    return &*queue;
  }
  if (index >= facts.queues.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} has no queue {}", facts.listed.name, index));
  }
  const auto known = other_queues.find(index);
  if (known != other_queues.end()) {
    return &known->second;
  }
  const QueueFamily& family = facts.queues[index];
  auto made = Queue::create(context, family.index, timestamps_of(family));
  if (!made) {
    return tl::unexpected(made.error());
  }
  return &other_queues.emplace(index, std::move(*made)).first->second;
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
