// Runs one pass through the network, wave by wave.
#pragma once

#include <queue>
#include <vector>

#include "daemon/simulated_gpu/graphics_front_end.h"
#include "daemon/simulated_gpu/network.h"

namespace gputrace::simulated_gpu {

/// A wave has done a step of its pass; the last step ends with what the wave writes.
struct FinishedStep {
  double time_ns = 0;
  double threads = 0;  ///< the step's share of the wave's
};

class PassRun {
 public:
  /// `finished` receives the progress of the waves, in no order.
  PassRun(Network& network, const Pass& pass, double begin_ns, std::vector<FinishedStep>& finished);

  /// Returns when the pass's last write has left L2 and its fence is signalled.
  double run();

 private:
  /// A wave at its next step: even steps read memory, odd ones compute, the last one ends it.
  struct WaveEvent {
    double time_ns = 0;
    int wave = 0;
    int step = 0;
    int cu = 0;
    double launch_ns = 0;
    bool operator<(const WaveEvent& other) const { return time_ns > other.time_ns; }
  };

  void launch_groups(double now_ns);
  void launch_group(double now_ns, int cu);
  [[nodiscard]] int free_compute_unit() const;
  void hold_quads(double launch_ns);
  double advance(const WaveEvent& event);
  double read(const WaveEvent& event);
  void finish(const WaveEvent& event);
  double store(const WaveEvent& event);
  double export_pixels(const WaveEvent& event);
  double finish_pass();

  Network& network_;
  const Pass& pass_;
  std::vector<FinishedStep>& finished_;
  double begin_ns_;
  double start_ns_;  ///< of the first group or draw
  double end_ns_;

  int wave_threads_;
  int waves_per_group_;
  int groups_;
  int groups_per_cu_;
  int max_groups_in_flight_;
  double flops_per_clk_cu_;
  double simd_ns_;  ///< a wave's SIMD time of one step

  FrontEndResult front_end_;  ///< of a pixel pass
  std::vector<double> launched_ns_;

  std::priority_queue<WaveEvent> events_;
  std::vector<int> groups_on_cu_;
  std::vector<int> waves_left_;  ///< of each group
  int groups_launched_ = 0;
  int groups_in_flight_ = 0;
  int next_cu_ = 0;
};

}  // namespace gputrace::simulated_gpu
