// A Vulkan device for tests: lavapipe where it is installed, so that results do not depend on the
// machine, else whatever there is, else a reason to skip.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kernels/vulkan/device.h"
#include "kernels/vulkan/device_list.h"
#include "tests/support/sanitizers.h"

namespace gputrace::test {

/// Variables that name the drivers' files to the loader, the newer one first.
inline constexpr std::array<const char*, 2> kDriverVariables{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};

/// Folders where the loader looks for drivers (its LoaderDriverInterface.md), most used first.
inline std::vector<std::filesystem::path> driver_folders() {
  std::vector<std::filesystem::path> folders;
  const char* const data = std::getenv("XDG_DATA_DIRS");
  std::istringstream words(data != nullptr && *data != '\0' ? data : "/usr/share:/usr/local/share");
  for (std::string word; std::getline(words, word, ':');) {
    folders.emplace_back(std::filesystem::path(word) / "vulkan/icd.d");
  }
  for (const char* fixed : {"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
                            "/etc/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d"}) {
    folders.emplace_back(fixed);
  }
  return folders;
}

/// The file of a driver, by how its name begins ("lvp_icd", "radeon_icd"); empty = not installed.
inline std::string find_driver(std::string_view begin) {
  for (const std::filesystem::path& folder : driver_folders()) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      // i686 drivers lie beside ours on machines with Steam.
      if (name.starts_with(begin) && name.ends_with(".json") &&
          name.find("i686") == std::string::npos) {
        return entry.path().string();
      }
    }
  }
  return {};
}

/// The library that a driver's file names stays loaded to the end. What its globals hold would else
/// look like a leak to the address sanitizer.
inline void keep_loaded(const std::string& driver_file) {
  std::ifstream file(driver_file);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::string_view kKey = "\"library_path\"";
  const std::size_t key = text.find(kKey);
  if (key == std::string::npos) {
    return;
  }
  const std::size_t begin = text.find('"', key + kKey.size()) + 1;
  const std::string library = text.substr(begin, text.find('"', begin) - begin);
  static_cast<void>(::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE));
}

/// For this process and its children. False: it is not installed.
inline bool use_driver(std::string_view begin) {
  const std::string file = find_driver(begin);
  if (file.empty()) {
    return false;
  }
  if (kWithAddressSanitizer) {
    keep_loaded(file);
    // Programs that the test starts do not keep it loaded.
    ::setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
  }
  for (const char* variable : kDriverVariables) {
    ::setenv(variable, file.c_str(), 1);
  }
  return true;
}

/// Why no driver may be executed in this build; empty = it may.
inline std::string_view why_no_driver() {
  return kWithThreadSanitizer
             ? "the thread sanitizer does not see what a driver's threads wait for, and would "
               "report them"
             : "";
}

/// Lavapipe, else the first device of the machine, else nothing and the reason is printed: then the
/// test returns.
inline std::optional<vulkan::Device> lavapipe_or_skip() {
  if (!why_no_driver().empty()) {
    MESSAGE("skipped: ", std::string(why_no_driver()));
    return std::nullopt;
  }
  if (!use_driver("lvp_icd")) {
    MESSAGE("lavapipe (mesa-vulkan-drivers) is not installed: looking for another device");
  }
  Result<vulkan::Device> device = vulkan::Device::open("", true);
  if (!device && device.error().code == ErrorCode::kNotFound) {
    MESSAGE("skipped: ", device.error().message);
    return std::nullopt;
  }
  REQUIRE_MESSAGE(device, device.error().message);
  return std::move(*device);
}

}  // namespace gputrace::test
