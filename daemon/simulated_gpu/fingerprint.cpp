#include "daemon/simulated_gpu/fingerprint.h"

#include <bit>

#include "daemon/simulated_gpu/random.h"

namespace gputrace::simulated_gpu {

namespace {

// The structured bindings below name every member: one that is added does not compile until it is
// part of the fingerprint.
class Hash {
 public:
  template <class... Numbers>
  void add(Numbers... numbers) {
    (add_one(static_cast<double>(numbers)), ...);
  }
  void add_word(std::uint64_t word) { state_ = mix64(state_ ^ word); }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  void add_one(double number) { add_word(std::bit_cast<std::uint64_t>(number)); }
  std::uint64_t state_ = 0;
};

void add(Hash& hash, const GpuDescription& gpu) {
  const auto& [cus, engines, max_clock, min_clock, flops, dram_peak, dram_pure, dram_turnaround,
               dram_random, dram_latency, dram_tail, acknowledge, write_buffer, l0_fill, l0_lines,
               gl1_width, gl2_width, l0_size, gl1_size, gl2_size, l0_latency, gl1_latency,
               gl2_latency, scalar_size, scalar_latency, filter, local_size, local_granule,
               local_width, local_atomics, local_latency, code_size, code_fetch, spi,
               spi_interpolated, primitives, raster, depth, rop, exports, waves, tlb1, tlb2, walk,
               hold, spread, base_w, dram_w, gbps_w, dynamic_w, floor, knee, slope] = gpu;
  hash.add(cus, engines, max_clock, min_clock, flops, dram_peak, dram_pure, dram_turnaround,
           dram_random, dram_latency, dram_tail, acknowledge, write_buffer, l0_fill, l0_lines,
           gl1_width, gl2_width, l0_size, gl1_size, gl2_size, l0_latency, gl1_latency, gl2_latency);
  hash.add(scalar_size, scalar_latency, filter, local_size, local_granule, local_width,
           local_atomics, local_latency);
  hash.add(code_size, code_fetch, spi, spi_interpolated, primitives, raster, depth, rop, exports,
           waves, tlb1, tlb2, walk, hold, spread, base_w, dram_w, gbps_w, dynamic_w, floor, knee,
           slope);
}

void add(Hash& hash, const VectorMemoryStep& step) {
  const auto& [lines, sectors, cycles, l0, gl1, gl2, random, tlb, path, filter] = step;
  hash.add(lines, sectors, cycles, l0, gl1, gl2, random, tlb, static_cast<int>(path), filter);
}

void add(Hash& hash, const Pass& pass) {
  const auto& [pixel, threads, group, steps, read, store, store_gl2, local, group_local, flops,
               issue, code, waves, groups, command, triangles, draws, vertex, colour_write,
               colour_read, depth, colour_share, depth_share, interpolants] = pass;
  add(hash, read);
  hash.add(pixel, threads, group, steps, store, store_gl2, local, group_local, flops, issue, code,
           waves, groups, command, triangles, draws, vertex, colour_write, colour_read, depth,
           colour_share, depth_share, interpolants);
}

}  // namespace

std::uint64_t fingerprint(const GpuDescription& gpu, const Workload& workload,
                          const SignalOptions& options) {
  Hash hash;
  hash.add_word(kModelVersion);
  add(hash, gpu);
  const auto& [name, passes, gap, cpu_ms, cpu_w, cap, spread, max_steps] = workload;
  hash.add(gap, cpu_ms, cpu_w, cap, spread, max_steps, passes.size());
  for (const Pass& pass : passes) {
    add(hash, pass);
  }
  const auto& [limit, seed, variants] = options;
  hash.add(limit, variants);
  hash.add_word(seed);
  return hash.value();
}

}  // namespace gputrace::simulated_gpu
