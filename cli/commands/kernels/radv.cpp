#include "cli/commands/kernels/radv.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gputrace::commands {
namespace {

namespace fs = std::filesystem;

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// The parts of "a:b", empty ones left out.
std::vector<fs::path> parts_of(std::string_view list) {
  std::vector<fs::path> parts;
  while (!list.empty()) {
    const std::size_t size = std::min(list.find(':'), list.size());
    if (size > 0) {
      parts.emplace_back(list.substr(0, size));
    }
    list.remove_prefix(std::min(size + 1, list.size()));
  }
  return parts;
}

/// "radeon_icd.x86_64.json", not the one for 32-bit programs beside it.
bool is_radv(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("radeon_icd") && name.ends_with(".json") &&
         (sizeof(void*) == 4 || name.find("i686") == std::string::npos) &&
         (sizeof(void*) == 4 || name.find("i386") == std::string::npos);
}

void append(std::vector<fs::path>& folders, std::string_view list, std::string_view otherwise) {
  for (const fs::path& folder : parts_of(list.empty() ? otherwise : list)) {
    folders.push_back(folder / "vulkan/icd.d");
  }
}

std::vector<fs::path> driver_folders() {
  const std::string home(environment("HOME"));
  std::vector<fs::path> folders;
  append(folders, environment("XDG_CONFIG_HOME"), home.empty() ? "" : home + "/.config");
  append(folders, environment("XDG_CONFIG_DIRS"), "/etc/xdg");
  append(folders, "/etc:/usr/local/etc", "");
  append(folders, environment("XDG_DATA_HOME"), home.empty() ? "" : home + "/.local/share");
  append(folders, environment("XDG_DATA_DIRS"), "/usr/local/share:/usr/share");
  return folders;
}

}  // namespace

std::optional<fs::path> find_radv() {
  for (const char* const variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    for (const fs::path& file : parts_of(environment(variable))) {
      if (is_radv(file)) {
        return file;
      }
    }
  }
  for (const fs::path& folder : driver_folders()) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (is_radv(entry->path())) {
        return entry->path();
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> spellings_of(const std::string& family) {
  constexpr auto kRenamed =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"gfx1103_r1", "phoenix"},
                                                                    {"gfx1100", "navi31"},
                                                                    {"gfx1101", "navi32"},
                                                                    {"gfx1102", "navi33"}});
  std::vector<std::string> spellings{family};
  for (const auto& [older, newer] : kRenamed) {
    if (family == older) {
      spellings.emplace_back(newer);
    } else if (family == newer) {
      spellings.emplace_back(older);
    }
  }
  return spellings;
}

void compile_for(const std::string& family, const fs::path& driver) {
  ::setenv("VK_DRIVER_FILES", driver.c_str(), 1);
  ::setenv("VK_ICD_FILENAMES", driver.c_str(), 1);  // the name before loader 1.3.207
  ::setenv("RADV_FORCE_FAMILY", family.c_str(), 1);
  ::setenv("AMD_FORCE_FAMILY", family.c_str(), 1);  // the name in newer Mesa
  // Nothing of this is for the user's caches of shaders. RADV keeps its own pipelines in a file
  // apart: once that is there it makes all of them with the device, those that draw as well, and
  // Mesa 22.3 crashes on these for some GPUs that are not there.
  ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  ::setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

}  // namespace gputrace::commands
