#include "kernels/bench/validation_tests.h"

#include <algorithm>

#include "kernels/bench/validation/validation_cases.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

using Workloads = std::vector<Workload> (*)(const vulkan::DeviceFacts& facts);

/// At its intensity: FLOPs by bytes of DRAM.
Workload workload_of(SizedCase sized, std::string series) {
  Workload workload{.sized = std::move(sized), .label = "", .series = std::move(series), .x = 0};
  const Stimulus stimulus = workload.sized.kernel.stimulus(workload.sized.launch);
  workload.x = stimulus.flops / stimulus.dram_bytes.value_or(stimulus.flops);
  return workload;
}

std::vector<Workload> lbm(const vulkan::DeviceFacts& facts) {
  return {workload_of(lbm_case(facts, Storage::kFp32), "fp32"),
          workload_of(lbm_case(facts, Storage::kFp16), "fp16")};
}

std::vector<Workload> stencil(const vulkan::DeviceFacts& facts) {
  return {workload_of(stencil_case(facts), "5 points")};
}

std::vector<Workload> matmul(const vulkan::DeviceFacts& facts) {
  // AMD's GPUs with waves of 64 alone (GCN) have 64 registers a thread for groups of 1,024.
  const bool is_gcn = facts.subgroup_size == 64 &&
                      std::ranges::find(facts.subgroup_sizes, 32U) == facts.subgroup_sizes.end();
  std::vector<Workload> workloads;
  for (const std::uint32_t side : {64U, 128U, 256U}) {
    SizedCase sized = matmul_case(facts, side);
    if (sized.kernel.group_threads <= (is_gcn ? 256U : facts.max_group_threads)) {
      workloads.push_back(workload_of(std::move(sized), "tiles"));
    }
  }
  return workloads;
}

std::vector<Workload> nbody(const vulkan::DeviceFacts& facts) {
  return {workload_of(nbody_case(facts), "all pairs")};
}

template <Workloads kWorkloads, const char* kId>
std::vector<analysis::TestResult> run(TestContext& context) {
  analysis::TestResult head;
  head.id = kId;
  head.unit = "GFLOPS";
  head.axis = "arithmetic intensity";
  head.axis_unit = "FLOP/B";
  std::vector<analysis::TestResult> results;
  results.push_back(measure_workloads(context, std::move(head), kWorkloads(context.runner.facts()),
                                      arithmetic_work));
  return results;
}

template <Workloads kWorkloads>
std::vector<KernelCase> cases(const vulkan::DeviceFacts& facts) {
  return kernels_of(kWorkloads(facts));
}

template <Workloads kWorkloads, const char* kId>
BenchTest test_of(std::string_view summary, double quick_s, double full_s) {
  return {.id = kId,
          .summary = summary,
          .needs = "",
          .quick_s = quick_s,
          .full_s = full_s,
          .run = run<kWorkloads, kId>,
          .cases = cases<kWorkloads>};
}

constexpr char kLbm[] = "validation.lbm";
constexpr char kStencil[] = "validation.stencil";
constexpr char kMatmul[] = "validation.matmul";
constexpr char kNbody[] = "validation.nbody";

}  // namespace

const std::vector<BenchTest>& validation_tests() {
  static const std::vector<BenchTest> kTests{
      test_of<lbm, kLbm>("lattice Boltzmann D3Q19, fp32 and fp16 storage", 5, 10),
      test_of<stencil, kStencil>("five-point stencil on a large grid", 2, 5),
      test_of<matmul, kMatmul>("matrix products in tiles of 64, 128 and 256", 5, 12),
      test_of<nbody, kNbody>("all pairs of bodies, tiles in shared memory", 2, 5),
  };
  return kTests;
}

}  // namespace gputrace::bench
