#include "cli/commands/compared_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace gputrace::commands {

Result<std::vector<std::string>> split_compared_names(const std::string& word) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) {
    return std::vector<std::string>{word};
  }
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find(',', begin), word.size());
    if (end == begin) {
      return fail(ErrorCode::kUsage, fmt::format("'{}' has an empty name in it", word));
    }
    std::string name = word.substr(begin, end - begin);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return fail(ErrorCode::kUsage,
                  fmt::format("{} is named twice: it is no repeat of itself", name));
    }
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

}  // namespace gputrace::commands
