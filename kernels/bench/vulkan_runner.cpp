#include "kernels/bench/vulkan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/bench/case_memory.h"

namespace gputrace::bench {

namespace {

/// No run is planned for more than a tenth of a second; software rasterisers on a loaded machine
/// are slow.
constexpr std::int64_t kTimeoutNs = 30'000'000'000;
constexpr std::string_view kVertexShader = "fullscreen.vert";

/// Empty when the device has what the case needs.
std::string missing_feature(const vulkan::DeviceFacts& facts, Requirement need) {
  switch (need) {
    case Requirement::kStorage16:
      return facts.storage16 ? "" : "16-bit numbers in buffers (storageBuffer16BitAccess)";
    case Requirement::kRayQuery:
      return facts.ray_query ? "" : "ray queries (VK_KHR_ray_query)";
    case Requirement::kFp16:
      return facts.fp16 ? "" : "fp16 arithmetic (shaderFloat16)";
    case Requirement::kFp64:
      return facts.fp64 ? "" : "fp64 arithmetic (shaderFloat64)";
    case Requirement::kInt8Dot:
      return facts.int8_dot ? "" : "int8 dot products (VK_KHR_shader_integer_dot_product)";
    case Requirement::kInt16:
      return facts.int16 ? "" : "16-bit integers (shaderInt16)";
    case Requirement::kInt64:
      return facts.int64 ? "" : "64-bit integers (shaderInt64)";
    case Requirement::kMatrix:
      return facts.matrix_shapes.empty() ? "fp16 matrices (VK_KHR_cooperative_matrix)" : "";
    case Requirement::kBufferAddresses:
      return facts.buffer_addresses ? "" : "buffer addresses (VK_KHR_buffer_device_address)";
    case Requirement::kBcTextures:
      return facts.bc_textures ? "" : "BC textures (textureCompressionBC)";
    case Requirement::kShaderClock:
      return facts.shader_clock ? "" : "a clock for shaders (VK_KHR_shader_clock)";
    case Requirement::kFloatAtomics:
      return facts.float_atomics ? "" : "float atomics (shaderBufferFloat32AtomicAdd)";
    case Requirement::kSharedFloatAtomics:
      return facts.shared_float_atomics
                 ? ""
                 : "float atomics on local memory (shaderSharedFloat32AtomicAdd)";
  }
  return "";
}

std::uint64_t most_bytes(const vulkan::DeviceFacts& facts, std::uint32_t binding) {
  constexpr std::uint64_t kTexelBytes = 4;
  if (binding == vulkan::kUniformBinding) {
    return facts.max_uniform_range;
  }
  return binding == vulkan::kTexelBinding ? facts.max_texel_elements * kTexelBytes
                                          : facts.max_storage_range;
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
    if (const std::uint64_t most = most_bytes(facts, need.binding); need.bytes > most) {
      return refuse(fmt::format("lets a shader see {} KiB of a buffer at binding {}, not {}",
                                most >> 10U, need.binding, need.bytes >> 10U));
    }
  }
  return {};
}

Result<vulkan::Pipeline> make_pipeline(vulkan::Device& device, const KernelCase& kernel) {
  const std::span<const std::uint32_t> code =
      kernel.code.empty() ? shader_code(kernel.shader) : std::span(kernel.code);
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

/// What is made once and kept for later cases: sizes of a test differ in their data alone, and a
/// driver takes longer to compile than a point to be measured.
struct Kept {
  using Code = std::tuple<std::string_view, std::vector<std::uint32_t>,
                          std::optional<std::uint32_t>, std::optional<vulkan::Format>, bool>;

  std::map<Code, std::shared_ptr<const vulkan::Pipeline>> pipelines;
  SharedMemory memory;

  [[nodiscard]] Result<std::shared_ptr<const vulkan::Pipeline>> pipeline(vulkan::Device& device,
                                                                         const KernelCase& kernel);
};

Result<std::shared_ptr<const vulkan::Pipeline>> Kept::pipeline(vulkan::Device& device,
                                                               const KernelCase& kernel) {
  const Code code{kernel.shader, kernel.constants, kernel.subgroup_size,
                  kernel.target ? std::optional(kernel.target->format) : std::nullopt,
                  kernel.blend};
  if (const auto place = pipelines.find(code); kernel.code.empty() && place != pipelines.end()) {
    return place->second;
  }
  auto made = make_pipeline(device, kernel);
  if (!made) {
    return tl::unexpected(made.error());
  }
  auto pipeline = std::make_shared<const vulkan::Pipeline>(std::move(*made));
  if (kernel.code.empty()) {
    pipelines.emplace(code, pipeline);
  }
  return pipeline;
}

class VulkanKernel final : public PreparedKernel {
 public:
  VulkanKernel(vulkan::Device& device, Kept& kept, KernelCase kernel,
               std::shared_ptr<const vulkan::Pipeline> pipeline, CaseMemory memory)
      : device_(device),
        kept_(kept),
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
    auto memory = make_memory(device_, kernel_, kept_.memory, &memory_);
    if (!memory) {
      return tl::unexpected(memory.error());
    }
    if (const auto ran = run_on(*memory, launch); !ran) {
      return fail(ran.error(), kernel_.id);
    }
    const auto outputs = outputs_of(*memory);
    return outputs ? kernel_.check(launch, *outputs) : tl::unexpected(outputs.error());
  }

  [[nodiscard]] Result<Outputs> read_back() override { return outputs_of(memory_); }

  [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
    return pipeline_->executables();
  }

 private:
  [[nodiscard]] vulkan::PushConstants push(const CaseMemory& memory, const Launch& launch) const {
    std::vector<const vulkan::Buffer*> buffers;
    buffers.reserve(memory.buffers.size());
    for (const auto& buffer : memory.buffers) {
      buffers.push_back(buffer.get());
    }
    return kernel_.push ? kernel_.push(launch, buffers) : vulkan::PushConstants{};
  }

  [[nodiscard]] vulkan::Bindings bindings(const CaseMemory& memory) const {
    vulkan::Bindings bindings;
    bindings.image = memory.texture.get();
    bindings.scene = memory.scene.get();
    for (std::size_t i = 0; i < memory.buffers.size(); ++i) {
      const std::uint32_t binding = kernel_.buffers[i].binding;
      if (binding < vulkan::kStorageBindings) {
        bindings.storage.at(binding) = memory.buffers[i].get();
      } else if (binding == vulkan::kUniformBinding) {
        bindings.uniform = memory.buffers[i].get();
      } else if (binding == vulkan::kTexelBinding) {
        bindings.texel = memory.buffers[i].get();
      }
    }
    return bindings;
  }

  [[nodiscard]] Result<Outputs> outputs_of(const CaseMemory& memory) {
    Outputs outputs;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (is_read_only(kernel_.buffers[i])) {
        outputs.buffers.emplace_back();
        continue;
      }
      auto bytes = device_.download(*memory.buffers[i], 0, kernel_.buffers[i].bytes);
      if (!bytes) {
        return fail(bytes.error(), kernel_.id);
      }
      outputs.buffers.push_back(std::move(*bytes));
    }
    if (const auto& target = memory.target) {
      auto texels = device_.download(*target);
      if (!texels) {
        return fail(texels.error(), kernel_.id);
      }
      outputs.target = std::move(*texels);
    }
    return outputs;
  }

