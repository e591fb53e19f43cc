#include "regdb/chip_names.h"

#include <algorithm>
#include <span>
#include <utility>

namespace gputrace::regdb {

/// Defined by the build (gputrace_embed). Apart from the register tables, whose revision does not
/// depend on what a GPU is called.
std::span<const std::pair<std::string_view, std::string_view>> embedded_chips();

namespace {

/// The text before the next `separator`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t length = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  return taken;
}

bool has_element(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    if (take_until(list, ',') == wanted) {
      return true;
    }
  }
  return false;
}

std::string hex(std::uint32_t value, unsigned digits) {
  std::string text;
  for (unsigned shift = 4 * digits; shift > 0; shift -= 4) {
    text += "0123456789abcdef"[(value >> (shift - 4)) & 0xfU];
  }
  return text;
}

}  // namespace

std::string_view chips_text() {
  return embedded_chips().front().second;
}

std::optional<std::string> chip_name(std::uint16_t device, std::optional<std::uint8_t> revision) {
  const std::string wanted_device = hex(device, 4);
  const std::string wanted_revision = revision ? hex(*revision, 2) : "";
  std::optional<std::string> chip;
  for (std::string_view rest = chips_text(); !rest.empty();) {
    std::string_view line = take_until(rest, '\n');
    const std::string_view statement = take_until(line, ' ');
    if (statement == "chip" && has_element(take_until(line, ' '), wanted_device)) {
      chip = "AMD GPU (" + std::string(line) + ")";
    } else if (statement == "product" && revision && take_until(line, ' ') == wanted_device &&
               has_element(take_until(line, ' '), wanted_revision)) {
      return std::string(line);
    }
  }
  return chip;
}

}  // namespace gputrace::regdb
