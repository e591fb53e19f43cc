// One kernel in one configuration: shader, constants, data, what it must compute, and the formula
// for its work, which three proofs are held against: result, ISA, rate.
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
#include "kernels/bench/stimulus.h"
#include "kernels/vulkan/acceleration_structure.h"
#include "kernels/vulkan/image.h"
#include "kernels/vulkan/work.h"

namespace gputrace::bench {

/// Loop trips that an invocation may make: lavapipe before Mesa 25 ends a shader silently after
/// 65,535, all its loops together.
inline constexpr std::uint32_t kMaxTrips = 60'000;

/// Classes in which the formula and the driver's code are counted, a thread. A packed instruction
/// counts for each of its halves, a dual-issued pair for two.
enum class Operation {
  kFmaF32,
  kFmaF16,
  kFmaF64,
  kAddF32,
  kMulF32,
  kAddF16,
  kMulF16,
  kAddF64,
  kMulF64,
  kMulAddI32,  ///< multiplications of int32
  kAddI32,
  kMulI16,  ///< multiplications of int16, an addition with them or not
  kAddI16,
  kDotI8,  ///< dot products of four
  kReciprocal,
  kSquareRoot,
  kReciprocalRoot,
  kExponential,
  kLogarithm,
  kSine,
  kMatrix,  ///< matrix instructions
  kLoad16,  ///< vector loads of 16 bytes
  kLoad8,
  kLoad4,
  kLoad2,
  kStore16,
  kStore4,
  kStore2,
  kScalarLoad,
  kSharedLoad,
  kSharedStore,
  kSample,  ///< texture fetches
  kExport,  ///< pixel exports
  kAtomic,
  kSharedAtomic,
  kRayTest,  ///< of a ray with boxes or a triangle
};

struct OperationCount {
  Operation operation = Operation::kFmaF32;
  double per_trip = 0;  ///< in the loop
  double once = 0;      ///< outside of it
  /// `per_trip` is the least that any device needs: what an operation is made of differs by GPU and
  /// by driver.
  bool at_least = false;
};

/// How much of a case is run at once.
struct Launch {
  std::uint32_t groups = 1;   ///< of threads; a pixel case: instances drawn over each other
  std::uint32_t trips = 1;    ///< of the kernel's loop, at most kMaxTrips
  std::uint32_t repeats = 1;  ///< dispatches or passes in one submission
};

enum class Requirement {
  kStorage16,
  kRayQuery,
  kFp16,
  kFp64,
  kInt8Dot,
  kInt16,
  kInt64,
  kMatrix,
  kBufferAddresses,
  kBcTextures,
  kShaderClock,
  kFloatAtomics,
  kSharedFloatAtomics
};

/// The contents of a buffer that the case needs. `fill` writes all of it before the first run.
struct BufferNeed {
  std::uint32_t binding = 0;  ///< 0 to 3 storage, 4 uniform, 5 texel
  std::uint64_t bytes = 0;
  std::function<void(std::span<std::byte>)> fill;  ///< empty = zeros
  /// In place of `fill`, for contents that hold addresses within this very buffer; needs
  /// Requirement::kBufferAddresses.
  std::function<void(std::span<std::byte>, std::uint64_t address)> fill_at = nullptr;
  /// Cases that name the same object see one buffer, which the first of them fills and shaders only
  /// read. It lives as long as the object.
  std::shared_ptr<const void> shared = nullptr;
  bool in_host_memory = false;  ///< else in the device's (vulkan::Device::create_host_buffer())
};

struct TextureNeed {
  vulkan::TextureDescription description;
  std::function<std::vector<std::byte>()> texels;
  std::shared_ptr<const void> shared = nullptr;  ///< as of a buffer
};

/// What a case left behind: buffers in the order of KernelCase::buffers, those empty that shaders
/// only read (shared, uniform, texel); or the target's texels.
struct Outputs {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::byte> target;
};

/// Triangles that rays are asked about, at binding 7; needs Requirement::kRayQuery.
struct SceneNeed {
  std::function<vulkan::TriangleMesh()> mesh;
};

struct KernelCase {
  std::string id;           ///< unique: "peak.fp32.wave32", "sweep.n16", "bandwidth.read.16MiB"
  std::string description;  ///< one line
  std::string_view shader;  ///< in shader_code(): "sweep.comp", "alu_fp32.comp:FMA"
  /// SPIR-V that was made at run time, in place of `shader`.
  std::vector<std::uint32_t> code = {};
  std::vector<std::uint32_t> constants;
  std::uint32_t group_threads = 256;
  std::optional<std::uint32_t> subgroup_size;
  std::vector<Requirement> needs;
  std::vector<BufferNeed> buffers;
  std::optional<TextureNeed> texture;
  std::optional<SceneNeed> scene = std::nullopt;
  std::optional<vulkan::TargetDescription> target;  ///< a pixel case
  bool blend = false;
  /// The push constants of a launch; buffers as they were made, for their addresses.
  std::function<vulkan::PushConstants(const Launch&, std::span<const vulkan::Buffer* const>)> push;
  /// In place of `push`, for dispatches that differ: `step` counts those that the buffers have
  /// seen.
  std::function<vulkan::PushConstants(std::uint64_t step)> push_step = nullptr;

  std::vector<OperationCount> formula;  ///< a thread
  /// In place of a formula, where how often something runs is decided while it runs, or by the
  /// driver: each of these must be in a loop of the code.
  std::vector<Operation> in_loops = {};
  double flops_per_trip = 0;  ///< a thread; operations, where they are of integers
  double flops_once = 0;
  double read_bytes_per_trip = 0;  ///< a thread, as the program asks for them
  double read_bytes_once = 0;
  double written_bytes_per_trip = 0;
  double written_bytes_once = 0;
  std::optional<double> max_code_bytes = 8192;  ///< the smallest instruction cache is 32 KiB
  std::optional<double> min_waves_per_simd;     ///< on RDNA; checked where statistics tell
  /// Of the vector instructions in the loop, the least share that the formula's arithmetic has.
  std::optional<double> min_arithmetic_share;
  /// Of the loop's fp32 FMAs, the least share that is dual-issued. Checked with wave32 where GPU
  /// and driver form pairs.
  std::optional<double> min_dual_issued_share = std::nullopt;

  /// Compares a sample of the outputs after exactly one run of this launch on fresh buffers with a
  /// computation on the CPU. The error names the place, both values and the bound.
  std::function<Status(const Launch&, const Outputs&)> check;
  std::function<Stimulus(const Launch&)> stimulus;
};

/// Threads of a launch: groups times group_threads, or the target's pixels times instances.
[[nodiscard]] double threads_of(const KernelCase& kernel, const Launch& launch);
/// Of one submission.
[[nodiscard]] double flops_of(const KernelCase& kernel, const Launch& launch);
[[nodiscard]] double read_bytes_of(const KernelCase& kernel, const Launch& launch);
[[nodiscard]] double written_bytes_of(const KernelCase& kernel, const Launch& launch);

/// SPIR-V of a file in kernels/shaders, by its name; empty for one that is not there.
[[nodiscard]] std::span<const std::uint32_t> shader_code(std::string_view name);

}  // namespace gputrace::bench
