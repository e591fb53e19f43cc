#include "daemon/simulated_gpu/pass_run.h"

#include <algorithm>
#include <cmath>

namespace gputrace::simulated_gpu {

namespace {

constexpr int kRasterAheadGroups = 96;    // [A] bundles that wait between rasteriser and launch
constexpr double kEarlyDepthNs = 20;      // [A]
constexpr double kDepthHoldNs = 60;       // [A]
constexpr double kStorePipelineNs = 300;  // [A] a wave may end this long before its acknowledgement
constexpr double kEndOfPipeNs = 500;      // [A] from the last write to the fence

double issue_rate(const GpuDescription& gpu, const Pass& pass) {
  const double rate = gpu.dual_issue_flops_per_clk_cu * pass.issue_share;
  if (pass.code_kib <= gpu.instruction_cache_kib) {
    return rate;
  }
  // Code that does not fit is fetched again in every round: a dual-issue FMA of a wave64 (128
  // FLOPs) takes 8 bytes.
  return std::min(rate, gpu.instruction_fetch_bytes_per_clk_cu / 8 * 128);
}

/// What registers, slots and local memory leave room for.
int groups_on_a_cu(const GpuDescription& gpu, const Pass& pass, int waves_per_group) {
  const int by_slots = 2 * std::min(pass.waves_per_simd, gpu.waves_per_simd) / waves_per_group;
  if (!(pass.group_local_bytes > 0)) {
    return std::max(1, by_slots);
  }
  const double taken =
      std::ceil(pass.group_local_bytes / gpu.local_granule_bytes) * gpu.local_granule_bytes;
  const int by_local = static_cast<int>(gpu.local_kib * 1024 / taken);
  return std::max(1, std::min(by_slots, by_local));
}

}  // namespace

PassRun::PassRun(Network& network, const Pass& pass, double begin_ns,
                 std::vector<FinishedStep>& finished)
    : network_(network),
      pass_(pass),
      finished_(finished),
      begin_ns_(begin_ns),
      start_ns_(begin_ns + pass.command_us * 1000 * 0.5),
      end_ns_(start_ns_),
      wave_threads_(std::min(pass.group_threads, kWaveThreads)),
      waves_per_group_(pass.group_threads / wave_threads_),
      groups_(std::max(1, static_cast<int>(std::lround(pass.threads / pass.group_threads)))),
      groups_per_cu_(groups_on_a_cu(network.gpu(), pass, waves_per_group_)),
      max_groups_in_flight_(pass.max_groups > 0 ? pass.max_groups
                                                : groups_per_cu_ * network.gpu().compute_units),
      flops_per_clk_cu_(issue_rate(network.gpu(), pass)),
      simd_ns_(network.clk(pass.flops / pass.steps * wave_threads_ / (flops_per_clk_cu_ / 2))),
      groups_on_cu_(static_cast<std::size_t>(network.gpu().compute_units)),
      waves_left_(static_cast<std::size_t>(groups_), waves_per_group_) {}

double PassRun::run() {
  network_.begin_pass(pass_);
  network_.now_ns = start_ns_;
  if (pass_.pixel) {
    front_end_ = run_front_end(network_, pass_, start_ns_, groups_, flops_per_clk_cu_);
    launched_ns_.resize(static_cast<std::size_t>(groups_));
  } else {
    front_end_.commands_done_ns = begin_ns_;
    front_end_.primitives_done_ns = start_ns_;
  }
  launch_groups(start_ns_);
  while (!events_.empty()) {
    WaveEvent event = events_.top();
    events_.pop();
    network_.now_ns = event.time_ns;
    if (event.step >= 2 * pass_.steps) {
      finish(event);
      continue;
    }
    event.time_ns = advance(event);
    ++event.step;
    if (event.step % 2 == 0 && event.step < 2 * pass_.steps) {
      finished_.push_back({event.time_ns, static_cast<double>(wave_threads_) / pass_.steps});
    }
    events_.push(event);
  }
  return finish_pass();
}

int PassRun::free_compute_unit() const {
  const int cus = network_.gpu().compute_units;
  int best = -1;
  for (int k = 0; k < cus; ++k) {
    const int cu = (next_cu_ + k) % cus;
    const int groups = groups_on_cu_[static_cast<std::size_t>(cu)];
    if (groups < groups_per_cu_ &&
        (best < 0 || groups < groups_on_cu_[static_cast<std::size_t>(best)])) {
      best = cu;
    }
  }
  return best;
}

void PassRun::launch_groups(double now_ns) {
  while (groups_launched_ < groups_ && groups_in_flight_ < max_groups_in_flight_) {
    const int cu = free_compute_unit();
    if (cu < 0) {
      return;
    }
    next_cu_ = cu + 1;
    launch_group(now_ns, cu);
  }
}

void PassRun::launch_group(double now_ns, int cu) {
  const GpuDescription& gpu = network_.gpu();
  const double clk_per_wave =
      pass_.pixel && pass_.interpolants ? gpu.spi_clk_per_wave_interpolated : gpu.spi_clk_per_wave;
  double ready_ns = now_ns;
  if (pass_.pixel) {
    ready_ns = std::max(now_ns, front_end_.rastered_ns[static_cast<std::size_t>(groups_launched_)]);
  }
  const double launch_ns = network_.spi.serve_in_order(
      std::max(ready_ns, start_ns_), network_.clk(waves_per_group_ * clk_per_wave));
  network_.busy().add(Unit::kSpi, std::max(now_ns, std::min(ready_ns, launch_ns)), launch_ns);
  if (pass_.pixel) {
    hold_quads(launch_ns);
  }
  ++groups_on_cu_[static_cast<std::size_t>(cu)];
  ++groups_in_flight_;
  for (int k = 0; k < waves_per_group_; ++k) {
    const double after = (waves_per_group_ - 1 - k) * gpu.spi_clk_per_wave;
    events_.push({.time_ns = launch_ns - network_.clk(after),
                  .wave = groups_launched_ * waves_per_group_ + k,
                  .step = 0,
                  .cu = cu,
                  .launch_ns = launch_ns});
  }
  ++groups_launched_;
}

void PassRun::hold_quads(double launch_ns) {
  // Rasteriser and early depth hold a bundle from when it was made until it is launched; only so
  // many fit between them.
  const auto group = static_cast<std::size_t>(groups_launched_);
  const GpuDescription& gpu = network_.gpu();
  double made_ns =
      front_end_.rastered_ns[group] - network_.clk(pass_.group_threads / gpu.raster_pixels_per_clk);
  if (groups_launched_ >= kRasterAheadGroups) {
    made_ns = std::max(made_ns, launched_ns_[group - kRasterAheadGroups]);
  }
  made_ns = std::min(made_ns, launch_ns);
  launched_ns_[group] = launch_ns;
  network_.busy().add(Unit::kSc, made_ns, launch_ns);
  network_.busy().add(
      Unit::kBci, launch_ns - network_.clk(waves_per_group_ * gpu.spi_clk_per_wave_interpolated),
      launch_ns);
  const int lines =
      network_.random().round_to_mean(pass_.depth_bytes * pass_.group_threads / kLineBytes);
  double tested_ns = made_ns + kDepthHoldNs;
  if (lines > 0) {
    tested_ns = network_.access_lines({.arrival_ns = made_ns + kEarlyDepthNs,
                                       .lines = lines,
                                       .gl2_miss = pass_.depth_dram_share});
    network_.busy().add(Unit::kRmi, made_ns + kEarlyDepthNs, tested_ns);
  }
  network_.busy().add(Unit::kDb, made_ns, std::max(tested_ns, launch_ns));
}

double PassRun::advance(const WaveEvent& event) {
  if (event.step % 2 == 0) {
    return read(event);
  }
  if (simd_ns_ <= 0) {
    return event.time_ns;
  }
  const GpuDescription& gpu = network_.gpu();
  const float cost =
      pass_.pixel ? front_end_.cost[static_cast<std::size_t>(event.wave / waves_per_group_)] : 1.F;
  constexpr double kSqrt3 = 1.732;  // a uniform spread of +-sqrt(3) sd
  const double service_ns =
      simd_ns_ * cost * (1 + gpu.simd_time_spread * kSqrt3 * (2 * network_.random().uniform() - 1));
  network_.done().simd_busy_ns +=
      service_ns / 2 * flops_per_clk_cu_ / (gpu.dual_issue_flops_per_clk_cu * pass_.issue_share);
  const auto simd = 2 * static_cast<std::size_t>(event.cu) + (event.wave % 2 == 0 ? 0 : 1);
  return network_.simd[simd].serve(network_.now_ns, event.time_ns, service_ns);
}

double PassRun::read(const WaveEvent& event) {
  double done_ns = event.time_ns;
  if (pass_.read.lines > 0) {
    done_ns = pass_.read.path == ReadPath::kScalar
                  ? network_.scalar_read(done_ns, pass_.read)
                  : network_.vector_read(done_ns, event.cu, pass_.read, wave_threads_);
  }
  if (pass_.local_cycles > 0) {
    done_ns = network_.local_access(done_ns, event.cu, pass_.local_cycles * wave_threads_);
  }
  return done_ns;
}

void PassRun::finish(const WaveEvent& event) {
  double done_ns = event.time_ns;
  if (pass_.store_bytes > 0) {
    done_ns = store(event);
  }
  if (pass_.pixel) {
    if (pass_.colour_write_bytes > 0) {
      done_ns = export_pixels(event);
    } else {
      constexpr double kDepthOnlyNs = 30;  // [A]
      network_.busy().add(Unit::kDb, event.launch_ns, event.time_ns + kDepthOnlyNs);
    }
  }
  network_.busy().add(Unit::kSpi, event.launch_ns, done_ns);
  end_ns_ = std::max(end_ns_, done_ns);
  WorkDone& done = network_.done();
  done.threads += wave_threads_;
  done.flops += pass_.flops * wave_threads_;
  finished_.push_back({done_ns, static_cast<double>(wave_threads_) / pass_.steps});
  // The waves of a group give their slot back together.
  if (--waves_left_[static_cast<std::size_t>(event.wave / waves_per_group_)] == 0) {
    --groups_on_cu_[static_cast<std::size_t>(event.cu)];
    --groups_in_flight_;
    launch_groups(done_ns);
  }
}

double PassRun::store(const WaveEvent& event) {
  const double bytes = pass_.store_bytes * wave_threads_;
  const double service_ns = network_.clk(bytes / kSectorBytes);
  network_.done().ta_busy_ns += service_ns;
  const double sent_ns =
      network_.translate(network_.texture_addresser[static_cast<std::size_t>(event.cu)].serve(
                             network_.now_ns, event.time_ns, service_ns),
                         pass_.read.tlb_misses * wave_threads_);
  const int lines = network_.random().round_to_mean(bytes / kLineBytes);
  const double accepted_ns = network_.access_lines({.arrival_ns = sent_ns,
                                                    .lines = std::max(1, lines),
                                                    .gl2_miss = pass_.store_gl2_miss,
                                                    .write = true});
  // A store holds TA and L0 until L2 accepts it: in the published table TA equals TCP in all rows.
  network_.busy().add(Unit::kTa, event.time_ns, accepted_ns + network_.clk(4));
  network_.busy().add(Unit::kTcp, event.time_ns, accepted_ns);
  network_.busy().add(Unit::kUtcl1, event.time_ns, accepted_ns);
  return std::max(sent_ns, accepted_ns - kStorePipelineNs);
}

double PassRun::export_pixels(const WaveEvent& event) {
  const GpuDescription& gpu = network_.gpu();
  const double exported_ns = network_.export_bus.serve(
      network_.now_ns, event.time_ns, network_.clk(wave_threads_ / gpu.export_pixels_per_clk));
  network_.busy().add(Unit::kSx, event.time_ns, exported_ns + network_.clk(8));
  const double blend_factor = pass_.colour_read_bytes > 0 ? 2 : 1;
  const double service_ns = network_.clk(wave_threads_ / gpu.rop_pixels_per_clk * blend_factor);
  network_.done().cb_busy_ns += service_ns;
  const double coloured_ns = network_.colour.serve(network_.now_ns, exported_ns, service_ns);
  network_.busy().add(Unit::kDb, event.launch_ns, exported_ns);
  const int reads =
      network_.random().round_to_mean(pass_.colour_read_bytes * wave_threads_ / kLineBytes);
  const int writes =
      network_.random().round_to_mean(pass_.colour_write_bytes * wave_threads_ / kLineBytes);
  double blended_ns = coloured_ns;
  if (reads > 0) {
    blended_ns = network_.access_lines(
        {.arrival_ns = coloured_ns, .lines = reads, .gl2_miss = pass_.colour_dram_share});
    network_.busy().add(Unit::kRmi, coloured_ns, blended_ns);
  }
  double accepted_ns = blended_ns;
  if (writes > 0) {
    accepted_ns = network_.access_lines({.arrival_ns = blended_ns,
                                         .lines = writes,
                                         .gl2_miss = pass_.colour_dram_share,
                                         .write = true});
    network_.busy().add(Unit::kRmi, blended_ns, accepted_ns);
  }
  network_.busy().add(Unit::kCb, exported_ns, accepted_ns);
  return std::max(coloured_ns, accepted_ns - network_.write_buffer_ns());
}

double PassRun::finish_pass() {
  const double end_ns =
      std::max({end_ns_, front_end_.primitives_done_ns, front_end_.commands_done_ns,
                network_.dram_free_ns() + network_.gpu().write_acknowledge_ns}) +
      kEndOfPipeNs;
  BusyRecorder& busy = network_.busy();
  busy.add(Unit::kCpf, begin_ns_, end_ns);
  busy.add(Unit::kCp, begin_ns_, end_ns);
  if (pass_.pixel) {
    busy.add(Unit::kCpg, begin_ns_, end_ns);
    constexpr double kPrimitiveHubNs = 20;  // [A]
    busy.add(Unit::kPh, start_ns_, front_end_.primitives_done_ns + kPrimitiveHubNs);
  } else {
    busy.add(Unit::kCpc, begin_ns_, end_ns);
  }
  return end_ns;
}

}  // namespace gputrace::simulated_gpu
