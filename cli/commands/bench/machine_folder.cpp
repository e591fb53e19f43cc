#include "cli/commands/bench/machine_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/commands/session_folder.h"
#include "daemon/store/session_kind.h"

namespace gputrace::commands {

namespace {

/// Without what drivers add: "AMD Radeon 780M (RADV GFX1103_R1)".
std::string short_name(std::string_view device) {
  const std::size_t addition = device.find(" (");
  std::string name(device.substr(0, addition == 0 ? std::string_view::npos : addition));
  std::replace(name.begin(), name.end(), '/', '_');  // it is no path
  return name;
}

}  // namespace

std::filesystem::path machine_folder(const std::filesystem::path& sessions_folder) {
  return sessions_folder.parent_path() / "machine";
}

std::filesystem::path machine_file(const std::filesystem::path& folder, store::SessionKind kind,
                                   std::string_view device, std::int64_t realtime_ns) {
  const std::array stem{fmt::format("{}-{}", store::to_string(kind), short_name(device))};
  return default_session_path(folder, stem, realtime_ns);
}

}  // namespace gputrace::commands
