#include "daemon/recorder/real_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "daemon/os/register_source.h"
#include "daemon/os/runtime_status.h"
#include "daemon/os/sensors/sensors.h"
#include "daemon/os/sleeping_reader.h"
#include "regdb/register_database.h"

namespace gputrace::recorder {

namespace {

/// Of what somebody could get: sources that are there and refuse us. One note for each remedy.
void add_notes(const std::vector<os::SourceFinding>& findings, std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, std::string>> by_fix;  // few: each is looked at in turn
  for (const os::SourceFinding& finding : findings) {
    if (finding.state != os::SourceState::kRefused || finding.fix.empty()) {
      continue;
    }
    const std::string& loses = finding.loses.empty() ? finding.source : finding.loses;
    const auto same = std::find_if(by_fix.begin(), by_fix.end(),
                                   [&](const auto& one) { return one.first == finding.fix; });
    if (same == by_fix.end()) {
      by_fix.emplace_back(finding.fix, loses);
    } else if (same->second.find(loses) == std::string::npos) {
      same->second += ", " + loses;
    }
  }
  for (const auto& [fix, loses] : by_fix) {
    notes.push_back(fmt::format("not recorded: {}; {}", loses, fix));
  }
}

Result<OpenedGpu> open_asleep(const os::GpuDevice& gpu, const os::SystemRoots& roots) {
  Result<os::SleepingGpu> sleeping =
      os::open_sleeping_gpu(gpu, regdb::RegisterDatabase::built_in());
  if (!sleeping) {
    return tl::unexpected(sleeping.error());
  }
  OpenedGpu result;
  result.identity = std::move(sleeping->identity);
  result.regdb_table = std::move(sleeping->regdb_table);
  result.reader = std::move(sleeping->reader);
  result.is_asleep = true;
  os::OpenedSensors machine = os::open_machine_sensors(roots);
  result.machine_sensors = std::move(machine.readers);
  result.notes.push_back(fmt::format(
      "{} slept when the recording began; gputrace wakes no GPU: it is shown as asleep, "
      "and recorded from when a program wakes it",
      result.identity.name));
  add_notes(machine.findings, result.notes);
  return result;
}

}  // namespace

Result<OpenedGpu> open_real_gpu(const GpuRequest& request, const os::SystemRoots& roots) {
  const Result<os::RegisterSource> source = os::parse_register_source(request.source);
  if (!source) {
    return tl::unexpected(source.error());
  }
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots);
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  if (gpus->empty()) {
    return fail(ErrorCode::kNotFound, "no AMD GPU found: nothing under " +
                                          (roots.sys / "class/drm").string() +
                                          " is bound to the amdgpu driver");
  }
  const Result<os::GpuDevice> gpu = os::select_gpu(*gpus, request.gpu);
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  const auto is_awake = [status = std::make_shared<os::RuntimeStatus>(gpu->device_dir)] {
    return status->look() != os::PowerState::kAsleep;
  };
  if (!is_awake()) {
    return open_asleep(*gpu, roots);
  }
  Result<os::OpenedRegisters> opened =
      os::open_registers(*gpu, *source, regdb::RegisterDatabase::built_in(), roots);
  if (!opened) {
    const bool fell_asleep = opened.error().code == ErrorCode::kBusy && !is_awake();
    return fell_asleep ? open_asleep(*gpu, roots) : tl::unexpected(opened.error());
  }
  OpenedGpu result;
  result.identity = std::move(opened->identity);
  result.regdb_table = std::move(opened->regdb_table);
  result.reader = std::move(opened->reader);
  result.notes = std::move(opened->notes);
  os::OpenedSensors sensors = os::open_gpu_sensors(*gpu, result.identity.gc);
  os::OpenedSensors machine = os::open_machine_sensors(roots);
  result.sensors = std::move(sensors.readers);
  result.machine_sensors = std::move(machine.readers);
  result.is_awake = is_awake;
  sensors.findings.insert(sensors.findings.end(), machine.findings.begin(), machine.findings.end());
  add_notes(sensors.findings, result.notes);
  return result;
}

}  // namespace gputrace::recorder
