#include "kernels/bench/vulkan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace gputrace::bench {

namespace {

/// No run is planned for more than a tenth of a second; software rasterisers on a loaded machine
/// are slow.
constexpr std::int64_t kTimeoutNs = 30'000'000'000;
constexpr std::string_view kVertexShader = "fullscreen.vert";

/// Empty when the device has what the case needs.
std::string missing_feature(const vulkan::DeviceFacts& facts, Requirement need) {
  switch (need) {
    case Requirement::kFp16:
      return facts.fp16 ? "" : "fp16 arithmetic (shaderFloat16)";
    case Requirement::kFp64:
      return facts.fp64 ? "" : "fp64 arithmetic (shaderFloat64)";
    case Requirement::kInt8Dot:
      return facts.int8_dot ? "" : "int8 dot products (VK_KHR_shader_integer_dot_product)";
    case Requirement::kInt64:
      return facts.int64 ? "" : "64-bit integers (shaderInt64)";
    case Requirement::kMatrix:
      return facts.matrix_shapes.empty() ? "fp16 matrices (VK_KHR_cooperative_matrix)" : "";
    case Requirement::kBufferAddresses:
      return facts.buffer_addresses ? "" : "buffer addresses (VK_KHR_buffer_device_address)";
    case Requirement::kBcTextures:
      return facts.bc_textures ? "" : "BC textures (textureCompressionBC)";
  }
  return "";
}

Status check_requirements(const vulkan::DeviceFacts& facts, const KernelCase& kernel) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: {} {}", kernel.id, facts.listed.name, why));
  };
  for (const Requirement need : kernel.needs) {
    if (const std::string missing = missing_feature(facts, need); !missing.empty()) {
      return refuse("has no " + missing);
    }
  }
  if (kernel.subgroup_size && std::ranges::find(facts.subgroup_sizes, *kernel.subgroup_size) ==
                                  facts.subgroup_sizes.end()) {
    return refuse(
        fmt::format("cannot be asked for subgroups of {} "
                    "(VK_EXT_subgroup_size_control)",
                    *kernel.subgroup_size));
  }
  if (!kernel.target && kernel.group_threads > facts.max_group_threads) {
    return refuse(fmt::format("runs groups of {} threads at most, not of {}",
                              facts.max_group_threads, kernel.group_threads));
  }
  for (const BufferNeed& need : kernel.buffers) {
    if (need.binding < vulkan::kStorageBindings && need.bytes > facts.max_storage_range) {
      return refuse(fmt::format("lets a shader see {} MiB of a buffer, not {}",
                                facts.max_storage_range >> 20U, need.bytes >> 20U));
    }
  }
  return {};
}

/// What a case reads and writes.
struct Memory {
  std::vector<vulkan::Buffer> buffers;
  std::optional<vulkan::Texture> texture;
  std::optional<vulkan::RenderTarget> target;
};

