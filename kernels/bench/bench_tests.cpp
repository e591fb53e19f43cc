#include <set>
#include <string>
#include <utility>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/calibration_tests.h"
#include "kernels/bench/cases/roofline_cases.h"
#include "kernels/bench/tests/atomics.h"
#include "kernels/bench/tests/fill.h"
#include "kernels/bench/tests/latency.h"
#include "kernels/bench/tests/occupancy.h"
#include "kernels/bench/tests/texture.h"
#include "kernels/bench/validation_tests.h"

namespace gputrace::bench {

const std::vector<BenchTest>& bench_tests() {
  static const std::vector<BenchTest> kTests{
      {.id = "latency",
       .summary = "ns from a load to the next, by working set, on two paths",
       .needs = "",
       .quick_s = 5,
       .full_s = 150,
       .run = run_latency,
       .cases = latency_cases},
      {.id = "atomics",
       .summary = "atomic operations a second, by how lanes share words",
       .needs = "",
       .quick_s = 4,
       .full_s = 60,
       .run = run_atomics,
       .cases = atomics_cases},
      {.id = "occupancy",
       .summary = "groups in flight, as registers, size and local memory allow",
       .needs = "",
       .quick_s = 2,
       .full_s = 20,
       .run = run_occupancy,
       .cases = occupancy_cases},
      {.id = "fill",
       .summary = "pixels a second, by format, arithmetic and overdraw",
       .needs = "",
       .quick_s = 20,
       .full_s = 180,
       .run = run_fill,
       .cases = fill_cases},
      {.id = "texture",
       .summary = "texels a second, in order and at random, by size and filter",
       .needs = "",
       .quick_s = 20,
       .full_s = 150,
       .run = run_texture,
       .cases = texture_cases},
  };
  return kTests;
}

std::vector<KernelCase> all_cases(const vulkan::DeviceFacts& facts) {
  std::vector<KernelCase> cases = roofline_cases(facts);
  std::set<std::string> ids;
  for (const KernelCase& kernel : cases) {
    ids.insert(kernel.id);
  }
  for (const std::vector<BenchTest>* const tests :
       {&bench_tests(), &calibration_tests(), &validation_tests()}) {
    for (const BenchTest& test : *tests) {
      for (KernelCase& kernel : test.cases(facts)) {
        if (ids.insert(kernel.id).second) {
          cases.push_back(std::move(kernel));
        }
      }
    }
  }
  return cases;
}

}  // namespace gputrace::bench
