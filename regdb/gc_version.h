// The version of a GPU's graphics core (GC IP), which decides the meaning of every status bit.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::regdb {

struct GcVersion {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint8_t revision = 0;

  auto operator<=>(const GcVersion&) const = default;
};

/// "11.0.1", or "9.0" for 9.0.0. kInvalidArgument for anything else, with the text in the message.
[[nodiscard]] Result<GcVersion> parse_gc_version(std::string_view text);
/// Always three numbers: "9.0.0".
[[nodiscard]] std::string to_string(GcVersion version);

}  // namespace gputrace::regdb