  [[nodiscard]] Result<vulkan::RunTime> run_on(CaseMemory& memory, const Launch& launch) {
    GPUTRACE_CHECK(launch.trips <= kMaxTrips);
    if (memory.target) {
      const vulkan::Draw draw{.pipeline = pipeline_.get(),
                              .target = &*memory.target,
                              .image = memory.texture.get(),
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
    vulkan::Dispatch dispatch{.pipeline = pipeline_.get(),
                              .bindings = bindings(memory),
                              .push = push(memory, launch),
                              .groups_x = launch.groups,
                              .repeat = launch.repeats};
    if (!kernel_.push_step) {
      const std::vector<vulkan::Work> work{dispatch};
      return device_.run(work, kTimeoutNs);
    }
    dispatch.repeat = 1;
    std::vector<vulkan::Work> work;
    work.reserve(launch.repeats);
    for (std::uint32_t i = 0; i < launch.repeats; ++i) {
      dispatch.push = kernel_.push_step(memory.steps++);
      work.emplace_back(dispatch);
    }
    return device_.run(work, kTimeoutNs);
  }

  vulkan::Device& device_;
  Kept& kept_;
  KernelCase kernel_;
  std::shared_ptr<const vulkan::Pipeline> pipeline_;
  CaseMemory memory_;
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
    auto pipeline = kept_.pipeline(*device_, kernel);
    if (!pipeline) {
      return tl::unexpected(pipeline.error());
    }
    drop_unused(kept_.memory);
    auto memory = make_memory(*device_, kernel, kept_.memory, nullptr);
    if (!memory) {
      return tl::unexpected(memory.error());
    }
    return std::make_unique<VulkanKernel>(*device_, kept_, kernel, std::move(*pipeline),
                                          std::move(*memory));
  }

  [[nodiscard]] vulkan::Device* device() override { return device_ ? &*device_ : nullptr; }

  [[nodiscard]] Status reopen() override {
    // The old device first: it may hold the memory that the new one needs.
    kept_ = {};
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
  Kept kept_;
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
