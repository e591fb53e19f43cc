// Compares text with a file of tests/golden. GPUTRACE_UPDATE_GOLDEN=1 writes the file instead: look
// at the difference in git before committing it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace gputrace::test {

inline void check_golden(std::string_view name, const std::string& actual) {
  const std::string path = std::string(GPUTRACE_GOLDEN) + "/" + std::string(name);
  const char* update = std::getenv("GPUTRACE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << actual;
    MESSAGE("wrote ", path);
    return;
  }
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), "no golden file ", path, "; GPUTRACE_UPDATE_GOLDEN=1 writes it");
  std::ostringstream expected;
  expected << file.rdbuf();
  CHECK_MESSAGE(actual == expected.str(), path,
                " differs; GPUTRACE_UPDATE_GOLDEN=1 writes it anew");
}

}  // namespace gputrace::test
