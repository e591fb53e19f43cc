// Reads the *.reg files of a user's folder, which change names and meanings (--regdb DIR).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/reg_file.h"

namespace gputrace::regdb {

struct OverlayFile {
  std::string name;  ///< without the folder
  std::string text;
  RegFile statements;
};

/// In order of name. kNotFound for a folder that is not there or has no *.reg file;
/// kInvalidArgument names file and line.
[[nodiscard]] Result<std::vector<OverlayFile>> read_overlay_folder(
    const std::filesystem::path& folder);

}  // namespace gputrace::regdb
