// A result made of workloads that are measured one by one: a kernel, a label and a place each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/roofline_part.h"

namespace gputrace::bench {

struct Workload {
  SizedCase sized;
  std::string label;  ///< empty = the kernel's id
  std::string series;
  double x = 0;
  unsigned rank = 0;  ///< as RooflinePoint::rank
};

/// Measured and proven by the frame of the roofline, points ascending, concluded. `head` has the
/// result's id, unit and axis. The rate of additions is left in the context, unless it was there.
[[nodiscard]] analysis::TestResult measure_workloads(TestContext& context,
                                                     analysis::TestResult head,
                                                     std::vector<Workload> workloads, WorkOf work);

/// One kernel for each code that the workloads need: others differ in their data and sizes alone.
[[nodiscard]] std::vector<KernelCase> kernels_of(const std::vector<Workload>& workloads);

/// A case whose stimulus says what DRAM moves, in bytes a thread of a launch.
void set_dram_bytes(KernelCase& kernel, std::function<double(const Launch&)> bytes);
/// Of a case that touches each byte once: DRAM moves what the program asks for.
void set_streamed(KernelCase& kernel);

}  // namespace gputrace::bench
