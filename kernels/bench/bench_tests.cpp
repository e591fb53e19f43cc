#include <set>
#include <string>
#include <utility>

#include "kernels/bench/bench_test.h"
#include "kernels/bench/calibration_tests.h"
#include "kernels/bench/cases/roofline_cases.h"
#include "kernels/bench/tests/alu/alu.h"
#include "kernels/bench/tests/atomics/atomics.h"
#include "kernels/bench/tests/bandwidth/bandwidth.h"
#include "kernels/bench/tests/c2c/c2c.h"
#include "kernels/bench/tests/copy/copy.h"
#include "kernels/bench/tests/fill/fill.h"
#include "kernels/bench/tests/host/host.h"
#include "kernels/bench/tests/icache/icache.h"
#include "kernels/bench/tests/latency/latency.h"
#include "kernels/bench/tests/lbm/lbm.h"
#include "kernels/bench/tests/local/local.h"
#include "kernels/bench/tests/md/md.h"
#include "kernels/bench/tests/occupancy/occupancy.h"
#include "kernels/bench/tests/parallel/parallel.h"
#include "kernels/bench/tests/rays/rays.h"
#include "kernels/bench/tests/stride/stride.h"
#include "kernels/bench/tests/texture/texture.h"
#include "kernels/bench/validation_tests.h"

namespace gputrace::bench {

const std::vector<BenchTest>& bench_tests() {
  static const std::vector<BenchTest> kTests{
      {.id = "alu",
       .summary = "operations a second of each type, with each subgroup size",
       .needs = "",
       .quick_s = 4,
       .full_s = 40,
       .run = run_alu,
       .cases = alu_cases},
      {.id = "parallel",
       .summary = "FMAs a second by work items in flight",
       .needs = "",
       .quick_s = 1,
       .full_s = 10,
       .run = run_parallel,
       .cases = parallel_cases},
      {.id = "latency",
       .summary = "ns from a load to the next, by working set, on seven paths",
       .needs = "",
       .quick_s = 4,
       .full_s = 60,
       .run = run_latency,
       .cases = latency_cases},
      {.id = "stride",
       .summary = "ns from a load to the next, by working set and distance",
       .needs = "",
       .quick_s = 2.5,
       .full_s = 45,
       .run = run_stride,
       .cases = stride_cases},
      {.id = "bandwidth",
       .summary = "GB/s of reads, writes and mixes, by working set",
       .needs = "",
       .quick_s = 2.5,
       .full_s = 45,
       .run = run_bandwidth,
       .cases = bandwidth_cases},
      {.id = "atomics",
       .summary = "atomic operations a second, by how lanes share words",
       .needs = "",
       .quick_s = 0.8,
       .full_s = 15,
       .run = run_atomics,
       .cases = atomics_cases},
      {.id = "c2c",
       .summary = "ns for a word to get from one core to another",
       .needs = "",
       .quick_s = 0.7,
       .full_s = 20,
       .run = run_c2c,
       .cases = c2c_cases},
      {.id = "occupancy",
       .summary = "groups in flight, as registers, size and local memory allow",
       .needs = "",
       .quick_s = 0.7,
       .full_s = 15,
       .run = run_occupancy,
       .cases = occupancy_cases},
      {.id = "local",
       .summary = "local memory: GB/s by width and stride, and how groups get it",
       .needs = "",
       .quick_s = 0.8,
       .full_s = 20,
       .run = run_local,
       .cases = local_cases},
      {.id = "icache",
       .summary = "operations a second by the size of the loop's code",
       .needs = "",
       .quick_s = 2.5,
       .full_s = 15,
       .run = run_icache,
       .cases = icache_cases},
      {.id = "lbm",
       .summary = "cells a second of a flow simulation, in three formats",
       .needs = "",
       .quick_s = 1.5,
       .full_s = 12,
       .run = run_lbm,
       .cases = lbm_cases},
      {.id = "md",
       .summary = "pairs of atoms a second, all pairs and neighbour lists",
       .needs = "",
       .quick_s = 1.5,
       .full_s = 12,
       .run = run_md,
       .cases = md_cases},
      {.id = "rays",
       .summary = "rays a second through a city of triangles",
       .needs = "ray queries",
       .quick_s = 1,
       .full_s = 10,
       .run = run_rays,
       .cases = rays_cases},
      {.id = "copy",
       .summary = "GB/s to each kind of memory and back, by the CPU and by each queue",
       .needs = "memory that the CPU sees",
       .quick_s = 1.3,
       .full_s = 15,
       .run = run_copy,
       .cases = copy_cases},
      {.id = "host",
       .summary = "host memory seen by the GPU, submissions, words swapped with the CPU",
       .needs = "memory that the CPU sees",
       .quick_s = 1.2,
       .full_s = 10,
       .run = run_host,
       .cases = host_cases},
      {.id = "fill",
       .summary = "pixels a second, by format, arithmetic and overdraw",
       .needs = "",
       .quick_s = 1.2,
       .full_s = 8,
       .run = run_fill,
       .cases = fill_cases},
      {.id = "texture",
       .summary = "texels a second, in order and at random, by size and filter",
       .needs = "",
       .quick_s = 0.8,
       .full_s = 8,
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
