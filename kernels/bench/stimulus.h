// What a kernel does to a GPU, in the terms of a queueing model of its units: the ground truth that
// marks carry, and what the simulated GPU plays. Amounts are those of one launch, split evenly
// over its threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gputrace::bench {

enum class Access {
  kNone,
  kStream,    ///< neighbouring threads, neighbouring addresses, each once
  kResident,  ///< the same footprint again and again, in order
  kRandom,    ///< random places of the footprint
  kChase,     ///< each address comes from the load before
  kTexture,   ///< neighbouring pixels, neighbouring texels
  kRandomTexture,
  kAtomic,
};

/// Through which units reads go.
enum class Path {
  kVector,    ///< texture addresser and L0, an address a lane
  kScalar,    ///< the scalar cache, one address a wave
  kConstant,  ///< a uniform block
  kTexel,     ///< a texel buffer
  kImage,     ///< an image, fetched
  kSampled,   ///< an image, through a sampler
  kLocal,     ///< local memory: Access and footprint_bytes are of it
};

/// What the FLOPs of a stimulus are; operations, where they are of integers.
enum class Arithmetic {
  kFp32,
  kFp32Special,  ///< reciprocals, roots, exponentials, logarithms, sines
  kFp16,         ///< one a lane
  kFp16Packed,
  kFp64,
  kInt16,
  kInt16Packed,
  kInt24,
  kInt32,  ///< multiplications among them
  kInt32Add,
  kInt64,
  kInt8Dot,
  kMatrix,
};

struct Stimulus {
  std::string kernel;   ///< KernelCase::id
  bool pixels = false;  ///< full-screen pixels instead of compute threads
  double threads = 0;   ///< or pixels, all launches of the run together
  std::uint32_t launches = 1;
  std::uint32_t group_threads = 0;
  std::uint32_t waves_per_simd = 0;  ///< that registers and local memory allow; 0 = unlimited
  std::uint32_t max_groups = 0;      ///< in flight; 0 = as many as fit
  double steps = 1;                  ///< dependent memory steps a thread
  Arithmetic arithmetic = Arithmetic::kFp32;
  double flops = 0;  ///< a thread (operations, where the arithmetic is of integers)
  Access access = Access::kNone;
  Path path = Path::kVector;
  double read_bytes = 0;     ///< a thread, what the program asks for
  double written_bytes = 0;  ///< a thread; colour and depth of a pixel
  double footprint_bytes = 0;
  /// From one place that is read to the next, where less than all of the footprint is: a chase with
  /// its nodes so far apart. 0 = all of it.
  double stride_bytes = 0;
  double local_bytes = 0;  ///< a thread, read and written in local memory beside `access`
  /// Of a group, in local memory: with registers it decides how many groups are in flight.
  double group_local_bytes = 0;
  /// Threads that meet at one word with atomics, or lanes at one bank of local memory; 1 = each has
  /// its own.
  double sharers = 1;
  double code_bytes = 0;  ///< 0 = not known
  /// A thread, both ways: what DRAM must move whatever caches there are, and all that it moves
  /// where caches do what the case asks of them. Absent = depends on them. Not for the simulated
  /// GPU.
  std::optional<double> dram_bytes = std::nullopt;

  // Pixels only.
  double fetches = 0;  ///< texture fetches a pixel
  bool bilinear = false;
  double overdraw = 1;
};

}  // namespace gputrace::bench
