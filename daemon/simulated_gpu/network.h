// The units as servers: what one request costs and whom it keeps busy. Shared by all passes of a
// period, so that a pass finds the queues as the one before left them.
#pragma once

#include <vector>

#include "daemon/simulated_gpu/busy_recorder.h"
#include "daemon/simulated_gpu/random.h"
#include "daemon/simulated_gpu/workload.h"

namespace gputrace::simulated_gpu {

/// A unit that serves one request at a time; the state is when it will be free.
class Server {
 public:
  /// Work conserving: a request that arrives later leaves no hole, because events are handled in
  /// order of `now_ns` but a request may arrive after it. Returns when it is done.
  double serve(double now_ns, double arrival_ns, double service_ns);
  /// In order: nothing overtakes, holes stay.
  double serve_in_order(double arrival_ns, double service_ns);
  [[nodiscard]] double free_ns() const { return free_ns_; }

 private:
  double free_ns_ = 0;
};

/// What one period did, before a repeated middle is counted.
struct WorkDone {
  double flops = 0;
  double dram_read_bytes = 0;
  double dram_written_bytes = 0;
  double threads = 0;
  double simd_busy_ns = 0;  ///< useful FLOPs at full issue, summed over CUs
  double ta_busy_ns = 0;    ///< summed over CUs
  double cb_busy_ns = 0;
};

/// A request for lines at GL1, of a wave or of the render backends.
struct LineRequest {
  double arrival_ns = 0;
  int lines = 0;
  double gl1_miss = 1;
  double gl2_miss = 1;
  bool write = false;
  double line_bytes = kLineBytes;  ///< taken from GL1 for each line
};

class Network {
 public:
  Network(const GpuDescription& gpu, double clock_ghz, Random random, bool recording);

  /// What DRAM gives this pass depends on its share of reads and on whether pages miss.
  void begin_pass(const Pass& pass);

  [[nodiscard]] double clk(double clocks) const { return clocks / clock_ghz_; }
  [[nodiscard]] double dram_gbps() const { return gpu_.dram_peak_gbps * dram_efficiency_; }
  /// How long L2's buffer of writes takes to drain when full.
  [[nodiscard]] double write_buffer_ns() const { return gpu_.write_buffer_bytes / dram_gbps(); }

  /// When the address is known. L0 is looked up with physical addresses: translation comes first,
  /// also of what L0 holds (UTCL1 in "Vector L1 cache", ROCm Compute Profiler's manual; RDNA's
  /// counters call it UTCL0: TCP_PERF_SEL_UTCL0_*, SQC_PERF_SEL_DCACHE_UTCL0_* in navi10_enum.h).
  double translate(double arrival_ns, double misses);
  /// Through GL1, GL2 and EA; returns when data (or the acknowledgement) is back at the requester.
  double access_lines(const LineRequest& request);
  /// A vector read of `threads` lanes of compute unit `cu`, through TA and L0.
  double vector_read(double arrival_ns, int cu, const VectorMemoryStep& step, int threads);
  /// One line for a whole wave, past TA and L0: only what lies behind them is busy.
  double scalar_read(double arrival_ns, const VectorMemoryStep& step);
  /// Local memory of compute unit `cu`, for so many of its cycles. No bit shows it.
  double local_access(double arrival_ns, int cu, double cycles);

  [[nodiscard]] const GpuDescription& gpu() const { return gpu_; }
  [[nodiscard]] BusyRecorder& busy() { return busy_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] WorkDone& done() { return done_; }

  double now_ns = 0;  ///< of the event in hand
  Server spi;
  Server depth;
  Server export_bus;
  Server colour;
  std::vector<Server> simd;  ///< two a CU
  std::vector<Server> texture_addresser;
  [[nodiscard]] double dram_free_ns() const { return dram_.free_ns(); }

 private:
  double access_dram(double arrival_ns, int lines, bool write, double gl2_arrival_ns);

  GpuDescription gpu_;
  double clock_ghz_;
  Random random_;
  BusyRecorder busy_;
  WorkDone done_;
  double dram_efficiency_ = 1;
  std::vector<Server> l0_fill_;
  std::vector<Server> local_;
  Server gl1_;
  Server gl2_;
  Server dram_;
};

}  // namespace gputrace::simulated_gpu
