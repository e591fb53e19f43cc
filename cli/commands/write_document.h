// Writes a document of gputrace's (a page, a drawing) to a file of the user's choice.
#pragma once

#include <filesystem>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::commands {

/// The file appears under its name when it is whole. It replaces an empty file or one that begins
/// as `text` does up to its first blank or line end ("<svg", "<!DOCTYPE"): a mistyped name must not
/// cost a recording. Anything else under that name is refused, links in any case.
Status write_document(const std::filesystem::path& path, std::string_view text);

}  // namespace gputrace::commands
