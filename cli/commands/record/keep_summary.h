// What lets a recording stand alone when it is mailed: the calibration that it is read with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/commands/record/recorded_driver.h"
#include "cli/commands/record/recorder_link.h"
#include "cli/commands/record/recording_target.h"

namespace gputrace::commands {

/// Copies a summary of the newest calibration in the machine folder that fits into a finished
/// recording, as `user` if sudo was used. In a process of its own, with a deadline: no file can end
/// or hold up the caller, who has one thread. Returns what went wrong, for a note; no calibration,
/// or none that fits, is nothing wrong. Beside the summary stands the Vulkan driver that the
/// machine has for the recorded GPU now; a note says why where it is not known.
[[nodiscard]] std::optional<std::string> keep_summary(const std::filesystem::path& recording,
                                                      const std::filesystem::path& machine_folder,
                                                      const std::optional<InvokingUser>& user,
                                                      const MachineDrivers& drivers);

/// The same for what `record` delivers, with the note in it. Not while another program reads the
/// file.
void keep_summary(Delivery& delivery, const RecordingTarget& target, const os::SystemRoots& roots);

}  // namespace gputrace::commands
