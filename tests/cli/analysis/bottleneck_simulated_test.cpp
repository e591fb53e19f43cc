// Classes of work on the simulated GPU, where the limit is known because the model was told to do
// the work and no busy bit was set for it. The whole table: bottleneck_long_test.cpp.
#include <doctest/doctest.h>

#include "tests/cli/analysis/simulated_work.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using simulated_gpu::GpuDescription;
using simulated_gpu::Workload;

/// Sizes that a test without optimisation affords.
SimulatedWork small(Workload workload, int group_threads, double dram_latency_ns = 310) {
  SimulatedWork work{.name = workload.name, .workload = std::move(workload), .gpu = {}};
  work.gpu.compute_units = 4;
  work.gpu.dram_peak_gbps /= 3;  // as much a CU as with 12
  work.gpu.dram_latency_ns = dram_latency_ns;
  work.workload.max_wave_steps = 3000;
  for (auto& pass : work.workload.passes) {
    if (!pass.pixel) {
      pass.group_threads = group_threads;
    }
  }
  return work;
}

Workload chase(int chains, double dram_latency_ns) {
  GpuDescription gpu;
  gpu.dram_latency_ns = dram_latency_ns;
  Workload workload = simulated_gpu::pointer_chase(gpu, chains, 64);
  workload.passes.front().steps = 1000;
  return workload;
}

analysis::Verdict with_bytes(SimulatedSample made) {
  made.stretch.witness = dram_bytes(made.dram_gbps, 73.0 / 3);
  return made.stretch.classify();
}

}  // namespace

TEST_CASE("streams are memory, with bytes bandwidth, and never latency") {
  for (const int threads : {64, 192, 1024}) {
    CAPTURE(threads);
    const SimulatedSample made =
        sample(small(simulated_gpu::flop_sweep(1), threads, threads == 192 ? 450 : 200), 4, 3);
    CHECK(made.stretch.classify().bottleneck == Bottleneck::kMemory);
    const auto verdict = with_bytes(made);
    CHECK(verdict.bottleneck == Bottleneck::kBandwidth);
    CHECK(verdict.confidence >= 0.9);
  }
}

TEST_CASE("a pointer chase is memory, with bytes latency, and never bandwidth") {
  for (const int chains : {1, 2, 8}) {
    CAPTURE(chains);
    const SimulatedSample made =
        sample(small(chase(chains, 310), 64, chains == 2 ? 450 : 310), 4, 3);
    CHECK(made.stretch.classify().bottleneck == Bottleneck::kMemory);
    const auto verdict = with_bytes(made);
    CHECK(verdict.bottleneck == Bottleneck::kLatency);
  }
}

TEST_CASE("arithmetic is compute for every size of work groups") {
  for (const int threads : {128, 256, 1024}) {
    CAPTURE(threads);
    const SimulatedSample made = sample(small(simulated_gpu::flop_sweep(512), threads), 4, 3);
    CHECK(made.stretch.classify().bottleneck == Bottleneck::kCompute);
    CHECK(with_bytes(made).bottleneck == Bottleneck::kCompute);
  }
}

TEST_CASE("near the ridge, where the bits show memory full, nothing is sure") {
  const SimulatedSample made = sample(small(simulated_gpu::flop_sweep(128), 64), 4, 3);
  CHECK(made.stretch.classify().confidence < 0.9);
  CHECK(with_bytes(made).confidence < 0.7);
}

TEST_CASE("fetches that hit are texture") {
  const GpuDescription gpu;
  const SimulatedSample made = sample(small(simulated_gpu::random_texture(gpu, 64, 16), 256), 4, 3);
  CHECK(made.stretch.classify().bottleneck == Bottleneck::kTexture);
  CHECK(with_bytes(made).bottleneck == Bottleneck::kTexture);
}

}  // namespace gputrace::test
