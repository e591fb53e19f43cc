#include "cli/commands/report/machine_ceilings.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands/bench/result_file.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/vulkan_driver.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {
namespace {

/// Mean of what was read while the sweep or the streams ran; before it the clock was that of an
/// idle GPU.
std::optional<double> mean_of(const analysis::BenchRun& run,
                              std::optional<double> analysis::BenchPoint::* member) {
  double sum = 0;
  std::size_t count = 0;
  for (const analysis::TestResult& test : run.tests) {
    for (const analysis::BenchSeries& series : test.series) {
      for (const analysis::BenchPoint& point : series.points) {
        const bool is_long = test.id == "roofline.sweep" || test.id.starts_with("bandwidth.");
        if (is_long && point.*member) {
          sum += (point.*member).value_or(0);
          ++count;
        }
      }
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

/// As recordings name it: without the driver's "(RADV GFX1103_R1)" and the bench's "SIMULATED".
std::string plain_name(std::string name) {
  static constexpr std::string_view kSimulated = "SIMULATED ";
  if (name.starts_with(kSimulated)) {
    name.erase(0, kSimulated.size());
  }
  const std::size_t addition = name.find(" (");
  return addition == 0 ? name : name.substr(0, addition);
}

/// Of a file without samples.
analysis::Conditions conditions_of_run(const analysis::BenchRun& run) {
  return {.gpu = plain_name(run.device.name),
          .vendor_id = run.device.vendor_id,
          .device_id = run.device.device_id,
          .revision_id = run.device.revision_id,
          .simulated = run.device.simulated,
          .driver = driver_text(run.device.driver, run.device.driver_info),
          .clock_mhz = mean_of(run, &analysis::BenchPoint::clock_after_mhz),
          .power_w = mean_of(run, &analysis::BenchPoint::power_w)};
}

struct RooflineFile {
  bool is_bench = false;
  std::int64_t started_ns = 0;
  std::filesystem::path path;
};

std::vector<RooflineFile> roofline_files(const std::filesystem::path& folder) {
  std::vector<RooflineFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".gputrace") {
      continue;
    }
    const auto session = store::SessionReader::open(it->path());
    if (!session || (session->description().kind != store::SessionKind::kRoofline &&
                     session->description().kind != store::SessionKind::kBench)) {
      continue;
    }
    if (const auto& started = session->description().started) {
      files.push_back({session->description().kind == store::SessionKind::kBench,
                       started->realtime_ns, it->path()});
    }
  }
  // A bench may have measured ceilings as well; a roofline is about nothing else.
  std::ranges::sort(files, [](const RooflineFile& a, const RooflineFile& b) {
    if (a.is_bench != b.is_bench) {
      return b.is_bench;
    }
    return a.started_ns != b.started_ns ? a.started_ns > b.started_ns : a.path < b.path;
  });
  return files;
}

std::optional<MeasuredCeilings> ceilings_of(const analysis::BenchRun& run,
                                            const store::SessionReader& session,
                                            const analysis::Conditions& recording) {
  analysis::Roofline roofline = analysis::make_roofline(run);
  if (roofline.bandwidth.empty() && roofline.compute.empty()) {
    return std::nullopt;
  }
  analysis::Calibration measured;
  measured.conditions = conditions_of_run(run);
  if (!session.segments().empty()) {
    if (Result<analysis::Conditions> sampled = conditions_of(session)) {
      measured.conditions = std::move(*sampled);
    }
  }
  MeasuredCeilings ceilings;
  if (!roofline.compute.empty()) {
    ceilings.compute = measured.compute = roofline.compute.front();
  }
  if (!roofline.bandwidth.empty()) {
    ceilings.bandwidth = measured.bandwidth = roofline.bandwidth.front();
  }
  ceilings.fit = analysis::fit_of(measured, recording);
  if (ceilings.fit.use == analysis::CalibrationUse::kRefused) {
    return std::nullopt;
  }
  ceilings.started_at = run.started_at;
  ceilings.driver = measured.conditions.driver;
  ceilings.simulated = run.device.simulated;
  ceilings.roofline = std::move(roofline);
  return ceilings;
}

}  // namespace

std::optional<MeasuredCeilings> newest_ceilings(const std::filesystem::path& machine_folder,
                                                const analysis::Conditions& recording) {
  if (machine_folder.empty()) {
    return std::nullopt;
  }
  for (const RooflineFile& file : roofline_files(machine_folder)) {
    const auto session = store::SessionReader::open(file.path);
    const auto runs = session ? session->results() : tl::unexpected<Error>(session.error());
    for (std::size_t i = 0; runs && i < runs->size(); ++i) {
      auto ceilings = ceilings_of(bench_run((*runs)[i]), *session, recording);
      // A bench of one test must not hide an older one of all.
      if (ceilings && (!file.is_bench || (ceilings->compute && ceilings->bandwidth))) {
        ceilings->file = file.path;
        ceilings->from_bench = file.is_bench;
        return ceilings;
      }
    }
  }
  return std::nullopt;
}

analysis::Roofline roofline_of(const std::optional<analysis::Ceiling>& compute,
                               const std::optional<analysis::Ceiling>& bandwidth) {
  analysis::Roofline roofline;
  if (compute) {
    roofline.compute.push_back(*compute);
  }
  if (bandwidth) {
    roofline.bandwidth.push_back(*bandwidth);
  }
  if (compute && bandwidth && compute->value > 0 && bandwidth->value > 0) {
    analysis::Ridge ridge;
    ridge.intensity = compute->value / bandwidth->value;
    const bool spread = compute->lower && compute->upper && bandwidth->lower && bandwidth->upper &&
                        bandwidth->lower > 0.0 && bandwidth->upper > 0.0;
    if (spread) {
      ridge.lower = *compute->lower / *bandwidth->upper;
      ridge.upper = *compute->upper / *bandwidth->lower;
    }
    roofline.ridges.push_back(ridge);
  }
  return roofline;
}

}  // namespace gputrace::commands
