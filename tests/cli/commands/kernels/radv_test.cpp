#include "cli/commands/kernels/radv.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/temp_dir.h"

namespace gputrace::commands {
namespace {

namespace fs = std::filesystem;

/// Environment variables, put back at the end.
class Environment {
 public:
  Environment() {
    for (const char* name : kNames) {
      const char* const value = std::getenv(name);
      saved_.emplace_back(name,
                          value == nullptr ? std::nullopt : std::optional<std::string>(value));
      ::unsetenv(name);
    }
    // Nothing of this machine: these replace /etc/xdg and /usr/share.
    ::setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
    ::setenv("XDG_DATA_DIRS", "/nonexistent", 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : saved_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }

 private:
  static constexpr const char* kNames[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "HOME",
                                           "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",  "XDG_DATA_HOME",
                                           "XDG_DATA_DIRS"};
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};

void touch(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "{}";
}

TEST_CASE("RADV is found in the folders of the Vulkan loader, not that for 32-bit programs") {
  const Environment environment;
  const test::TempDir folder;
  const fs::path drivers = folder.path() / "vulkan/icd.d";
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  touch(drivers / "intel_icd.x86_64.json");
  touch(drivers / "radeon_icd.i686.json");
  CHECK(find_radv() != drivers / "radeon_icd.i686.json");
  touch(drivers / "radeon_icd.x86_64.json");
  const auto found = find_radv();
  REQUIRE(found.has_value());
  // A driver in /etc would come first.
  CHECK(found->filename().string().starts_with("radeon_icd"));
  CHECK(found->filename() != "radeon_icd.i686.json");
}

TEST_CASE("a driver that the environment names comes first") {
  const Environment environment;
  ::setenv("VK_ICD_FILENAMES", "/x/lvp_icd.json:/own/radeon_icd.json", 1);
  CHECK(find_radv() == fs::path("/own/radeon_icd.json"));
}

}  // namespace
}  // namespace gputrace::commands
