#include "daemon/simulated_gpu/period.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
  double repeats = 0;     ///< a whole number in what is recorded
};

double group_limit(const Workload& workload, const Pass& pass, bool recording) {
  double groups = kMaxGroups * (recording ? 1 : 0.5);  // the clock solver needs less
  if (workload.passes.size() == 1 && !pass.pixel && pass.steps > kManySteps) {
    groups = std::min(groups, kMaxGroupsManySteps);
  }
  return groups;
}

/// Leaves out steps first, as far as enough groups to keep the GPU full for a while allow.
void shorten_to_steps(Pass& pass, const GpuDescription& gpu, double max_wave_steps, Cut& cut) {
  constexpr double kFillings = 6;
  const double waves_per_group = std::max(1, pass.group_threads / kWaveThreads);
  const double groups = std::max(1.0, std::round(pass.threads / pass.group_threads));
  double fit =
      gpu.compute_units * std::max(1.0, std::floor(2 * pass.waves_per_simd / waves_per_group));
  if (pass.max_groups > 0) {
    fit = std::min(fit, static_cast<double>(pass.max_groups));
  }
  const double least_groups = std::min(groups, kFillings * fit);
  int steps = pass.steps;
  if (!pass.pixel) {
    steps = static_cast<int>(std::clamp(max_wave_steps / (least_groups * waves_per_group), 1.0,
                                        static_cast<double>(steps)));
  }
  const double kept_groups = std::min(
      groups, std::max(least_groups, std::round(max_wave_steps / (waves_per_group * steps))));
  const double thread_share = kept_groups / groups;
  const double step_share = static_cast<double>(steps) / pass.steps;
  cut.work_factor = 1 / (thread_share * step_share);
  pass.threads = kept_groups * pass.group_threads;
  pass.triangles *= thread_share;
  pass.draws = std::max(1.0, pass.draws * thread_share);
  pass.steps = steps;
  pass.flops *= step_share;
  pass.store_bytes *= step_share;
}

void shorten(Pass& pass, const GpuDescription& gpu, const Workload& workload, bool recording,
             Cut& cut) {
  if (workload.passes.size() != 1) {
    return;
  }
  if (workload.max_wave_steps > 0) {
    shorten_to_steps(pass, gpu, workload.max_wave_steps, cut);
    return;
  }
  const double limit = group_limit(workload, pass, recording) * pass.group_threads;
  if (pass.threads <= limit) {
    return;
  }
  cut.work_factor = pass.threads / limit;
  pass.threads = limit;
  pass.triangles /= cut.work_factor;
  pass.draws = std::max(1.0, pass.draws / cut.work_factor);
}

/// The body is the middle of the time. `whole`: repeats are counted, and so much of its end is left
/// out that they give all of the work; a dispatch whose rounds of waves differ then seems shorter.
Status place_body(Cut& cut, double begin_ns, double end_ns, bool whole,
                  std::vector<FinishedStep>& finished) {
  std::sort(finished.begin(), finished.end(),
            [](const FinishedStep& a, const FinishedStep& b) { return a.time_ns < b.time_ns; });
  cut.begin_ns = begin_ns + kBodyBegin * (end_ns - begin_ns);
  cut.end_ns = begin_ns + kBodyEnd * (end_ns - begin_ns);
  double inside = 0;
  double all = 0;
  for (const FinishedStep& step : finished) {
    all += step.threads;
    if (step.time_ns >= cut.begin_ns && step.time_ns < cut.end_ns) {
      inside += step.threads;
    }
  }
  constexpr double kMinShare = 0.05;
  if (inside < kMinShare * all) {
    return fail(ErrorCode::kInvalidArgument,
                "the waves end too unevenly for the middle of the dispatch to be repeated");
  }
  const double missing = (cut.work_factor - 1) * all;
  const double repeats = std::ceil(missing / inside);
  if (!(repeats < std::numeric_limits<std::uint32_t>::max())) {
    return fail(ErrorCode::kInvalidArgument, "the dispatch is too long to be simulated");
  }
  if (!whole) {
    cut.repeats = missing / inside;
    cut.body_share = inside / all;
    return {};
  }
  double counted = 0;
  for (const FinishedStep& step : finished) {
    if (step.time_ns < cut.begin_ns) {
      continue;
    }
    counted += step.threads;
    if (counted * repeats >= missing) {
      cut.end_ns = std::min(cut.end_ns, step.time_ns);
      break;
    }
  }
  if (cut.end_ns - cut.begin_ns < 2) {
    return {};  // so little is missing that the tape's nanoseconds cannot show it
  }
  cut.repeats = repeats;
  cut.body_share = counted / all;
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
    shorten(pass, gpu, workload, options.record_tape, cut);
    std::vector<FinishedStep> finished;
    const double begin_ns = time_ns;
    time_ns = PassRun(network, pass, begin_ns, finished).run();
    if (cut.work_factor > 1) {
      // Of stimuli the time is what is asked for, to a small part of a run.
      const bool whole = options.record_tape || workload.max_wave_steps <= 0;
      if (auto placed = place_body(cut, begin_ns, time_ns, whole, finished); !placed) {
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
                                        .repeats = static_cast<std::uint32_t>(cut.repeats)});
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
