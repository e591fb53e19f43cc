#include "cli/commands/calibration/known_workloads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/commands/calibration/busy_units.h"
#include "cli/commands/calibration/workload_marks.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

namespace {

using analysis::Bottleneck;
using analysis::CalibrationPoint;
using analysis::Ceiling;

/// A rate of at least this share of its ceiling is at it; below the lower one it is not. Between
/// them, and at two ceilings at once, more than one thing limits.
constexpr double kAtCeiling = 0.85;
constexpr double kBelowCeiling = 0.6;
/// Of what else a family of pixels can do: rates of two limits are seldom within a few percent.
constexpr double kAtBest = 0.9;
/// Random fetches from a texture larger than this go to memory: second levels of caches that are
/// known have up to 6 MiB.
constexpr double kTextureInCaches = 8.0 * 1024 * 1024;

/// A measured point with what its truth is told from.
struct Workload {
  CalibrationPoint point;
  double rate = 0;  ///< in `unit`
  double lower = 0;
  double upper = 0;
  std::string unit;
  double footprint_bytes = 0;
};

bool is_family(const CalibrationPoint& point, std::string_view family) {
  return point.family == family;
}

void enter_rates(const WorkloadMark& mark, Workload& workload) {
  CalibrationPoint& point = workload.point;
  point.workload = mark.stimulus.label;
  point.group_threads = mark.group_threads;
  workload.footprint_bytes = mark.stimulus.footprint_bytes;
  const double dram_bytes = mark.dram_bytes.value_or(0);
  if (workload.unit == "GFLOPS") {
    point.gflops = workload.rate;
    if (mark.dram_bytes && mark.stimulus.flops > 0) {
      point.gbps = workload.rate * dram_bytes / mark.stimulus.flops;
    }
  } else if (workload.unit == "GB/s" && mark.dram_bytes) {
    point.gbps = workload.rate;
    if (mark.stimulus.flops > 0 && dram_bytes > 0) {
      point.gflops = workload.rate * mark.stimulus.flops / dram_bytes;
    }
  } else if (workload.unit == "GPixel/s") {
    point.gbps = mark.dram_bytes ? std::optional(workload.rate * dram_bytes) : std::nullopt;
    point.gflops =
        mark.stimulus.flops > 0 ? std::optional(workload.rate * mark.stimulus.flops) : std::nullopt;
  }
  // Pixels fill the memory's units by how they are written, whatever else they do: they lie on no
  // curve of busy bits over intensity.
  if (dram_bytes > 0 && mark.stimulus.flops > 0 && !is_family(point, "fill")) {
    point.intensity = mark.stimulus.flops / dram_bytes;
  }
}

/// What of a result's point a calibration can use; absent for one without a figure.
std::optional<Workload> measured(const store::ResultTest& test, const store::ResultPoint& point,
                                 std::string_view prefix) {
  const bool usable =
      point.status == store::ResultStatus::kOk || point.status == store::ResultStatus::kSuspect;
  if (!usable || !point.median || !point.start_ns || !point.end_ns ||
      *point.end_ns <= *point.start_ns) {
    return std::nullopt;
  }
  Workload workload;
  workload.point.family = test.name.substr(prefix.size());
  workload.point.suspect = point.status == store::ResultStatus::kSuspect;
  workload.point.clock_mhz = point.clock_after_mhz ? point.clock_after_mhz : point.clock_before_mhz;
  workload.point.power_w = point.power_w;
  workload.rate = *point.median;
  workload.lower = point.p5.value_or(*point.median);
  workload.upper = point.p95.value_or(*point.median);
  workload.unit = test.unit;
  return workload;
}

class Loader {
 public:
  explicit Loader(const store::SessionReader& session)
      : session_(session), regdb_(regdb::RegisterDatabase::built_in()) {}

