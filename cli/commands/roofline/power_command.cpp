#include "cli/commands/roofline/power_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/commands/roofline/shell_words.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kPlace = "{watts}";

}  // namespace

Result<PowerCommand> PowerCommand::parse(std::string_view text) {
  auto words = split_shell_words(text);
  if (!words) {
    return fail(words.error(), "--set-power");
  }
  PowerCommand command;
  command.words_ = std::move(*words);
  const bool has_place = std::ranges::any_of(command.words_, [](const std::string& word) {
    return word.find(kPlace) != std::string::npos;
  });
  if (!has_place) {
    return fail(ErrorCode::kUsage,
                fmt::format("--set-power: '{}' has no {} for the limit", text, kPlace));
  }
  return command;
}

std::vector<std::string> PowerCommand::words(std::uint32_t watts) const {
  const std::string number = std::to_string(watts);
  std::vector<std::string> words = words_;
  for (std::string& word : words) {
    std::size_t place = 0;
    while ((place = word.find(kPlace, place)) != std::string::npos) {
      word.replace(place, kPlace.size(), number);
      place += number.size();
    }
  }
  return words;
}

Result<std::uint32_t> parse_watts(std::string_view text) {
  std::uint32_t watts = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), watts);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() ||
      watts < kMinWatts || watts > kMaxWatts) {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is not a whole number of watts from {} to {}",
                                               text, kMinWatts, kMaxWatts));
  }
  return watts;
}

}  // namespace gputrace::commands
