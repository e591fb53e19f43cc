// One opened Vulkan device: what it can do, and everything that is made on it. No Vulkan header
// shows here, so that workloads stay free of Vulkan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/device_list.h"

namespace gputrace::vulkan {

/// What one subgroup multiplies in one instruction: an m x k by a k x n matrix of fp16.
struct MatrixShape {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  bool accumulates_fp32 = false;  ///< else fp16
};

/// Features that were offered and are enabled, and limits.
struct DeviceFacts {
  ListedDevice listed;
  bool is_cpu = false;          ///< a software rasteriser
  bool is_null_device = false;  ///< compiles and cannot run: no memory
  bool graphics = false;        ///< draws, and not only computes
  bool is_validated = false;    ///< the validation layer looks on

  std::uint32_t subgroup_size = 0;  ///< the driver's own choice
  /// Sizes that a pipeline may ask for; empty without VK_EXT_subgroup_size_control.
  std::vector<std::uint32_t> subgroup_sizes;
  bool fp16 = false;
  bool fp64 = false;
  /// In an instruction of its own, not made of others; a software rasteriser: at all.
  bool int8_dot = false;
  bool int16 = false;
  bool int64 = false;
  bool buffer_addresses = false;
  bool int64_atomics = false;
  bool executable_properties = false;
  bool pipeline_statistics = false;
  bool bc_textures = false;
  std::vector<MatrixShape> matrix_shapes;  ///< fp16 in; empty = none

  std::uint32_t max_groups_x = 0;
  std::uint32_t max_group_threads = 0;
  std::uint32_t max_shared_bytes = 0;
  std::uint64_t max_storage_range = 0;
  std::uint32_t max_image_side = 0;
  std::uint64_t memory_bytes = 0;  ///< of the largest device-local heap
  /// Nanoseconds of a tick; absent where timestamps are not to be had (no valid bits, or a period
  /// that is not finite and positive, as RADV's null device says).
  std::optional<double> timestamp_period_ns;
  /// Loop trips after which a shader invocation ends silently, all its loops together (lavapipe
  /// before Mesa 25: 65,535).
  std::optional<std::uint32_t> loop_trip_limit;
};

enum class MemoryUse {
  kDevice,    ///< device-local: written by copies and shaders
  kReadBack,  ///< host-visible and cached where the device has it
};

class Buffer;
class Texture;
class RenderTarget;
class Pipeline;
struct ComputeShader;
struct PixelShader;
struct TextureDescription;
struct TargetDescription;
struct Work;

/// How long a submission took.
struct RunTime {
  std::optional<double> gpu_ns;        ///< between the timestamps before and after the work
  std::optional<std::uint64_t> ticks;  ///< the same, uncalibrated
  double wall_ns = 0;                  ///< from submit to the fence
};

/// Move-only. What is made from it must be gone before it. Used by one thread.
class Device {
 public:
  /// `choice`: an index of list_devices(), a PCI address, a part of the name; empty = the first
  /// that is no CPU, else the first. kNotFound lists the devices, and so does kInvalidArgument (the
  /// name fits several). `validate` = load the validation
  /// layer where it is installed; what it finds makes the next call fail.
  [[nodiscard]] static Result<Device> open(std::string_view choice, bool validate);

  Device(Device&& other) noexcept;
  Device& operator=(Device&& other) noexcept;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] const DeviceFacts& facts() const;

  /// kNoSpace when memory is out, kUnsupported over a limit of the device. Contents are zero.
  [[nodiscard]] Result<Buffer> create_buffer(std::uint64_t bytes, MemoryUse use);
  [[nodiscard]] Status upload(const Buffer& to, std::span<const std::byte> data);
  [[nodiscard]] Result<std::vector<std::byte>> download(const Buffer& from, std::uint64_t offset,
                                                        std::uint64_t bytes);
  [[nodiscard]] Result<Texture> create_texture(const TextureDescription& description,
                                               std::span<const std::byte> texels);
  [[nodiscard]] Result<RenderTarget> create_target(const TargetDescription& description);
  /// The texels as they lie in memory, row by row without padding.
  [[nodiscard]] Result<std::vector<std::byte>> download(const RenderTarget& from);

  [[nodiscard]] Result<Pipeline> create_pipeline(const ComputeShader& shader);
  [[nodiscard]] Result<Pipeline> create_pipeline(const PixelShader& shader);

  /// Runs everything in one submission and waits for it. kIo: the device was lost (open a new one);
  /// kBusy: no end within `timeout_ns`, and the device is to be given up.
  [[nodiscard]] Result<RunTime> run(std::span<const Work> work, std::int64_t timeout_ns);

  struct Impl;

 private:
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::vulkan
