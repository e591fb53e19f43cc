#include "kernels/bench/calibration_tests.h"

#include "kernels/bench/calibration/families.h"

namespace gputrace::bench {
namespace {

using calibration::Family;

template <Family (*kFamily)()>
std::vector<analysis::TestResult> run(TestContext& context) {
  const Family family = kFamily();
  std::vector<analysis::TestResult> results;
  results.push_back(measure_workloads(context, family.table(),
                                      family.workloads(context.runner.facts(), context.quick),
                                      family.work));
  return results;
}

/// Those of a quick run have all shaders in all group sizes: sizes change the data alone.
template <Family (*kFamily)()>
std::vector<KernelCase> cases(const vulkan::DeviceFacts& facts) {
  return kernels_of(kFamily().workloads(facts, true));
}

template <Family (*kFamily)()>
constexpr BenchTest test_of(std::string_view id, std::string_view summary, double quick_s,
                            double full_s) {
  return {.id = id,
          .summary = summary,
          .needs = "",
          .quick_s = quick_s,
          .full_s = full_s,
          .run = run<kFamily>,
          .cases = cases<kFamily>};
}

}  // namespace

const std::vector<BenchTest>& calibration_tests() {
  using namespace calibration;  // NOLINT(google-build-using-namespace)
  static const std::vector<BenchTest> kTests{
      test_of<sweep_family>("calibration.sweep",
                            "arithmetic intensity from 0.25 to 512 FLOP/B, by group size", 25, 200),
      test_of<bandwidth_family>("calibration.bandwidth", "streams of DRAM, by group size", 6, 50),
      test_of<chase_family>("calibration.chase", "pointer chases of 1 to 8 chains", 6, 30),
      test_of<fill_family>("calibration.fill", "full-screen pixels of noise", 3, 25),
      test_of<texture_family>("calibration.texture", "texture fetches, in order and at random", 3,
                              25),
      test_of<atomics_family>("calibration.atomics", "atomics, by how lanes share words", 3, 25),
      test_of<occupancy_family>("calibration.occupancy", "few groups in flight", 4, 30),
  };
  return kTests;
}

}  // namespace gputrace::bench
