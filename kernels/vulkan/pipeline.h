// Shaders with their constants, and what the driver made of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/image.h"

namespace gputrace::vulkan {

/// Of the push constants, which every pipeline has.
inline constexpr std::size_t kPushBytes = 128;

/// All compute shaders see one layout: storage buffers at bindings 0 to 3, a uniform buffer at 4, a
/// uniform texel buffer (R32_UINT) at 5, a sampled image at 6; an acceleration structure at 7 on
/// devices with ray queries.
inline constexpr std::uint32_t kStorageBindings = 4;
inline constexpr std::uint32_t kUniformBinding = 4;
inline constexpr std::uint32_t kTexelBinding = 5;
inline constexpr std::uint32_t kImageBinding = 6;
inline constexpr std::uint32_t kSceneBinding = 7;

struct ComputeShader {
  std::span<const std::uint32_t> spirv;
  std::vector<std::uint32_t> constants = {};  ///< specialization constants 0, 1, 2, ...
  std::optional<std::uint32_t> subgroup_size =
      std::nullopt;  ///< one of DeviceFacts::subgroup_sizes
};

/// A full-screen triangle without vertex buffers; fragments see binding 6 and the push constants.
struct PixelShader {
  std::span<const std::uint32_t> vertex_spirv;
  std::span<const std::uint32_t> fragment_spirv;
  std::vector<std::uint32_t> constants = {};  ///< of the fragment shader
  Format target = Format::kRgba8;
  bool blend = false;
};

/// One number that the driver tells of a compiled shader: "VGPRs", "Code size".
struct Statistic {
  std::string name;
  double value = 0;
};

/// What the driver compiled one stage to (VK_KHR_pipeline_executable_properties).
struct Executable {
  std::string name;
  std::uint32_t subgroup_size = 0;
  std::vector<Statistic> statistics;
  std::string assembly;  ///< empty where the driver shows none

  [[nodiscard]] std::optional<double> statistic(std::string_view wanted) const;
};

/// Move-only.
class Pipeline {
 public:
  Pipeline(Pipeline&& other) noexcept;
  Pipeline& operator=(Pipeline&& other) noexcept;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// kUnsupported without the extension.
  [[nodiscard]] Result<std::vector<Executable>> executables() const;

  struct Impl;
  explicit Pipeline(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::vulkan
