#include "cli/commands/record/keep_summary.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/choose_calibration.h"
#include "cli/commands/doctor/isolated_call.h"
#include "cli/commands/session_folder.h"
#include "daemon/store/results.h"

namespace gputrace::commands {

namespace {

/// It takes some tens of ms; an unfinished write would have to be rolled back, so that it does not
/// begin when most of the time is gone.
constexpr std::chrono::milliseconds kDeadline{3000};
constexpr std::chrono::milliseconds kLatestWrite{2000};

Status copy_summary(const std::filesystem::path& recording,
                    const std::filesystem::path& machine_folder,
                    const std::optional<InvokingUser>& user) {
  const auto began = std::chrono::steady_clock::now();
  if (const Status as_user = user ? become(*user) : Status(); !as_user) {
    return as_user;
  }
  CalibrationChoice choice;
  {
    const Result<store::SessionReader> session = store::SessionReader::open(recording);
    const Result<analysis::Conditions> conditions =
        session ? conditions_of(*session) : tl::unexpected<Error>(session.error());
    if (!conditions) {
      return tl::unexpected<Error>(conditions.error());
    }
    choice = choose_calibration(machine_folder, *conditions);
  }
  if (!choice.calibration) {
    return {};
  }
  if (std::chrono::steady_clock::now() - began > kLatestWrite) {
    return fail(ErrorCode::kBusy, "reading the calibration took too long");
  }
  const std::array runs{summary_of(*choice.calibration)};
  return store::append_results(recording, runs);
}

}  // namespace

std::optional<std::string> keep_summary(const std::filesystem::path& recording,
                                        const std::filesystem::path& machine_folder,
                                        const std::optional<InvokingUser>& user) {
  const auto files = session_files(machine_folder);
  if (!files || files->empty()) {
    return std::nullopt;
  }
  const Result<std::string> answer = call_isolated(kDeadline, [&]() -> std::string {
    const Status copied = copy_summary(recording, machine_folder, user);
    return copied ? std::string() : copied.error().message;
  });
  const std::string problem = answer ? *answer : answer.error().message;
  return problem.empty()
             ? std::nullopt
             : std::optional(fmt::format("the file has no copy of a calibration: {}", problem));
}

void keep_summary(Delivery& delivery, const RecordingTarget& target) {
  const Result<std::filesystem::path> sessions = sessions_folder_of(target.user);
  if (!delivery.file || delivery.still_wal || !sessions) {
    return;
  }
  if (auto problem = keep_summary(*delivery.file, machine_folder(*sessions), target.user)) {
    delivery.notes.push_back(std::move(*problem));
  }
}

}  // namespace gputrace::commands
