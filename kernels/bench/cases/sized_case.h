// A kernel's case with the launch that its sizes are made for.
#pragma once

#include "kernels/bench/kernel_case.h"

namespace gputrace::bench {

struct SizedCase {
  KernelCase kernel;
  Launch launch;             ///< trips are 1 where they are to be scaled
  bool scale_trips = false;  ///< as PlannedPoint's; else the trips are part of what is measured
};

}  // namespace gputrace::bench
