// The units of the modelled GPU: one bit each in a UnitMask, the state of the GPU at an instant.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputrace::simulated_gpu {

/// The order is that of the bits in stored tapes.
enum class Unit : std::uint8_t {
  kCpf,    ///< command fetch
  kCpc,    ///< compute dispatch
  kCpg,    ///< graphics commands
  kGe,     ///< geometry engine: vertex fetch and vertex waves
  kPa,     ///< primitive assembly
  kSc,     ///< scan converter
  kSpi,    ///< shader processor input: launches and owns waves
  kTa,     ///< texture addresser
  kTcp,    ///< L0 vector cache
  kUtcl1,  ///< first level of address translation
  kGl1,    ///< cache of a shader array
  kGl2,    ///< cache of the GPU
  kEa,     ///< efficiency arbiter: the door to DRAM
  kUtcl2,  ///< second level of address translation
  kRmi,    ///< render backends' memory interface
  kDb,     ///< depth
  kCb,     ///< colour
  kSx,     ///< shader export
  kBci,    ///< barycentric interpolation
  kPc,     ///< parameter cache
  kPh,     ///< primitive hub
  kCh,     ///< crossbar between GL1 and GL2
  kCp,     ///< command processor, whole
  kGui,    ///< GUI_ACTIVE: anything of the above
};
inline constexpr std::size_t kUnitCount = 24;

using UnitMask = std::uint32_t;

[[nodiscard]] constexpr std::size_t index_of(Unit unit) {
  return static_cast<std::size_t>(unit);
}
[[nodiscard]] constexpr UnitMask bit_of(Unit unit) {
  return UnitMask{1} << index_of(unit);
}

}  // namespace gputrace::simulated_gpu
