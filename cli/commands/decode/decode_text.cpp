#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cli/commands/decode/decode_output.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kBitsColumn = 4;
constexpr std::size_t kNameColumn = 10;
constexpr std::size_t kMeaningColumn = 34;

std::string bits_in_text(const regdb::RegisterField& field) {
  return field.width == 1 ? std::to_string(field.shift)
                          : fmt::format("{}..{}", field.shift, field.shift + field.width - 1);
}

/// Meanings may come from a user's folder, so they are escaped.
void append_wrapped(std::string& text, std::size_t indent, std::string_view words) {
  const std::string safe = report::escape_for_terminal(words, false);
  for (const std::string& line : report::wrap(std::string(indent, ' ') + safe, kWidth, indent)) {
    text += line + "\n";
  }
}

/// "    29    CP_BUSY                 meaning", the meaning on lines of its own below a long name.
void append_entry(std::string& text, std::string_view bits, std::string_view name,
                  std::string_view meaning) {
  std::string line(kBitsColumn, ' ');
  line += fmt::format("{:<{}}", bits, kNameColumn - kBitsColumn);
  line += report::escape_for_terminal(name, false);
  if (meaning.empty()) {
    text += line + "\n";
    return;
  }
  std::string wrapped;
  append_wrapped(wrapped, kMeaningColumn, meaning);
  if (report::display_width(line) < kMeaningColumn) {
    wrapped.replace(0, kMeaningColumn, fmt::format("{:<{}}", line, kMeaningColumn));
    text += wrapped;
  } else {
    text += line + "\n" + wrapped;
  }
}

std::string heading(const regdb::RegisterMap& map) {
  return map.gc ? fmt::format("GC {} (register table {})\n", regdb::to_string(*map.gc), map.table)
                : fmt::format("Register table {}\n", map.table);
}

std::string_view access_in_words(const regdb::Register& reg) {
  return reg.unprivileged ? "readable without root" : "readable by root only";
}

void append_kind(std::string& text, std::string_view title, regdb::FieldKind kind,
                 std::span<const SetField> fields) {
  for (bool first = true; const SetField& set : fields) {
    if (set.field->kind != kind) {
      continue;
    }
    if (first) {
      text += fmt::format("  {}\n", title);
      first = false;
    }
    append_entry(text, bits_in_text(*set.field),
                 kind == regdb::FieldKind::kCounter
                     ? fmt::format("{} = {}", set.field->name, set.value)
                     : set.field->name,
                 set.field->meaning);
  }
}

void append_unknown_bits(std::string& text, std::uint32_t bits) {
  if (bits == 0) {
    return;
  }
  std::vector<unsigned> numbers;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if (((bits >> bit) & 1U) != 0) {
      numbers.push_back(bit);
    }
  }
  text += fmt::format("  Set bits that no known field covers: {} (0x{:08X})\n",
                      fmt::join(numbers, ", "), bits);
}

void append_word(std::string& text, const StatusWord& word) {
  text += fmt::format("\n{} = 0x{:08X}\n", word.reg.name, word.value);
  if (is_invalid_read(word)) {
    append_wrapped(text, 2, fmt::format("{} Not decoded.", kInvalidRead));
    return;
  }
  const std::vector<SetField> fields = set_fields(word);
  const bool any_busy = std::any_of(fields.begin(), fields.end(), [](const SetField& set) {
    return set.field->kind == regdb::FieldKind::kBusy;
  });
  if (!any_busy) {
    text += "  Nothing is busy.\n";
  }
  append_kind(text, "Busy:", regdb::FieldKind::kBusy, fields);
  append_kind(text, "Clean, nothing to write back:", regdb::FieldKind::kClean, fields);
  append_kind(text, "Requests that wait (not work):", regdb::FieldKind::kRequestPending, fields);
  append_kind(text, "Numbers:", regdb::FieldKind::kCounter, fields);
  append_unknown_bits(text, unknown_bits(word));
}

bool same_fields(const regdb::Register& a, const regdb::Register& b) {
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [](const regdb::RegisterField& x, const regdb::RegisterField& y) {
                      return x.name == y.name && x.mask() == y.mask() && x.meaning == y.meaning;
                    });
}

void append_fields(std::string& text, const regdb::Register& reg) {
  for (const regdb::RegisterField& field : reg.fields) {
    append_entry(
        text, bits_in_text(field),
        fmt::format("{}  ({}, {})", field.name, to_string(field.kind), to_string(field.group)), "");
    append_wrapped(text, kNameColumn, field.meaning);
    if (!field.suggests.empty()) {
      append_wrapped(text, kNameColumn, "High: " + field.suggests);
    }
  }
}

}  // namespace

std::string decode_to_text(const DecodeContext& context, std::span<const StatusWord> words) {
  std::string text = heading(context.map);
  if (!context.gc_note.empty()) {
    append_wrapped(text, 0, context.gc_note);
  }
  for (const StatusWord& word : words) {
    append_word(text, word);
  }
  return text;
}

std::string tables_to_text(std::span<const ListedTable> tables) {
  std::string text;
  for (const ListedTable& table : tables) {
    append_wrapped(text, 0, fmt::format("GC {}", fmt::join(table.versions, ", ")));
    text += fmt::format("  register table {}\n", table.map.table);
    for (const regdb::Register& reg : table.map.registers) {
      text += fmt::format("  {:<18}0x{:04x}  {:>2} fields, {}\n", reg.name, reg.dword_offset,
                          reg.fields.size(), access_in_words(reg));
    }
    text += "\n";
  }
  text += "Offsets count dwords. `gputrace decode --list --gc VERSION` lists the fields.\n";
  return text;
}

std::string fields_to_text(const regdb::RegisterMap& map) {
  std::string text = heading(map);
  for (auto reg = map.registers.begin(); reg != map.registers.end(); ++reg) {
    text +=
        fmt::format("\n{}  0x{:04x}, {}\n", reg->name, reg->dword_offset, access_in_words(*reg));
    const auto like = std::find_if(map.registers.begin(), reg, [&](const regdb::Register& other) {
      return same_fields(other, *reg);
    });
    if (like != reg) {
      text += fmt::format("  The same fields as {}.\n", like->name);
    } else {
      append_fields(text, *reg);
    }
  }
  return text;
}

}  // namespace gputrace::commands