  Status load(std::string_view prefix) {
    const Result<std::vector<store::ResultRun>> runs = session_.results();
    const Result<std::vector<store::Event>> events =
        runs ? session_.events() : tl::unexpected<Error>(runs.error());
    if (!events) {
      return tl::unexpected<Error>(events.error());
    }
    marks_ = workload_marks(*events);
    for (const store::ResultRun& run : *runs) {
      for (const store::ResultTest& test : run.tests) {
        if (!test.name.starts_with(prefix)) {
          continue;
        }
        if (Status status = add(test, prefix); !status) {
          return status;
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<Workload>& workloads() { return workloads_; }

 private:
  Status add(const store::ResultTest& test, std::string_view prefix) {
    for (const store::ResultSeries& series : test.series) {
      for (const store::ResultPoint& point : series.points) {
        std::optional<Workload> workload = measured(test, point, prefix);
        if (!workload) {
          continue;
        }
        const store::TimeSpan span{point.start_ns.value_or(0), point.end_ns.value_or(0)};
        if (const WorkloadMark* mark = mark_at(marks_, span.start_ns, span.end_ns)) {
          enter_rates(*mark, *workload);
          Result<std::vector<analysis::BusyUnit>> units = busy_units_at(session_, regdb_, span);
          if (!units) {
            return tl::unexpected<Error>(units.error());
          }
          workload->point.units = std::move(*units);
        } else {
          workload->point.workload = test.name + "." + series.name;
        }
        workloads_.push_back(std::move(*workload));
      }
    }
    return {};
  }

  const store::SessionReader& session_;
  regdb::RegisterDatabase regdb_;
  std::vector<WorkloadMark> marks_;
  std::vector<Workload> workloads_;
};

/// The highest of these rates; suspect ones do not count.
std::optional<Ceiling> best_of(const std::vector<Workload>& workloads,
                               std::optional<double> CalibrationPoint::* rate,
                               std::string_view family, const std::string& name,
                               const std::string& unit) {
  std::optional<Ceiling> best;
  for (const Workload& workload : workloads) {
    const std::optional<double>& value = workload.point.*rate;
    const bool counts =
        !workload.point.suspect && value && (family.empty() || is_family(workload.point, family));
    if (!counts || *value <= (best ? best->value : 0)) {
      continue;
    }
    const double scale = *value / workload.rate;
    best = Ceiling{.name = name,
                   .value = *value,
                   .lower = workload.lower * scale,
                   .upper = workload.upper * scale,
                   .unit = unit};
  }
  return best;
}

Bottleneck truth_by_rates(const CalibrationPoint& point, const std::optional<Ceiling>& compute,
                          const std::optional<Ceiling>& bandwidth) {
  const double of_compute =
      compute && point.gflops ? *point.gflops / std::max(compute->value, 1e-9) : 0;
  const double of_bandwidth =
      bandwidth && point.gbps ? *point.gbps / std::max(bandwidth->value, 1e-9) : 0;
  if (of_compute >= kAtCeiling && of_bandwidth < kAtCeiling) {
    return Bottleneck::kCompute;
  }
  if (of_bandwidth >= kAtCeiling && of_compute < kAtCeiling) {
    return Bottleneck::kBandwidth;
  }
  // Far below both: what waits is not known.
  return of_compute >= kBelowCeiling || of_bandwidth >= kBelowCeiling ? Bottleneck::kMixed
                                                                      : Bottleneck::kUnknown;
}

/// Pixels are limited by how they are written, or by what they compute.
Bottleneck truth_of_fill(const Workload& workload, double most_pixels, double most_gflops) {
  const bool pixels = workload.rate >= kAtBest * most_pixels;
  const bool arithmetic =
      most_gflops > 0 && workload.point.gflops.value_or(0) >= kAtBest * most_gflops;
  if (pixels == arithmetic) {
    return Bottleneck::kMixed;
  }
  return pixels ? Bottleneck::kRaster : Bottleneck::kCompute;
}

void set_truths(std::vector<Workload>& workloads, const std::optional<Ceiling>& compute,
                const std::optional<Ceiling>& bandwidth) {
  double most_pixels = 0;
  double most_gflops = 0;
  for (const Workload& workload : workloads) {
    if (is_family(workload.point, "fill")) {
      most_pixels = std::max(most_pixels, workload.rate);
      most_gflops = std::max(most_gflops, workload.point.gflops.value_or(0));
    }
  }
  for (Workload& workload : workloads) {
    CalibrationPoint& point = workload.point;
    if (is_family(point, "chase") || is_family(point, "occupancy")) {
      // Few loads under way, unless they were enough to fill memory.
      const Bottleneck told = truth_by_rates(point, compute, bandwidth);
      point.truth = told == Bottleneck::kBandwidth ? told : Bottleneck::kLatency;
    } else if (is_family(point, "fill")) {
      point.truth = truth_of_fill(workload, most_pixels, most_gflops);
    } else if (is_family(point, "texture")) {
      const bool random = point.workload.find(".random") != std::string::npos;
      point.truth = random && workload.footprint_bytes > kTextureInCaches ? Bottleneck::kMemory
                                                                          : Bottleneck::kTexture;
    } else if (is_family(point, "bandwidth")) {
      // One that does not reach it has too few loads under way; which of the two waits is not told.
      const Bottleneck told = truth_by_rates(point, compute, bandwidth);
      point.truth = told == Bottleneck::kBandwidth ? told : Bottleneck::kMemory;
    } else if (is_family(point, "atomics")) {
      point.truth = Bottleneck::kUnknown;  // no class is of atomic units
    } else {
      point.truth = truth_by_rates(point, compute, bandwidth);
    }
  }
}

}  // namespace

Result<KnownWorkloads> load_known_workloads(const store::SessionReader& session,
                                            std::string_view prefix,
                                            const analysis::Calibration* known) {
  Loader loader(session);
  if (Status status = loader.load(prefix); !status) {
    return tl::unexpected<Error>(status.error());
  }
  std::vector<Workload>& workloads = loader.workloads();
  KnownWorkloads loaded;
  loaded.compute = best_of(workloads, &CalibrationPoint::gflops, "", "fp32", "GFLOPS");
  loaded.bandwidth = best_of(workloads, &CalibrationPoint::gbps, "sweep", "DRAM", "GB/s");
  if (!loaded.bandwidth) {
    loaded.bandwidth = best_of(workloads, &CalibrationPoint::gbps, "", "DRAM", "GB/s");
  }
  set_truths(workloads, known != nullptr ? known->compute : loaded.compute,
             known != nullptr ? known->bandwidth : loaded.bandwidth);
  std::ranges::transform(workloads, std::back_inserter(loaded.points),
                         [](Workload& workload) { return std::move(workload.point); });
  return loaded;
}

}  // namespace gputrace::commands
