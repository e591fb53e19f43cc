// Mesa's RADV compiles for GPUs that are not there: where it is, and how it names them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// RADV's description in the folders where the Vulkan loader looks for drivers (its document
/// LoaderDriverInterface), or in VK_DRIVER_FILES and VK_ICD_FILENAMES.
[[nodiscard]] std::optional<std::filesystem::path> find_radv();

/// `family` and its other spellings: Mesa renamed gfx1103_r1 to phoenix, gfx1100 to navi31.
[[nodiscard]] std::vector<std::string> spellings_of(const std::string& family);

/// Makes this process's Vulkan compile for `family` with the driver at `driver` and no other. For
/// a child process that has not loaded Vulkan: an unknown family aborts it.
void compile_for(const std::string& family, const std::filesystem::path& driver);

}  // namespace gputrace::commands
