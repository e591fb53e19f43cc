#include "regdb/reg_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gputrace::regdb {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trim(text); !text.empty();) {
    const std::size_t length = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, length));
    text = trim(text.substr(length));
  }
  return words;
}

/// Names and meanings reach terminals as they are, so C0, DEL and C1 (in UTF-8) are kept out here.
bool has_control_character(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const auto next = static_cast<unsigned char>(i + 1 < line.size() ? line[i + 1] : 0);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f ||
        (byte == 0xc2 && next >= 0x80 && next < 0xa0)) {
      return true;
    }
  }
  return false;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

/// "21" or "0..3".
std::optional<BitRange> parse_bits(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : parse_number(text.substr(dots + 2));
  if (!first || !last || *last > 31 || *first > *last) {
    return std::nullopt;
  }
  return BitRange{static_cast<std::uint8_t>(*first), static_cast<std::uint8_t>(*last - *first + 1)};
}

std::optional<FieldKind> parse_kind(std::string_view text) {
  for (const FieldKind kind :
       {FieldKind::kBusy, FieldKind::kClean, FieldKind::kRequestPending, FieldKind::kCounter}) {
    if (text == to_string(kind)) {
      return kind;
    }
  }
  return std::nullopt;
}

/// As to_string(UnitGroup), with '-' for the blank: a statement's words are split at blanks.
std::optional<UnitGroup> parse_group(std::string_view text) {
  std::string words(text);
  std::replace(words.begin(), words.end(), '-', ' ');
  for (const UnitGroup group : {UnitGroup::kFrontEnd, UnitGroup::kShader, UnitGroup::kMemoryPath,
                                UnitGroup::kFixedFunction}) {
    if (words == to_string(group)) {
      return group;
    }
  }
  return std::nullopt;
}

bool is_version_pattern(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.x") == std::string_view::npos &&
         text.front() != '.' && text.back() != '.';
}

class Parser {
 public:
  explicit Parser(std::string_view file) { place_.file = file; }

  Result<RegFile> parse(std::string_view text) {
    while (!text.empty()) {
      ++place_.line;
      const std::size_t length = std::min(text.find('\n'), text.size());
      const std::string_view line = trim(text.substr(0, length));
      text.remove_prefix(std::min(length + 1, text.size()));
      if (has_control_character(line)) {
        return fail_here("a control character; register files are plain text");
      }
      if (line.empty() || line.front() == '#') {
        continue;
      }
      if (const Status status = parse_line(line); !status) {
        return tl::unexpected(status.error());
      }
    }
    return std::move(file_);
  }

 private:
  using Words = std::vector<std::string_view>;

  Status parse_line(std::string_view line) {
    struct Statement {
      std::string_view keyword;
      std::size_t min_words;
      std::size_t max_words;
      std::string_view form;
      Status (Parser::*parse)(const Words& words);
    };
    constexpr std::size_t kAnyCount = 64;
    static constexpr std::array<Statement, 10> kStatements{{
        {"field", 4, 4, "field NAME KIND GROUP", &Parser::parse_field},
        {"table", 2, 2, "table NAME", &Parser::parse_table},
        {"base", 2, 2, "base TABLE", &Parser::parse_base},
        {"readable", 2, 2, "readable LIST", &Parser::parse_readable},
        {"register", 2, 5, "register NAME [OFFSET|none] [like REGISTER]", &Parser::parse_register},
        {"readable-list", 2, kAnyCount, "readable-list NAME REGISTER...",
         &Parser::parse_readable_list},
        {"version", 3, 3, "version PATTERN TABLE", &Parser::parse_version},
        {"family", 5, kAnyCount, "family FAMILY FIRST_REV LAST_REV GC_VERSION NAMES",
         &Parser::parse_family},
        {"column", 5, 7, "column COLUMN BITS REGISTER FIELD [with|without COLUMN]",
         &Parser::parse_column},
        {"", 2, 2, "BITS FIELD", &Parser::parse_bits_line},
    }};
    const Words words = split_words(line);
    const std::string_view first = words.front();
    if (first == "meaning" || first == "suggests") {
      return parse_text(first, trim(line.substr(first.size())));
    }
    const bool is_bits = first.find_first_not_of("0123456789.") == std::string_view::npos;
    for (const Statement& statement : kStatements) {
      if (statement.keyword != (is_bits ? std::string_view{} : first)) {
        continue;
      }
      if (words.size() < statement.min_words || words.size() > statement.max_words) {
        return fail_here("expected `" + std::string(statement.form) + "`");
      }
      return (this->*statement.parse)(words);
    }
    return fail_here("unknown statement " + quoted(first));
  }

