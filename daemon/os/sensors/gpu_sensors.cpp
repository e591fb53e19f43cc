#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "daemon/os/runtime_status.h"
#include "daemon/os/sensors/deadline.h"
#include "daemon/os/sensors/device_files.h"
#include "daemon/os/sensors/expected_sources.h"
#include "daemon/os/sensors/file_probe.h"
#include "daemon/os/sensors/gpu_metrics_reader.h"
#include "daemon/os/sensors/hwmon_files.h"
#include "daemon/os/sensors/sensors.h"

namespace gputrace::os {

namespace {

namespace fs = std::filesystem;

/// Returns whether the table is an APU's.
bool open_metrics(const fs::path& device_dir, const std::optional<regdb::GcVersion>& gc,
                  bool is_asleep, FileProbe& probe, OpenedSensors& opened) {
  SourceFinding finding;
  finding.source = "gpu_metrics";
  const std::string path = (device_dir / finding.source).string();
  finding.loses = kGpuMetricsLoss;
  if (is_asleep) {
    finding.state = SourceState::kAsleep;
    finding.reason = fmt::format("{}: not read while the GPU sleeps", path);
    opened.findings.push_back(std::move(finding));
    opened.readers.push_back(gpu_metrics_reader_for_later(device_dir, gc));
    return false;
  }
  auto metrics =
      within<OpenedGpuMetrics>(kProbeDeadline, std::function<OpenedGpuMetrics()>([device_dir, gc] {
                                 return open_gpu_metrics_reader(device_dir, gc);
                               }));
  if (!metrics) {
    probe.set_stuck(finding.source);
    finding.state = SourceState::kBroken;
    finding.reason = fmt::format("{}: {}", path, probe.stuck());
    finding.fix = "see the kernel's log (dmesg) for messages of amdgpu";
    opened.findings.push_back(std::move(finding));
    opened.readers.push_back(gpu_metrics_reader_for_later(device_dir, gc));
    return false;
  }
  if (metrics->reader) {
    opened.readers.push_back(std::move(metrics->reader));
  }
  opened.findings.push_back(std::move(metrics->finding));
  return metrics->is_apu;
}

}  // namespace

OpenedSensors open_gpu_sensors(const GpuDevice& gpu, const std::optional<regdb::GcVersion>& gc) {
  const fs::path& device_dir = gpu.device_dir;
  const bool is_asleep = RuntimeStatus(device_dir).look() == PowerState::kAsleep;
  OpenedSensors opened;
  FileProbe probe(kProbeDeadline);
  bool is_apu = open_metrics(device_dir, gc, is_asleep, probe, opened);

  std::vector<SensorFile> files;
  const std::vector<fs::path> folders = find_hwmon(device_dir / "hwmon", "amdgpu");
  for (const fs::path& folder : folders) {
    is_apu = is_apu || has_apu_rail(folder);
    auto found = amdgpu_hwmon_files(folder, {.only_list = is_asleep, .is_apu = is_apu});
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  auto found = amdgpu_device_files(device_dir);
  std::move(found.begin(), found.end(), std::back_inserter(files));

  std::vector<std::optional<FileAnswer>> answers(files.size());
  for (std::size_t i = 0; i < files.size() && !is_asleep; ++i) {
    answers[i] = probe.ask(files[i]);
  }
  decide_power_form(files, answers);
  for (std::size_t i = 0; i < files.size(); ++i) {
    add_file(std::move(files[i]), answers[i], probe.stuck(), opened);
  }
  auto absent = absent_sources(device_dir, !folders.empty(), is_apu, opened.findings);
  std::move(absent.begin(), absent.end(), std::back_inserter(opened.findings));
  return opened;
}

}  // namespace gputrace::os
