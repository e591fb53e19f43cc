// The kernels of `bench atomics`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

inline constexpr std::uint32_t kAtomicsPerTrip = 16;
inline constexpr std::uint32_t kAtomicGroupThreads = 256;

/// Where the words are, and how wide.
enum class AtomicPlace { kGlobal, kLocal, kGlobal64, kGlobalFloat, kLocalFloat };
[[nodiscard]] bool is_local(AtomicPlace place);
/// fp32; additions alone.
[[nodiscard]] bool is_float(AtomicPlace place);
enum class AtomicOperation { kAdd, kAddWithResult, kCompareSwap, kXor };
enum class AtomicPattern {
  kOneWord,      ///< for all lanes; of local memory: for all lanes of a group
  kWordALane,    ///< neighbouring lanes, neighbouring words
  kLineALane,    ///< neighbouring lanes, words 64 bytes apart
  kWordAGroup,   ///< all lanes of a group on one word in a line of its own; global only
  kOneKnownWord  ///< one word, and the compiler knows it: it may add up a wave before one atomic
};

struct AtomicShape {
  AtomicPlace place = AtomicPlace::kGlobal;
  AtomicOperation operation = AtomicOperation::kAdd;
  AtomicPattern pattern = AtomicPattern::kOneWord;
};

/// "add, word a lane".
[[nodiscard]] std::string name_of(const AtomicShape& shape);
/// "atomics.global", "atomics.local", "atomics.global64", "atomics.global_float",
/// "atomics.local_float".
[[nodiscard]] std::string_view test_id(AtomicPlace place);
/// Groups of kAtomicGroupThreads that the device is filled with.
[[nodiscard]] std::uint32_t atomic_groups(const vulkan::DeviceFacts& facts);

/// For launches of at most atomic_groups() groups. The result is exact: what the words hold is
/// what every single operation adds up to.
[[nodiscard]] KernelCase atomic_case(const AtomicShape& shape, const vulkan::DeviceFacts& facts);

/// Operations of one submission, a lane each: an instruction that does those of a whole wave counts
/// as many as it has lanes.
[[nodiscard]] double atomics_of(const Launch& launch);

}  // namespace gputrace::bench