  Status parse_field(const Words& words) {
    const auto kind = parse_kind(words[2]);
    if (!kind) {
      return fail_here(quoted(words[2]) + " is not a kind: busy, clean, pending or counter");
    }
    const auto group = parse_group(words[3]);
    if (!group) {
      return fail_here(quoted(words[3]) +
                       " is not a group: front-end, shader, memory-path or fixed-function");
    }
    FieldDescriptions& all =
        file_.tables.empty() ? file_.descriptions : file_.tables.back().descriptions;
    const auto [entry, inserted] = all.try_emplace(std::string(words[1]));
    if (!inserted) {
      return fail_here("field " + quoted(words[1]) + " is described twice");
    }
    description_ = &entry->second;
    description_->kind = *kind;
    description_->group = *group;
    description_->place = place_;
    return {};
  }

  Status parse_text(std::string_view keyword, std::string_view text) {
    if (description_ == nullptr) {
      return fail_here(quoted(keyword) + " must follow a `field` line");
    }
    std::string& target = keyword == "meaning" ? description_->meaning : description_->suggests;
    if (text.empty() || !target.empty()) {
      return fail_here("a field has one `" + std::string(keyword) + "` line with a text");
    }
    target = text;
    return {};
  }

  Status parse_table(const Words& words) {
    TableStatement& table = file_.tables.emplace_back();
    table.name = words[1];
    table.place = place_;
    description_ = nullptr;
    return {};
  }

  Status parse_base(const Words& words) { return set_once(&TableStatement::base, words); }
  Status parse_readable(const Words& words) { return set_once(&TableStatement::readable, words); }

  Status set_once(std::string TableStatement::* member, const Words& words) {
    if (file_.tables.empty() || !(file_.tables.back().*member).empty()) {
      return fail_here(quoted(words[0]) + " stands once, below a `table` line");
    }
    file_.tables.back().*member = words[1];
    return {};
  }

  Status parse_register(const Words& words) {
    if (file_.tables.empty()) {
      return fail_here("'register' must stand below a `table` line");
    }
    RegisterStatement statement;
    statement.name = words[1];
    statement.place = place_;
    auto word = words.begin() + 2;
    if (word != words.end() && *word != "like") {
      statement.offset = *word == "none" ? std::optional<std::uint32_t>(0) : parse_number(*word);
      if (!statement.offset) {
        return fail_here(quoted(*word) + " is not an offset such as 0x2004");
      }
      ++word;
    }
    if (word != words.end()) {
      if (*word != "like" || words.end() - word != 2) {
        return fail_here("expected `like REGISTER` at the end");
      }
      statement.like = *(word + 1);
    }
    std::vector<RegisterStatement>& registers = file_.tables.back().registers;
    if (std::any_of(registers.begin(), registers.end(),
                    [&](const RegisterStatement& other) { return other.name == statement.name; })) {
      return fail_here("register " + quoted(statement.name) + " stands twice in its table");
    }
    registers.push_back(std::move(statement));
    return {};
  }

