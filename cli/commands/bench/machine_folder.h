// Where measurements of this machine are: the folder `machine` beside that of the sessions (0700).
// Nothing is ever deleted there but by its owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "daemon/store/session.h"

namespace gputrace::commands {

[[nodiscard]] std::filesystem::path machine_folder(const std::filesystem::path& sessions_folder);
/// "roofline-AMD_Radeon_780M-20261130-140000.gputrace"; a name that nobody has yet.
[[nodiscard]] std::filesystem::path machine_file(const std::filesystem::path& folder,
                                                 store::SessionKind kind, std::string_view device,
                                                 std::int64_t realtime_ns);

}  // namespace gputrace::commands
