#include "kernels/bench/tests/lbm/lattice_case.h"
#include "kernels/bench/validation/validation_cases.h"

namespace gputrace::bench {

SizedCase lbm_case(const vulkan::DeviceFacts& facts, Storage storage) {
  return lattice_case(facts,
                      storage == Storage::kFp16 ? LatticeFormat::kFp16s : LatticeFormat::kFp32,
                      lattice_box(facts));
}

}  // namespace gputrace::bench