  Status parse_bits_line(const Words& words) {
    const auto bits = parse_bits(words[0]);
    if (!bits) {
      return fail_here(quoted(words[0]) + " is not a bit from 0 to 31 or a range such as 0..3");
    }
    if (file_.tables.empty() || file_.tables.back().registers.empty()) {
      return fail_here("bits must stand below a `register` line");
    }
    RegisterStatement& owner = file_.tables.back().registers.back();
    if (!owner.like.empty()) {
      return fail_here("a register that is like another has no bits of its own");
    }
    for (const FieldStatement& other : owner.fields) {
      if ((other.bits.mask() & bits->mask()) != 0 || other.name == words[1]) {
        return fail_here(quoted(words[1]) + " collides with " + quoted(other.name) + " of line " +
                         std::to_string(other.place.line));
      }
    }
    owner.fields.push_back({.bits = *bits, .name = std::string(words[1]), .place = place_});
    return {};
  }

  Status parse_readable_list(const Words& words) {
    file_.readable_lists.push_back({.name = std::string(words[1]),
                                    .registers = {words.begin() + 2, words.end()},
                                    .place = place_});
    return {};
  }

  Status parse_version(const Words& words) {
    if (!is_version_pattern(words[1])) {
      return fail_here(quoted(words[1]) + " is not a version such as 11.0.1 or 10.3.x");
    }
    file_.versions.push_back(
        {.pattern = std::string(words[1]), .table = std::string(words[2]), .place = place_});
    return {};
  }

  Status parse_family(const Words& words) {
    const auto family = parse_number(words[1]);
    const auto first = parse_number(words[2]);
    const auto last = parse_number(words[3]);
    if (!family || !first || !last || *first > *last) {
      return fail_here("a family needs its number and a first and a last revision");
    }
    const auto gc = parse_gc_version(words[4]);
    if (!gc) {
      return fail_here(gc.error().message);
    }
    file_.families.push_back({.family = *family,
                              .first_revision = *first,
                              .last_revision = *last,
                              .gc = *gc,
                              .place = place_});
    return {};
  }

  Status parse_column(const Words& words) {
    const auto bits = parse_bits(words[2]);
    if (!bits) {
      return fail_here(quoted(words[2]) + " is not a bit from 0 to 31 or a range such as 16..17");
    }
    ColumnRule rule;
    rule.column = words[1];
    rule.bits = *bits;
    rule.register_name = words[3];
    rule.field = words[4] == "-" ? std::string_view() : words[4];
    rule.place = place_;
    if (words.size() > 5) {
      if (words.size() != 7 || (words[5] != "with" && words[5] != "without")) {
        return fail_here("expected `with COLUMN` or `without COLUMN` at the end");
      }
      (words[5] == "with" ? rule.with : rule.without) = words[6];
    }
    file_.columns.push_back(std::move(rule));
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> fail_here(std::string_view message) const {
    return fail_at(place_, message);
  }

  SourcePlace place_;
  RegFile file_;
  FieldDescription* description_ = nullptr;  ///< that `meaning` and `suggests` lines belong to
};

}  // namespace

tl::unexpected<Error> fail_at(const SourcePlace& place, std::string_view message) {
  return fail(ErrorCode::kInvalidArgument,
              place.file + ":" + std::to_string(place.line) + ": " + std::string(message));
}

std::uint32_t BitRange::mask() const {
  return (width >= 32 ? 0xffffffffU : ((1U << width) - 1U)) << shift;
}

bool VersionRule::matches(GcVersion version) const {
  const std::array<std::uint8_t, 3> parts{version.major, version.minor, version.revision};
  std::string_view rest = pattern;
  for (const std::uint8_t part : parts) {
    const std::string_view number = rest.substr(0, rest.find('.'));
    if (number == "x") {
      return true;
    }
    if (number != std::to_string(part)) {
      return false;
    }
    rest.remove_prefix(std::min(number.size() + 1, rest.size()));
  }
  return rest.empty();
}

Result<RegFile> parse_reg_file(std::string_view file, std::string_view text) {
  return Parser(file).parse(text);
}

}  // namespace gputrace::regdb
