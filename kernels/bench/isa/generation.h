// Tells GPU generations by the encodings of their instructions.
#pragma once

#include "kernels/bench/isa/listing.h"

namespace gputrace::bench::isa {

enum class Generation {
  kUnknown,
  kGcn,    ///< waves of 64 lanes
  kRdna,   ///< RDNA 1 and 2
  kRdna3,  ///< and newer: an instruction for two operations
};

[[nodiscard]] Generation generation_of(const Listing& listing);

}  // namespace gputrace::bench::isa
