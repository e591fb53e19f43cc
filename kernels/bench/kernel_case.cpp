#include "kernels/bench/kernel_case.h"

#include "kernels/bench/runner.h"

namespace gputrace::bench {
namespace {

double submitted(const KernelCase& kernel, const Launch& launch, double per_trip, double once) {
  return threads_of(kernel, launch) * launch.repeats * (per_trip * launch.trips + once);
}

}  // namespace

Result<Outputs> PreparedKernel::read_back() {
  return fail(ErrorCode::kUnsupported, kernel().id + ": nothing executes, nothing is left behind");
}

double threads_of(const KernelCase& kernel, const Launch& launch) {
  if (kernel.target) {
    return static_cast<double>(kernel.target->width) * kernel.target->height * launch.groups;
  }
  return static_cast<double>(launch.groups) * kernel.group_threads;
}

double flops_of(const KernelCase& kernel, const Launch& launch) {
  return submitted(kernel, launch, kernel.flops_per_trip, kernel.flops_once);
}

double read_bytes_of(const KernelCase& kernel, const Launch& launch) {
  return submitted(kernel, launch, kernel.read_bytes_per_trip, kernel.read_bytes_once);
}

double written_bytes_of(const KernelCase& kernel, const Launch& launch) {
  return submitted(kernel, launch, kernel.written_bytes_per_trip, kernel.written_bytes_once);
}

}  // namespace gputrace::bench
