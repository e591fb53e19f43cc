#include "kernels/vulkan/acceleration_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/memory.h"

namespace gputrace::vulkan {
namespace {

/// A buffer for building: it has an address, and no views.
struct BuildBuffer {
  OwnedMemory memory;
  OwnedBuffer buffer;
  std::uint64_t address = 0;
};

Result<BuildBuffer> make_buffer(const Context& context, std::uint64_t bytes,
                                VkBufferUsageFlags usage, const MemoryWish& wish) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  auto buffer =
      OwnedBuffer::create(context, info, fmt::format("cannot make a buffer of {} bytes", bytes));
  if (!buffer) {
    return tl::unexpected(buffer.error());
  }
  VkMemoryRequirements needs{};
  context.table.vkGetBufferMemoryRequirements(context.device, buffer->get(), &needs);
  MemoryWish with_address = wish;
  with_address.with_address = true;
  auto memory = allocate(context, needs, with_address);
  if (!memory) {
    return tl::unexpected(memory.error());
  }
  const VkResult result =
      context.table.vkBindBufferMemory(context.device, buffer->get(), memory->get(), 0);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, fmt::format("cannot give a buffer its {} bytes", bytes));
  }
  VkBufferDeviceAddressInfo of{};
  of.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  of.buffer = buffer->get();
  const auto get_address = context.table.vkGetBufferDeviceAddress != nullptr
                               ? context.table.vkGetBufferDeviceAddress
                               : context.table.vkGetBufferDeviceAddressKHR;
  const std::uint64_t address = get_address(context.device, &of);
  return BuildBuffer{
      .memory = std::move(*memory), .buffer = std::move(*buffer), .address = address};
}

/// What a build reads, where the host writes it.
Result<BuildBuffer> make_input(const Context& context, std::span<const std::byte> data) {
  auto made = make_buffer(
      context, data.size(), VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR,
      {.required = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT});
  if (!made) {
    return made;
  }
  void* mapped = nullptr;
  const VkResult result =
      context.table.vkMapMemory(context.device, made->memory.get(), 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot write triangles");
  }
  std::memcpy(mapped, data.data(), data.size());
  context.table.vkUnmapMemory(context.device, made->memory.get());
  return made;
}

/// One level: what it is made of, and how many of these.
struct Level {
  VkAccelerationStructureTypeKHR type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
  VkAccelerationStructureGeometryKHR geometry{};
  std::uint32_t primitives = 0;
};

struct BuiltLevel {
  BuildBuffer storage;
  OwnedAccelerationStructure structure;
  std::uint64_t bytes = 0;
};

std::uint64_t scratch_alignment(VkPhysicalDevice physical) {
  VkPhysicalDeviceAccelerationStructurePropertiesKHR limits{};
  limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &limits;
  vkGetPhysicalDeviceProperties2(physical, &all);
  return std::max(limits.minAccelerationStructureScratchOffsetAlignment, 1U);
}

