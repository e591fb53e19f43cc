// Listings in tests/fixtures/isa, and executables made of them.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/vulkan/pipeline.h"

namespace gputrace::test {

inline std::string isa_fixture(const std::string& name) {
  std::ifstream file(GPUTRACE_FIXTURES "/isa/" + name);
  GPUTRACE_CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<vulkan::Executable> executable_with(std::string assembly,
                                                       std::vector<vulkan::Statistic> statistics,
                                                       std::uint32_t subgroup_size = 64) {
  return {{"Compute Shader", subgroup_size, std::move(statistics), std::move(assembly)}};
}

/// `text` with the first `before` replaced.
inline std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  GPUTRACE_CHECK(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

}  // namespace gputrace::test
