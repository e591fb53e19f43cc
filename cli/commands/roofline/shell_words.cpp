#include "cli/commands/roofline/shell_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gputrace::commands {

namespace {

constexpr std::string_view kBlanks = " \t\n";
/// Outside of quotes; in double quotes those of kExpansions.
constexpr std::string_view kForShells = "|&;<>()*?[";
constexpr std::string_view kExpansions = "$`";
constexpr std::string_view kEscapedInDoubleQuotes = "$`\"\\";
constexpr std::string_view kUnquotedSafe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  Result<std::vector<std::string>> split() {
    while (place_ < line_.size()) {
      if (const Status status = take(line_[place_++]); !status) {
        return tl::unexpected(status.error());
      }
    }
    end_word();
    if (words_.empty()) {
      return fail(ErrorCode::kUsage, "the command is empty");
    }
    return words_;
  }

 private:
  Status take(char c) {
    if (is_one_of(c, kBlanks)) {
      end_word();
      return {};
    }
    const bool begins = !word_;
    if (is_one_of(c, kForShells) || is_one_of(c, kExpansions) ||
        (begins && (c == '~' || c == '#'))) {
      return fail(ErrorCode::kUsage,
                  fmt::format("'{}' in '{}' means something to a shell, and no shell runs this "
                              "command: quote it, or put the line into a script",
                              c, line_));
    }
    if (begins) {
      word_.emplace();
    }
    switch (c) {
      case '\'':
        return single_quotes();
      case '"':
        return double_quotes();
      case '\\':
        return escaped();
      default:
        word_->push_back(c);
        return {};
    }
  }

  Status escaped() {
    if (place_ == line_.size()) {
      return fail(ErrorCode::kUsage, fmt::format("'{}' ends with a backslash", line_));
    }
    append(line_[place_++]);
    return {};
  }

  Status single_quotes() {
    const std::size_t end = line_.find('\'', place_);
    if (end == std::string_view::npos) {
      return open_quote('\'');
    }
    word_.emplace(word_.value_or("") + std::string(line_.substr(place_, end - place_)));
    place_ = end + 1;
    return {};
  }

  Status double_quotes() {
    while (place_ < line_.size()) {
      const char c = line_[place_++];
      if (c == '"') {
        return {};
      }
      if (is_one_of(c, kExpansions)) {
        return fail(ErrorCode::kUsage,
                    fmt::format("'{}' in '{}' means something to a shell even in double quotes, "
                                "and no shell runs this command: use single quotes",
                                c, line_));
      }
      if (c == '\\' && place_ < line_.size() && is_one_of(line_[place_], kEscapedInDoubleQuotes)) {
        append(line_[place_++]);
      } else {
        append(c);
      }
    }
    return open_quote('"');
  }

  [[nodiscard]] Status open_quote(char quote) const {
    return fail(ErrorCode::kUsage, fmt::format("a {} in '{}' is not closed", quote, line_));
  }

  void append(char c) { word_.emplace(word_.value_or("") + c); }

  void end_word() {
    if (word_) {
      words_.push_back(*word_);
      word_.reset();
    }
  }

  std::string_view line_;
  std::size_t place_ = 0;
  std::optional<std::string> word_;  ///< absent between words; '' is a word
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view line) {
  return Splitter(line).split();
}

std::string quote_for_shell(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) {
      line += ' ';
    }
    if (!word.empty() &&
        std::ranges::all_of(word, [](char c) { return is_one_of(c, kUnquotedSafe); })) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

}  // namespace gputrace::commands
