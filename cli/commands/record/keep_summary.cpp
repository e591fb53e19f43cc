#include "cli/commands/record/keep_summary.h"

#include <chrono>
#include <utility>
#include <vector>

#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/calibration/load_calibration.h"
#include "cli/commands/calibration/vulkan_driver.h"
#include "cli/commands/doctor/isolated_call.h"
#include "cli/commands/session_folder.h"
#include "daemon/base/time.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

namespace {

/// It takes some tens of ms; an unfinished write would have to be rolled back, so that it does not
/// begin when most of the time is gone.
constexpr std::chrono::milliseconds kDeadline{3000};
constexpr std::chrono::milliseconds kLatestWrite{2000};

/// A run without tests, of the GPU as it was recorded.
store::ResultRun driver_run(const sampler::GpuIdentity& gpu, const std::string& driver) {
  store::ResultRun run;
  run.started_at = format_rfc3339_utc(read_time_anchor().realtime_ns);
  run.device = gpu.name;
  run.pci = gpu.pci;
  run.vendor_id = gpu.vendor_id;
  run.device_id = gpu.device_id;
  run.revision_id = gpu.revision_id;
  run.simulated = gpu.simulated;
  enter_driver(driver, run);
  return run;
}

/// Returns a note, or nothing.
Result<std::string> copy_summary(const std::filesystem::path& recording,
                                 const std::filesystem::path& machine_folder,
                                 const std::optional<InvokingUser>& user,
                                 const MachineDrivers& drivers) {
  const auto began = std::chrono::steady_clock::now();
  if (user) {
    Status as_user = become(*user);
    as_user = as_user ? take_environment(*user) : as_user;
    if (!as_user) {
      return tl::unexpected<Error>(as_user.error());
    }
  }
  CalibrationChoice choice;
  sampler::GpuIdentity gpu;
  {
    const Result<store::SessionReader> session = store::SessionReader::open(recording);
    const Result<analysis::Conditions> conditions =
        session ? conditions_of(*session) : tl::unexpected<Error>(session.error());
    if (!conditions) {
      return tl::unexpected<Error>(conditions.error());
    }
    gpu = *recorded_gpu(*session);  // it has conditions
    choice = choose_calibration(machine_folder, *conditions, &load_kept_summary);
  }
  if (!choice.calibration) {
    return std::string();
  }
  std::vector<store::ResultRun> runs{summary_of(*choice.calibration)};
  std::string note;
  if (const auto driver = recorded_driver(gpu, choice.calibration->conditions.driver, drivers)) {
    runs.push_back(driver_run(gpu, *driver));
  } else {
    note = "the file does not say which Vulkan driver the machine had: " + driver.error().message;
  }
  if (std::chrono::steady_clock::now() - began > kLatestWrite) {
    return fail(ErrorCode::kBusy, "reading the calibration took too long");
  }
  const Status added = store::append_results(recording, runs);
  return added ? Result<std::string>(note) : tl::unexpected<Error>(added.error());
}

}  // namespace

std::optional<std::string> keep_summary(const std::filesystem::path& recording,
                                        const std::filesystem::path& machine_folder,
                                        const std::optional<InvokingUser>& user,
                                        const MachineDrivers& drivers) {
  const auto files = session_files(machine_folder);
  if (!files || files->empty()) {
    return std::nullopt;
  }
  const auto no_copy = [](const Error& error) {
    return "the file has no copy of a calibration: " + error.message;
  };
  const Result<std::string> answer = call_isolated(kDeadline, [&]() -> std::string {
    const Result<std::string> note = copy_summary(recording, machine_folder, user, drivers);
    return note ? *note : no_copy(note.error());
  });
  std::string note = answer ? *answer : no_copy(answer.error());
  return note.empty() ? std::nullopt : std::optional(std::move(note));
}

void keep_summary(Delivery& delivery, const RecordingTarget& target, const os::SystemRoots& roots) {
  const Result<std::filesystem::path> sessions = sessions_folder_of(target.user);
  if (!delivery.file || delivery.still_wal || !sessions) {
    return;
  }
  if (auto note =
          keep_summary(*delivery.file, machine_folder(*sessions), target.user, {.roots = roots})) {
    delivery.notes.push_back(std::move(*note));
  }
}

}  // namespace gputrace::commands
