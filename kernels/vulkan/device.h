// One opened Vulkan device: what it can do, and everything that is made on it. No Vulkan header
// shows here, so that workloads stay free of Vulkan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/device_list.h"
#include "kernels/vulkan/memory_kinds.h"
#include "kernels/vulkan/queue_families.h"

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
  bool storage16 = false;  ///< loads and stores of 16 bits in buffers
  bool fp16 = false;
  bool fp64 = false;
  /// In an instruction of its own, not made of others; a software rasteriser: at all.
  bool int8_dot = false;
  bool int16 = false;
  bool int64 = false;
  bool buffer_addresses = false;
  bool int64_atomics = false;
  bool float_atomics = false;         ///< fp32 additions on buffers
  bool shared_float_atomics = false;  ///< fp32 additions on local memory
  bool executable_properties = false;
  bool pipeline_statistics = false;
  bool bc_textures = false;
  bool shader_clock = false;  ///< a counter of the core's clocks, read by a subgroup
  bool ray_query = false;
  std::vector<MatrixShape> matrix_shapes;  ///< fp16 in; empty = none

  /// Compute units, streaming multiprocessors, shader cores; of a software rasteriser the threads
  /// that it may use. Absent where no extension tells.
  std::optional<std::uint32_t> cores;
  std::uint32_t max_groups_x = 0;
  std::uint32_t max_group_threads = 0;
  std::uint32_t max_shared_bytes = 0;
  std::uint64_t max_storage_range = 0;
  std::uint64_t max_uniform_range = 0;
  std::uint64_t max_texel_elements = 0;  ///< of a texel buffer
  std::uint32_t max_image_side = 0;
  std::uint64_t memory_bytes = 0;        ///< of the largest device-local heap
  std::vector<MemoryKind> memory_kinds;  ///< distinct ones that buffers may have
  std::vector<QueueFamily> queues;       ///< the first is what everything runs on
  /// Of pages of this process that the GPU can be lent; absent without VK_EXT_external_memory_host.
  std::optional<std::uint64_t> host_import_alignment;
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
class AccelerationStructure;
class Pipeline;
struct ComputeShader;
struct PixelShader;
struct TextureDescription;
struct TargetDescription;
struct TriangleMesh;
struct Work;

/// How long a submission took.
struct RunTime {
  std::optional<double> gpu_ns;        ///< between the timestamps before and after the work
  std::optional<std::uint64_t> ticks;  ///< the same, uncalibrated
  double wall_ns = 0;                  ///< from submit to the fence
};

struct RunOptions {
  std::size_t queue = 0;  ///< in DeviceFacts::queues
  /// Called once after the submission and before the wait for it.
  std::function<void()> while_running = nullptr;
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
  /// Of this very kind, for all queues, mapped where the kind is host-visible. kUnsupported where
  /// buffers cannot have it.
  [[nodiscard]] Result<Buffer> create_buffer(std::uint64_t bytes, const MemoryKind& kind);
  /// In pages of this process, mapped, for all queues: the GPU works on the very bytes that the CPU
  /// sees. kUnsupported without DeviceFacts::host_import_alignment, or where they would not be
  /// coherent.
  [[nodiscard]] Result<Buffer> create_imported_buffer(std::uint64_t bytes);
  /// Of the host's memory, mapped, for all queues: an imported one where that is possible, else of
  /// host_side(). kUnsupported where the CPU sees no memory that the GPU does.
  [[nodiscard]] Result<Buffer> create_host_buffer(std::uint64_t bytes);
  /// What the CPU wrote to the first `bytes` of Buffer::mapped() is seen by work that is run after
  /// it. Nothing is to be done for coherent memory.
  [[nodiscard]] Status flush(const Buffer& buffer, std::uint64_t bytes);
  /// What work wrote there is seen by the CPU.
  [[nodiscard]] Status invalidate(const Buffer& buffer, std::uint64_t bytes);
  [[nodiscard]] Status upload(const Buffer& to, std::span<const std::byte> data);
  [[nodiscard]] Result<std::vector<std::byte>> download(const Buffer& from, std::uint64_t offset,
                                                        std::uint64_t bytes);
  [[nodiscard]] Result<Texture> create_texture(const TextureDescription& description,
                                               std::span<const std::byte> texels);
  [[nodiscard]] Result<RenderTarget> create_target(const TargetDescription& description);
  /// kUnsupported without DeviceFacts::ray_query.
  [[nodiscard]] Result<AccelerationStructure> create_acceleration_structure(
      const TriangleMesh& mesh);
  /// The texels as they lie in memory, row by row without padding.
  [[nodiscard]] Result<std::vector<std::byte>> download(const RenderTarget& from);

  [[nodiscard]] Result<Pipeline> create_pipeline(const ComputeShader& shader);
  [[nodiscard]] Result<Pipeline> create_pipeline(const PixelShader& shader);

  /// Runs everything in one submission and waits for it. kIo: the device was lost (open a new one);
  /// kBusy: no end within `timeout_ns`, and the device is to be given up. kInvalidArgument: work
  /// that the queue is not for.
  [[nodiscard]] Result<RunTime> run(std::span<const Work> work, std::int64_t timeout_ns,
                                    const RunOptions& options = {});

  struct Impl;

 private:
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::vulkan
