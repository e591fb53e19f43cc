// The kernels of `bench md`.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/bench/cases/sized_case.h"
#include "kernels/bench/tests/md/atoms.h"
#include "kernels/vulkan/device.h"

namespace gputrace::bench {

/// Relative error of the forces, rms over those that were compared.
struct ForceError {
  double rms = 0;
  std::uint32_t compared = 0;
};

/// "md.pairs": every atom with every other, tiles of 64 in shared memory, a trip each.
[[nodiscard]] SizedCase md_pairs_case(const std::shared_ptr<const Atoms>& atoms,
                                      const std::shared_ptr<ForceError>& seen = nullptr);
/// "md.list": every atom with those in its list, 8 a trip.
[[nodiscard]] SizedCase md_list_case(const std::shared_ptr<const Atoms>& atoms,
                                     const std::shared_ptr<const NeighbourLists>& lists,
                                     const std::shared_ptr<ForceError>& seen = nullptr);

}  // namespace gputrace::bench