Result<vulkan::Buffer> make_buffer(vulkan::Device& device, const BufferNeed& need) {
  auto buffer = device.create_buffer(need.bytes, vulkan::MemoryUse::kDevice);
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

Result<Memory> make_memory(vulkan::Device& device, const KernelCase& kernel) {
  Memory memory;
  for (const BufferNeed& need : kernel.buffers) {
    auto buffer = make_buffer(device, need);
    if (!buffer) {
      return fail(buffer.error(), fmt::format("{}: a buffer of {} bytes", kernel.id, need.bytes));
    }
    memory.buffers.push_back(std::move(*buffer));
  }
  if (kernel.texture) {
    auto texture = device.create_texture(kernel.texture->description, kernel.texture->texels());
    if (!texture) {
      return fail(texture.error(), kernel.id);
    }
    memory.texture.emplace(std::move(*texture));
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

Result<vulkan::Pipeline> make_pipeline(vulkan::Device& device, const KernelCase& kernel) {
  const auto code = shader_code(kernel.shader);
  if (code.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: no shader {} in this build", kernel.id, kernel.shader));
  }
  auto pipeline =
      kernel.target
          ? device.create_pipeline(vulkan::PixelShader{.vertex_spirv = shader_code(kVertexShader),
                                                       .fragment_spirv = code,
                                                       .constants = kernel.constants,
                                                       .target = kernel.target->format,
                                                       .blend = kernel.blend})
          : device.create_pipeline(vulkan::ComputeShader{.spirv = code,
                                                         .constants = kernel.constants,
                                                         .subgroup_size = kernel.subgroup_size});
  if (!pipeline) {
    return fail(pipeline.error(), kernel.id);
  }
  return pipeline;
}

class VulkanKernel final : public PreparedKernel {
 public:
  VulkanKernel(vulkan::Device& device, KernelCase kernel, vulkan::Pipeline pipeline, Memory memory)
      : device_(device),
        kernel_(std::move(kernel)),
        pipeline_(std::move(pipeline)),
        memory_(std::move(memory)) {}

  [[nodiscard]] const KernelCase& kernel() const override { return kernel_; }

  [[nodiscard]] Result<vulkan::RunTime> run(const Launch& launch) override {
    return run_on(memory_, launch);
  }

  [[nodiscard]] Status check_result(const Launch& launch) override {
    if (!kernel_.check) {
      return fail(ErrorCode::kUnsupported, kernel_.id + ": its result is not compared");
    }
    const auto memory = make_memory(device_, kernel_);
    if (!memory) {
      return tl::unexpected(memory.error());
    }
    if (const auto ran = run_on(*memory, launch); !ran) {
      return fail(ran.error(), kernel_.id);
    }
    Outputs outputs;
    for (const vulkan::Buffer& buffer : memory->buffers) {
      auto bytes = device_.download(buffer, 0, buffer.size());
      if (!bytes) {
        return fail(bytes.error(), kernel_.id);
      }
      outputs.buffers.push_back(std::move(*bytes));
    }
    if (const auto& target = memory->target) {
      auto texels = device_.download(*target);
      if (!texels) {
        return fail(texels.error(), kernel_.id);
      }
      outputs.target = std::move(*texels);
    }
    return kernel_.check(launch, outputs);
  }

  [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
    return pipeline_.executables();
  }

 private:
  [[nodiscard]] vulkan::PushConstants push(const Memory& memory, const Launch& launch) const {
    std::vector<const vulkan::Buffer*> buffers;
    buffers.reserve(memory.buffers.size());
    for (const vulkan::Buffer& buffer : memory.buffers) {
      buffers.push_back(&buffer);
    }
    return kernel_.push ? kernel_.push(launch, buffers) : vulkan::PushConstants{};
  }

  [[nodiscard]] vulkan::Bindings bindings(const Memory& memory) const {
    vulkan::Bindings bindings;
    bindings.image = memory.texture ? &*memory.texture : nullptr;
    for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
      const std::uint32_t binding = kernel_.buffers[i].binding;
      if (binding < vulkan::kStorageBindings) {
        bindings.storage.at(binding) = &memory.buffers[i];
      } else if (binding == vulkan::kUniformBinding) {
        bindings.uniform = &memory.buffers[i];
      } else if (binding == vulkan::kTexelBinding) {
        bindings.texel = &memory.buffers[i];
      }
    }
    return bindings;
  }

  [[nodiscard]] Result<vulkan::RunTime> run_on(const Memory& memory, const Launch& launch) {
    GPUTRACE_CHECK(launch.trips <= kMaxTrips);
    if (memory.target) {
      const vulkan::Draw draw{.pipeline = &pipeline_,
                              .target = &*memory.target,
                              .image = memory.texture ? &*memory.texture : nullptr,
                              .push = push(memory, launch),
                              .instances = launch.groups,
                              .clear = true};
      const std::vector<vulkan::Work> work(launch.repeats, vulkan::Work(draw));
      return device_.run(work, kTimeoutNs);
    }
    const std::uint32_t most = device_.facts().max_groups_x;
    if (launch.groups > most) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} groups are more than the device's {}", launch.groups, most));
    }
    const std::vector<vulkan::Work> work{vulkan::Dispatch{.pipeline = &pipeline_,
                                                          .bindings = bindings(memory),
                                                          .push = push(memory, launch),
                                                          .groups_x = launch.groups,
                                                          .repeat = launch.repeats}};
    return device_.run(work, kTimeoutNs);
  }

  vulkan::Device& device_;
  KernelCase kernel_;
  vulkan::Pipeline pipeline_;
  Memory memory_;
};

class VulkanRunner final : public Runner {
 public:
  VulkanRunner(std::string choice, bool validate, vulkan::Device device)
      : facts_(device.facts()),
        // Another device in its place would go unnoticed.
        choice_(facts_.listed.pci.value_or(std::move(choice))),
        validate_(validate),
        device_(std::move(device)) {}

  [[nodiscard]] const vulkan::DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] bool simulated() const override { return false; }

  [[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare(const KernelCase& kernel) override {
    if (!device_) {
      return fail(ErrorCode::kIo, facts_.listed.name + " was lost and could not be opened again");
    }
    if (const Status fits = check_requirements(facts_, kernel); !fits) {
      return tl::unexpected(fits.error());
    }
    auto pipeline = make_pipeline(*device_, kernel);
    if (!pipeline) {
      return tl::unexpected(pipeline.error());
    }
    auto memory = make_memory(*device_, kernel);
    if (!memory) {
      return tl::unexpected(memory.error());
    }
    return std::make_unique<VulkanKernel>(*device_, kernel, std::move(*pipeline),
                                          std::move(*memory));
  }

  [[nodiscard]] Status reopen() override {
    // The old device first: it may hold the memory that the new one needs.
    device_.reset();
    auto opened = vulkan::Device::open(choice_, validate_);
    if (!opened) {
      return fail(opened.error(), "cannot open " + facts_.listed.name + " again");
    }
    device_.emplace(std::move(*opened));
    facts_ = device_->facts();
    return {};
  }

 private:
  vulkan::DeviceFacts facts_;
  std::string choice_;
  bool validate_ = false;
  std::optional<vulkan::Device> device_;
};

}  // namespace

Result<std::unique_ptr<Runner>> open_vulkan_runner(std::string_view device, bool validate) {
  auto opened = vulkan::Device::open(device, validate);
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  return std::make_unique<VulkanRunner>(std::string(device), validate, std::move(*opened));
}

Result<std::vector<vulkan::Executable>> compile(vulkan::Device& device, const KernelCase& kernel) {
  if (const Status fits = check_requirements(device.facts(), kernel); !fits) {
    return tl::unexpected(fits.error());
  }
  const auto pipeline = make_pipeline(device, kernel);
  if (!pipeline) {
    return tl::unexpected(pipeline.error());
  }
  return pipeline->executables();
}

}  // namespace gputrace::bench
