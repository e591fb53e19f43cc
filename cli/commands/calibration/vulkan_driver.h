// The Vulkan driver that kernels ran with, or that a machine had when it recorded: a calibration
// holds for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/store/results.h"
#include "daemon/store/session_reader.h"

namespace gputrace::commands {

/// "radv, Mesa 24.2.8"; absent without a name.
[[nodiscard]] std::optional<std::string> driver_text(std::string_view name, std::string_view info);
/// Absent where the run does not know it.
[[nodiscard]] std::optional<std::string> driver_of(const store::ResultRun& run);
/// The other way round.
void enter_driver(const std::optional<std::string>& driver, store::ResultRun& run);

/// What a file says of the driver: that of its kernels, or what `record` found when it ended.
/// Absent where it says nothing, or where its results are damaged.
[[nodiscard]] std::optional<std::string> driver_of(const store::SessionReader& session);

}  // namespace gputrace::commands
