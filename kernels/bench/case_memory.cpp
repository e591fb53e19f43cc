#include "kernels/bench/case_memory.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/vulkan/pipeline.h"

namespace gputrace::bench {

namespace {

Result<vulkan::Buffer> make_buffer(vulkan::Device& device, const BufferNeed& need) {
  auto buffer = need.in_host_memory ? device.create_host_buffer(need.bytes)
                                    : device.create_buffer(need.bytes, vulkan::MemoryUse::kDevice);
  if (buffer && (need.fill || need.fill_at)) {
    std::vector<std::byte> contents(need.bytes);
    if (need.fill_at) {
      need.fill_at(contents, buffer->address());
    } else {
      need.fill(contents);
    }
    if (const Status written = device.upload(*buffer, contents); !written) {
      return tl::unexpected(written.error());
    }
  }
  return buffer;
}

Result<std::shared_ptr<const vulkan::Texture>> texture_of(vulkan::Device& device,
                                                          const TextureNeed& need,
                                                          SharedMemory& shared) {
  if (const auto place = shared.textures.find(need.shared);
      need.shared && place != shared.textures.end()) {
    return place->second;
  }
  auto made = device.create_texture(need.description, need.texels());
  if (!made) {
    return tl::unexpected(made.error());
  }
  auto texture = std::make_shared<const vulkan::Texture>(std::move(*made));
  if (need.shared) {
    shared.textures.emplace(need.shared, texture);
  }
  return texture;
}

}  // namespace

void drop_unused(SharedMemory& memory) {
  const auto is_gone = [](const auto& entry) { return entry.first.expired(); };
  std::erase_if(memory.buffers, is_gone);
  std::erase_if(memory.textures, is_gone);
}

bool is_read_only(const BufferNeed& need) {
  return need.shared != nullptr || need.binding >= vulkan::kStorageBindings;
}

Result<CaseMemory> make_memory(vulkan::Device& device, const KernelCase& kernel,
                               SharedMemory& shared, const CaseMemory* of_before) {
  CaseMemory memory;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const BufferNeed& need = kernel.buffers[i];
    if (of_before != nullptr && is_read_only(need)) {
      memory.buffers.push_back(of_before->buffers[i]);
      continue;
    }
    if (const auto place = shared.buffers.find(need.shared);
        need.shared && place != shared.buffers.end()) {
      memory.buffers.push_back(place->second);
      continue;
    }
    auto buffer = make_buffer(device, need);
    if (!buffer) {
      return fail(buffer.error(), fmt::format("{}: a buffer of {} bytes", kernel.id, need.bytes));
    }
    memory.buffers.push_back(std::make_shared<const vulkan::Buffer>(std::move(*buffer)));
    if (need.shared) {
      shared.buffers.emplace(need.shared, memory.buffers.back());
    }
  }
  if (of_before != nullptr) {
    memory.texture = of_before->texture;
  } else if (kernel.texture) {
    auto texture = texture_of(device, *kernel.texture, shared);
    if (!texture) {
      return fail(texture.error(), kernel.id);
    }
    memory.texture = std::move(*texture);
  }
  if (of_before != nullptr) {
    memory.scene = of_before->scene;
  } else if (kernel.scene) {
    auto scene = device.create_acceleration_structure(kernel.scene->mesh());
    if (!scene) {
      return fail(scene.error(), kernel.id);
    }
    memory.scene = std::make_shared<const vulkan::AccelerationStructure>(std::move(*scene));
  }
  if (kernel.target) {
    auto target = device.create_target(*kernel.target);
    if (!target) {
      return fail(target.error(), kernel.id);
    }
    memory.target.emplace(std::move(*target));
  }
  return memory;
}

}  // namespace gputrace::bench
