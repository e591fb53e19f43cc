#include "daemon/simulated_gpu/network.h"

#include <algorithm>

namespace gputrace::simulated_gpu {

double Server::serve(double now_ns, double arrival_ns, double service_ns) {
  free_ns_ = std::max(free_ns_, now_ns) + service_ns;
  return std::max(free_ns_, arrival_ns + service_ns);
}

double Server::serve_in_order(double arrival_ns, double service_ns) {
  free_ns_ = std::max(free_ns_, arrival_ns) + service_ns;
  return free_ns_;
}

Network::Network(const GpuDescription& gpu, double clock_ghz, Random random, bool recording)
    : simd(2 * static_cast<std::size_t>(gpu.compute_units)),
      texture_addresser(static_cast<std::size_t>(gpu.compute_units)),
      gpu_(gpu),
      clock_ghz_(clock_ghz),
      random_(random),
      busy_(gpu.busy_hold_clk / clock_ghz, recording),
      l0_fill_(static_cast<std::size_t>(gpu.compute_units)),
      local_(static_cast<std::size_t>(gpu.compute_units)) {}

void Network::begin_pass(const Pass& pass) {
  const VectorMemoryStep& step = pass.read;
  const double depth_bytes = pass.depth_bytes * pass.depth_dram_share / 2;
  const double read =
      step.lines * step.l0_miss * step.gl1_miss * step.gl2_miss * kLineBytes * pass.steps +
      pass.colour_read_bytes * pass.colour_dram_share + depth_bytes;
  const double written = pass.store_bytes * pass.store_gl2_miss +
                         pass.colour_write_bytes * pass.colour_dram_share + depth_bytes;
  const double share = read + written > 0 ? read / (read + written) : 1;
  // Changing between reads and writes costs the bus most at an even mix.
  dram_efficiency_ = gpu_.dram_pure_efficiency - gpu_.dram_turnaround * share * (1 - share);
  constexpr double kRandomTlbMisses = 0.01;  // a thread; streams stay far below it
  if (step.tlb_misses > kRandomTlbMisses) {
    dram_efficiency_ *= gpu_.dram_random_efficiency;
  }
}

double Network::access_dram(double arrival_ns, int lines, bool write, double gl2_arrival_ns) {
  const double bytes = lines * kLineBytes;
  const double transferred = dram_.serve(now_ns, arrival_ns, bytes / dram_gbps());
  if (write) {
    // L2 takes the data over, and waits only when its buffer is full; EA owns it until DRAM has it.
    done_.dram_written_bytes += bytes;
    const double accepted =
        std::max(arrival_ns, transferred - write_buffer_ns()) + gpu_.write_acknowledge_ns;
    busy_.add(Unit::kEa, arrival_ns, transferred + gpu_.write_acknowledge_ns);
    busy_.add(Unit::kGl2, gl2_arrival_ns, accepted);
    return accepted;
  }
  done_.dram_read_bytes += bytes;
  const double returned = transferred + gpu_.dram_latency_ns - gpu_.dram_latency_tail_ns +
                          random_.exponential(gpu_.dram_latency_tail_ns);
  busy_.add(Unit::kEa, arrival_ns, returned);
  const double at_gl2 = returned + clk(gpu_.gl2_latency_clk) / 2;
  busy_.add(Unit::kGl2, gl2_arrival_ns, at_gl2);
  return at_gl2;
}

double Network::access_lines(const LineRequest& request) {
  double at_gl2 = gl1_.serve(now_ns, request.arrival_ns,
                             clk(request.lines * request.line_bytes / gpu_.gl1_bytes_per_clk)) +
                  clk(gpu_.gl1_latency_clk) / 2;
  const int gl1_misses = random_.round_to_mean(request.lines * request.gl1_miss);
  double returned = at_gl2;
  if (gl1_misses > 0) {
    const double at_dram =
        gl2_.serve(now_ns, at_gl2, clk(gl1_misses * kLineBytes / gpu_.gl2_bytes_per_clk)) +
        clk(gpu_.gl2_latency_clk) / 2;
    const int gl2_misses = random_.round_to_mean(gl1_misses * request.gl2_miss);
    if (gl2_misses > 0) {
      returned = access_dram(at_dram, gl2_misses, request.write, at_gl2);
    } else {
      returned = at_dram + clk(gpu_.gl2_latency_clk) / 2;
      busy_.add(Unit::kGl2, at_gl2, returned);
    }
    // A write that L2 does not take yet waits in the crossbar, as it does in all units before it.
    busy_.add(Unit::kCh, at_gl2, request.write ? returned : at_dram);
  }
  returned += clk(gpu_.gl1_latency_clk) / 2;
  busy_.add(Unit::kGl1, request.arrival_ns, returned);
  return returned;
}

double Network::translate(double arrival_ns, double misses) {
  if (random_.round_to_mean(misses) == 0) {
    return arrival_ns;
  }
  const double walk_ns = random_.uniform() < 0.5 ? gpu_.page_walk_ns : 0;
  busy_.add(Unit::kUtcl2, arrival_ns, arrival_ns + gpu_.tlb2_ns + walk_ns);
  return arrival_ns + gpu_.tlb2_ns;
}

double Network::vector_read(double arrival_ns, int cu, const VectorMemoryStep& step, int threads) {
  const auto unit = static_cast<std::size_t>(cu);
  const double lines = step.lines * threads;
  const double service_ns =
      clk(std::max(step.address_cycles * threads, lines / gpu_.l0_lines_per_clk_cu));
  done_.ta_busy_ns += service_ns;
  const double looked_up = translate(texture_addresser[unit].serve(now_ns, arrival_ns, service_ns),
                                     step.tlb_misses * threads);
  double returned = looked_up + clk(gpu_.l0_latency_clk);
  // Neighbours miss together: without clumps the waves of a frame march in step.
  const double clump = step.l0_miss < 0.5 && !step.random ? random_.exponential(1) : 1;
  const int l0_misses =
      std::min(static_cast<int>(lines + 1), random_.round_to_mean(lines * step.l0_miss * clump));
  constexpr double kTranslationClk = 20;  // [A] a hit of the first level
  busy_.add(Unit::kUtcl1, arrival_ns, looked_up + clk(kTranslationClk));
  if (l0_misses > 0) {
    const double filled = l0_fill_[unit].serve(
        now_ns, looked_up,
        clk(step.sectors * threads * step.l0_miss * kSectorBytes / gpu_.l0_fill_bytes_per_clk_cu));
    const double below = access_lines(
        {.arrival_ns = looked_up,
         .lines = l0_misses,
         .gl1_miss = step.gl1_miss,
         .gl2_miss = step.gl2_miss,
         .line_bytes = std::min(kLineBytes, step.sectors / step.lines * kSectorBytes)});
    returned = std::max(filled, below) + clk(gpu_.l0_latency_clk);
    busy_.add(Unit::kUtcl1, looked_up, below);
  }
  returned += clk(step.filter_clk);
  busy_.add(Unit::kTa, arrival_ns, returned);
  // L0 sits inside TA's interval: TA hands over the address and formats the data [A].
  busy_.add(Unit::kTcp, arrival_ns + clk(8), returned - clk(4));
  return returned;
}

double Network::scalar_read(double arrival_ns, const VectorMemoryStep& step) {
  const double looked_up = translate(arrival_ns, step.tlb_misses) + clk(gpu_.scalar_latency_clk);
  if (random_.round_to_mean(step.l0_miss) == 0) {
    return looked_up;
  }
  return access_lines({.arrival_ns = looked_up,
                       .lines = 1,
                       .gl1_miss = step.gl1_miss,
                       .gl2_miss = step.gl2_miss,
                       .line_bytes = kSectorBytes});
}

double Network::local_access(double arrival_ns, int cu, double cycles) {
  return local_[static_cast<std::size_t>(cu)].serve(now_ns, arrival_ns, clk(cycles)) +
         clk(gpu_.local_latency_clk);
}

}  // namespace gputrace::simulated_gpu
