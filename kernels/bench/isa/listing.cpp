#include "kernels/bench/isa/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace gputrace::bench::isa {
namespace {

/// An instruction has at most five words so far; more of a line is no encoding.
constexpr std::size_t kMaxWords = 8;
constexpr std::size_t kWordDigits = 8;
/// Of code: RADV's programs lie in a range of 32-bit addresses.
constexpr std::uint64_t kMaxCodeBytes = std::uint64_t{1} << 32;
constexpr std::size_t kShownCharacters = 40;

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_mnemonic_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Takes the mnemonic from the front of `text`; empty when there is none.
std::string_view take_mnemonic(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_mnemonic_character(text[size])) {
    ++size;
  }
  const std::string_view mnemonic = text.substr(0, size);
  text = trimmed(text.substr(size));
  return mnemonic;
}

/// The names of every instruction of GCN and RDNA begin so.
bool is_known_family(std::string_view mnemonic) {
  constexpr auto kFamilies = std::to_array<std::string_view>(
      {"v_", "s_", "ds_", "buffer_", "tbuffer_", "global_", "flat_", "scratch_", "image_", "lds_"});
  return mnemonic == "exp" || mnemonic == "export" ||
         std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return mnemonic.starts_with(family); });
}

bool is_label(std::string_view line) {
  return line.size() > 3 && line.starts_with("BB") && line.back() == ':' &&
         line.find_first_not_of("0123456789", 2) == line.size() - 1;
}

template <class T>
bool parse_number(std::string_view digits, int base, T& value) {
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, base);
  return error == std::errc() && stop == end;
}

/// Of "(then repeated 255 times)".
std::optional<std::uint64_t> parse_repeats(std::string_view line) {
  constexpr std::string_view kBefore = "(then repeated ";
  constexpr std::string_view kAfter = " times)";
  if (!line.starts_with(kBefore) || !line.ends_with(kAfter) ||
      line.size() <= kBefore.size() + kAfter.size()) {
    return std::nullopt;
  }
  std::uint32_t repeats = 0;
  line.remove_prefix(kBefore.size());
  line.remove_suffix(kAfter.size());
  return parse_number(line, 10, repeats) && repeats > 0 ? std::optional<std::uint64_t>(repeats)
                                                        : std::nullopt;
}

/// "be800003 00000010" to the size and the first words of an instruction.
bool parse_encoding(std::string_view text, Instruction& instruction) {
  std::size_t words = 0;
  while (!text.empty()) {
    std::uint32_t word = 0;
    if (words == kMaxWords || text.size() < kWordDigits ||
        !parse_number(text.substr(0, kWordDigits), 16, word)) {
      return false;
    }
    if (words < instruction.words.size()) {
      instruction.words.at(words) = word;
    }
    ++words;
    text.remove_prefix(kWordDigits);
    if (!text.empty() && text.front() != ' ') {
      return false;
    }
    text = trimmed(text);
  }
  instruction.bytes = static_cast<std::uint32_t>(words * sizeof(std::uint32_t));
  return words > 0;
}

/// "v_fma_f32 v4, v4, v5, v6   ; d6130004 041a0b04", the halves of a pair between "::".
bool parse_instruction(std::string_view line, Instruction& instruction) {
  const std::size_t semicolon = line.rfind(';');
  if (semicolon == std::string_view::npos ||
      !parse_encoding(trimmed(line.substr(semicolon + 1)), instruction)) {
    return false;
  }
  std::string_view text = trimmed(line.substr(0, semicolon));
  instruction.mnemonic = take_mnemonic(text);
  if (!is_known_family(instruction.mnemonic)) {
    return false;
  }
  const std::size_t pair = text.find("::");
  instruction.operands = trimmed(text.substr(0, pair));
  const bool is_dual = instruction.mnemonic.starts_with("v_dual_");
  if (pair != std::string_view::npos) {
    std::string_view other = trimmed(text.substr(pair + 2));
    instruction.second = take_mnemonic(other);
  }
  return is_dual == instruction.second.starts_with("v_dual_");
}

/// What may be quoted of a driver's text.
std::string shown(std::string_view line) {
  std::string text(line.substr(0, kShownCharacters));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

class Parser {
 public:
  Result<Listing> run(std::string_view text);

 private:
  /// False for a line that cannot be read.
  bool take_line(std::string_view line);

  Listing listing_;
  bool may_repeat_ = false;  ///< the line before was an instruction
};

bool Parser::take_line(std::string_view line) {
  std::vector<Instruction>& instructions = listing_.instructions;
  if (const auto repeats = parse_repeats(line)) {
    if (!may_repeat_) {
      return false;
    }
    instructions.back().times += *repeats;
    may_repeat_ = false;
    return listing_.code_bytes() <= kMaxCodeBytes;
  }
  may_repeat_ = false;
  if (is_label(line)) {
    listing_.labels.push_back({line.substr(0, line.size() - 1), listing_.code_bytes()});
    return true;
  }
  Instruction instruction;
  if (!parse_instruction(line, instruction)) {
    return false;
  }
  instruction.address = listing_.code_bytes();
  instructions.push_back(instruction);
  may_repeat_ = true;
  return listing_.code_bytes() <= kMaxCodeBytes;
}

Result<Listing> Parser::run(std::string_view text) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '\0') {
      continue;  // some drivers end their text with zeros
    }
    if (listing_.labels.empty() && !is_label(line)) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the driver's listing is not in the form of RADV's ACO (it begins "
                              "with \"{}\")",
                              shown(line)));
    }
    if (line.starts_with("/* constant data */")) {
      listing_.has_constants = true;
      break;
    }
    if (!take_line(line)) {
      return fail(ErrorCode::kCorrupt, fmt::format("line {} of the listing cannot be read: \"{}\"",
                                                   number, shown(line)));
    }
  }
  if (listing_.instructions.empty()) {
    return fail(ErrorCode::kUnsupported, "the driver's listing has no instructions");
  }
  return std::move(listing_);
}

}  // namespace

std::optional<std::size_t> Listing::at(std::uint64_t address) const {
  const auto found = std::lower_bound(
      instructions.begin(), instructions.end(), address,
      [](const Instruction& instruction, std::uint64_t a) { return instruction.address < a; });
  if (found == instructions.end() || found->address != address) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - instructions.begin());
}

std::string_view Listing::label_at(std::uint64_t address) const {
  const auto found =
      std::lower_bound(labels.begin(), labels.end(), address,
                       [](const Label& label, std::uint64_t a) { return label.address < a; });
  return found == labels.end() || found->address != address ? std::string_view() : found->name;
}

Result<Listing> parse_listing(std::string_view text) {
  return Parser().run(text);
}

}  // namespace gputrace::bench::isa
