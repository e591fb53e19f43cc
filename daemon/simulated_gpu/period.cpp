#include "daemon/simulated_gpu/period.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/simulated_gpu/pass_run.h"

namespace gputrace::simulated_gpu {

namespace {

// A longer dispatch is cut: head and tail are kept and the middle is repeated.
constexpr double kMaxGroups = 8000;
constexpr double kMaxGroupsManySteps = 40;
constexpr int kManySteps = 8;
constexpr double kBodyBegin = 0.2;
constexpr double kBodyEnd = 0.8;
constexpr double kMaxPeriodNs = 4e9;  // times in a tape have 32 bits

/// What is left out of a single long pass.
struct Cut {
  double work_factor = 1;  ///< whole work / work that is run
  double begin_ns = 0;     ///< of the body
  double end_ns = 0;
  double body_share = 0;  ///< of the run work that ends inside the body
  std::uint32_t repeats = 0;
};

double group_limit(const Workload& workload, const Pass& pass, bool recording) {
  double groups = kMaxGroups * (recording ? 1 : 0.5);  // the clock solver needs less
  if (workload.passes.size() == 1 && !pass.pixel && pass.steps > kManySteps) {
    groups = std::min(groups, kMaxGroupsManySteps);
  }
  return groups;
}

void shorten(Pass& pass, const Workload& workload, bool recording, Cut& cut) {
  const double limit = group_limit(workload, pass, recording) * pass.group_threads;
  if (workload.passes.size() != 1 || pass.threads <= limit) {
    return;
  }
  cut.work_factor = pass.threads / limit;
  pass.threads = limit;
  pass.triangles /= cut.work_factor;
  pass.draws = std::max(1.0, pass.draws / cut.work_factor);
}

Status place_body(Cut& cut, double begin_ns, double end_ns,
                  const std::vector<FinishedWave>& finished) {
  cut.begin_ns = begin_ns + kBodyBegin * (end_ns - begin_ns);
  cut.end_ns = begin_ns + kBodyEnd * (end_ns - begin_ns);
  double inside = 0;
  double all = 0;
  for (const FinishedWave& wave : finished) {
    all += wave.threads;
    if (wave.time_ns >= cut.begin_ns && wave.time_ns < cut.end_ns) {
      inside += wave.threads;
    }
  }
  cut.body_share = inside / all;
  constexpr double kMinShare = 0.05;
  if (cut.body_share < kMinShare) {
    return fail(ErrorCode::kInvalidArgument,
                "the waves end too unevenly for the middle of the dispatch to be repeated");
  }
  cut.repeats = static_cast<std::uint32_t>(std::llround((cut.work_factor - 1) / cut.body_share));
  return {};
}

void scale(WorkDone& work, double factor) {
  for (double* amount : {&work.flops, &work.dram_read_bytes, &work.dram_written_bytes,
                         &work.threads, &work.simd_busy_ns, &work.ta_busy_ns, &work.cb_busy_ns}) {
    *amount *= factor;
  }
}

}  // namespace

Result<Period> run_period(const GpuDescription& gpu, const Workload& workload,
                          const PeriodOptions& options) {
  Network network(gpu, options.clock_ghz, Random(options.seed), options.record_tape);
  const double weight = 1 + workload.weight_spread * (2 * options.weight - 1);
  const double lead_ns = workload.gap_us * 1000;
  Cut cut;
  double time_ns = lead_ns;
  for (Pass pass : workload.passes) {
    pass.threads *= weight;
    pass.triangles *= weight;
    shorten(pass, workload, options.record_tape, cut);
    std::vector<FinishedWave> finished;
    const double begin_ns = time_ns;
    time_ns = PassRun(network, pass, begin_ns, finished).run();
    if (cut.work_factor > 1) {
      if (auto placed = place_body(cut, begin_ns, time_ns, finished); !placed) {
        return tl::unexpected(placed.error());
      }
    }
  }
  double recorded_ns = std::max(time_ns, options.cpu_ms * 1e6);
  if (workload.frame_cap_fps > 0) {
    recorded_ns = std::max(recorded_ns, 1e9 / workload.frame_cap_fps);
  }
  if (!(recorded_ns < kMaxPeriodNs)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("one period takes {:.1f} s; at most {:.0f} s can be simulated",
                            recorded_ns * 1e-9, kMaxPeriodNs * 1e-9));
  }
  const double repeated_ns = (cut.end_ns - cut.begin_ns) * cut.repeats;
  Period period;
  period.length_ns = recorded_ns + repeated_ns;
  period.gpu_ns = time_ns - lead_ns + repeated_ns;
  period.work = network.done();
  scale(period.work, 1 + cut.repeats * cut.body_share);
  if (options.record_tape) {
    period.tape = Tape::from_recording(network.busy(),
                                       {.length_ns = static_cast<std::uint32_t>(recorded_ns) + 1,
                                        .body_begin_ns = static_cast<std::uint32_t>(cut.begin_ns),
                                        .body_end_ns = static_cast<std::uint32_t>(cut.end_ns),
                                        .repeats = cut.repeats});
  }
  return period;
}

double count_wave_steps(const Workload& workload) {
  double steps = 0;
  for (const Pass& pass : workload.passes) {
    double groups = pass.threads / pass.group_threads;
    if (workload.passes.size() == 1) {
      groups = std::min(groups, group_limit(workload, pass, true));
    }
    const double waves = std::max(1.0, groups) * std::max(1.0, pass.group_threads / 64.0);
    const double vertex_groups = pass.triangles * 0.6 / 256 + pass.draws;
    steps += waves * (2.0 * pass.steps + 1) + vertex_groups;
  }
  return steps;
}

}  // namespace gputrace::simulated_gpu
