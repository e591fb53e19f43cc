#include "regdb/gc_version.h"

#include <array>
#include <charconv>

namespace gputrace::regdb {

Result<GcVersion> parse_gc_version(std::string_view text) {
  std::array<std::uint8_t, 3> parts{};
  const char* position = text.data();
  const char* const end = position + text.size();
  std::size_t count = 0;
  while (count < parts.size()) {
    const auto [next, error] = std::from_chars(position, end, parts.at(count));
    if (error != std::errc{}) {
      break;
    }
    ++count;
    position = next;
    if (position == end || *position != '.' || count == parts.size()) {
      break;
    }
    ++position;
  }
  if (position != end || count < 2 || text.back() == '.') {
    return fail(ErrorCode::kInvalidArgument,
                "'" + std::string(text) + "' is not a GC version such as 11.0.1");
  }
  return GcVersion{parts[0], parts[1], parts[2]};
}

std::string to_string(GcVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.revision);
}

}  // namespace gputrace::regdb