Result<BuiltLevel> build(Device::Impl& device, const Level& level) {
  const Context& context = device.context;
  VkAccelerationStructureBuildGeometryInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR;
  info.type = level.type;
  info.flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
  info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR;
  info.geometryCount = 1;
  info.pGeometries = &level.geometry;
  VkAccelerationStructureBuildSizesInfoKHR sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR;
  context.table.vkGetAccelerationStructureBuildSizesKHR(
      context.device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &info, &level.primitives,
      &sizes);
  BuiltLevel built;
  built.bytes = sizes.accelerationStructureSize;
  const MemoryWish on_device{.required = 0, .preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
  auto storage = make_buffer(context, sizes.accelerationStructureSize,
                             VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR, on_device);
  if (!storage) {
    return tl::unexpected(storage.error());
  }
  built.storage = std::move(*storage);
  VkAccelerationStructureCreateInfoKHR wanted{};
  wanted.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR;
  wanted.buffer = built.storage.buffer.get();
  wanted.size = sizes.accelerationStructureSize;
  wanted.type = level.type;
  auto structure =
      OwnedAccelerationStructure::create(context, wanted, "cannot make an acceleration structure");
  if (!structure) {
    return tl::unexpected(structure.error());
  }
  built.structure = std::move(*structure);
  const std::uint64_t alignment = scratch_alignment(context.physical);
  const auto scratch = make_buffer(context, sizes.buildScratchSize + alignment,
                                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, on_device);
  if (!scratch) {
    return tl::unexpected(scratch.error());
  }
  info.dstAccelerationStructure = built.structure.get();
  info.scratchData.deviceAddress = (scratch->address + alignment - 1) / alignment * alignment;
  VkAccelerationStructureBuildRangeInfoKHR range{};
  range.primitiveCount = level.primitives;
  const VkAccelerationStructureBuildRangeInfoKHR* const ranges = &range;
  const Status done = device.run_commands([&](VkCommandBuffer commands) {
    context.table.vkCmdBuildAccelerationStructuresKHR(commands, 1, &info, &ranges);
    wait_for_all(context, commands);
  });
  if (!done) {
    return tl::unexpected(done.error());
  }
  return built;
}

Level bottom_of(const BuildBuffer& vertices, const BuildBuffer& indices, const TriangleMesh& mesh) {
  constexpr std::uint32_t kVertexFloats = 3;
  Level level;
  level.primitives = static_cast<std::uint32_t>(mesh.indices.size() / 3);
  level.geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  level.geometry.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  level.geometry.flags = VK_GEOMETRY_OPAQUE_BIT_KHR;
  VkAccelerationStructureGeometryTrianglesDataKHR& triangles = level.geometry.geometry.triangles;
  triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
  triangles.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  triangles.vertexData.deviceAddress = vertices.address;
  triangles.vertexStride = kVertexFloats * sizeof(float);
  triangles.maxVertex = static_cast<std::uint32_t>(mesh.vertices.size() / kVertexFloats) - 1;
  triangles.indexType = VK_INDEX_TYPE_UINT32;
  triangles.indexData.deviceAddress = indices.address;
  return level;
}

VkAccelerationStructureInstanceKHR instance_of(const Context& context, const BuiltLevel& bottom) {
  VkAccelerationStructureDeviceAddressInfoKHR of{};
  of.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR;
  of.accelerationStructure = bottom.structure.get();
  VkAccelerationStructureInstanceKHR instance{};
  for (std::size_t i = 0; i < 3; ++i) {
    instance.transform.matrix[i][i] = 1;
  }
  instance.mask = 0xff;
  instance.flags = VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR;
  instance.accelerationStructureReference =
      context.table.vkGetAccelerationStructureDeviceAddressKHR(context.device, &of);
  return instance;
}

Level top_of(const BuildBuffer& instances) {
  Level level;
  level.type = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
  level.primitives = 1;
  level.geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  level.geometry.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  level.geometry.flags = VK_GEOMETRY_OPAQUE_BIT_KHR;
  VkAccelerationStructureGeometryInstancesDataKHR& data = level.geometry.geometry.instances;
  data.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR;
  data.data.deviceAddress = instances.address;
  return level;
}

Status check(const DeviceFacts& facts, const TriangleMesh& mesh) {
  if (!facts.ray_query) {
    return fail(ErrorCode::kUnsupported,
                facts.listed.name + " has no ray queries (VK_KHR_ray_query)");
  }
  const std::size_t vertices = mesh.vertices.size() / 3;
  const bool is_whole = mesh.vertices.size() % 3 == 0 && mesh.indices.size() % 3 == 0;
  if (mesh.indices.empty() || !is_whole ||
      std::ranges::any_of(mesh.indices, [&](std::uint32_t index) { return index >= vertices; })) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} indices of {} vertices make no triangles", mesh.indices.size(), vertices));
  }
  return {};
}

}  // namespace

/// The bottom level must stay for as long as the top level is used.
struct AccelerationStructure::Impl {
  BuiltLevel bottom;
  BuiltLevel top;
};

Result<AccelerationStructure> Device::create_acceleration_structure(const TriangleMesh& mesh) {
  if (const Status ready = impl_->can_run(); !ready) {
    return tl::unexpected(ready.error());
  }
  if (const Status good = check(impl_->facts, mesh); !good) {
    return tl::unexpected(good.error());
  }
  const Context& context = impl_->context;
  const auto vertices = make_input(context, std::as_bytes(std::span(mesh.vertices)));
  if (!vertices) {
    return tl::unexpected(vertices.error());
  }
  const auto indices = make_input(context, std::as_bytes(std::span(mesh.indices)));
  if (!indices) {
    return tl::unexpected(indices.error());
  }
  auto made = std::make_unique<AccelerationStructure::Impl>();
  auto bottom = build(*impl_, bottom_of(*vertices, *indices, mesh));
  if (!bottom) {
    return tl::unexpected(bottom.error());
  }
  made->bottom = std::move(*bottom);
  const VkAccelerationStructureInstanceKHR instance = instance_of(context, made->bottom);
  const auto instances = make_input(context, std::as_bytes(std::span(&instance, 1)));
  if (!instances) {
    return tl::unexpected(instances.error());
  }
  auto top = build(*impl_, top_of(*instances));
  if (!top) {
    return tl::unexpected(top.error());
  }
  made->top = std::move(*top);
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return AccelerationStructure(std::move(made));
}

VkAccelerationStructureKHR handle_of(const AccelerationStructure& structure) {
  return structure.impl().top.structure.get();
}

AccelerationStructure::AccelerationStructure(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AccelerationStructure::AccelerationStructure(AccelerationStructure&& other) noexcept = default;
AccelerationStructure& AccelerationStructure::operator=(AccelerationStructure&& other) noexcept =
    default;
AccelerationStructure::~AccelerationStructure() = default;

std::uint64_t AccelerationStructure::bytes() const {
  return impl_->bottom.bytes + impl_->top.bytes;
}

}  // namespace gputrace::vulkan
