#include "cli/import/register_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "cli/import/bad_lines.h"
#include "cli/import/block_builder.h"
#include "cli/import/register_csv_header.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

using sampler::SampleState;

constexpr std::uint32_t kInvalidWord = 0xffffffff;
/// Far from the end of int64, so that differences and block ends cannot overflow.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 62;
/// Time axes are divided into cells of 100 ms. A jump of years comes from a wrong unit or a broken
/// line, and would make readers work through millions of empty cells.
constexpr std::int64_t kMaxGapNs = 86'400 * kNsPerSecond;

struct Row {
  std::int64_t time_ns = 0;
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  std::array<SampleState, sampler::kMaxRegisters> states{};
  std::size_t cells = 0;            ///< register cells present
  std::size_t last_hex_digits = 0;  ///< of the last cell; 0 when that is not hexadecimal
};

std::size_t column_of(std::string_view part, std::string_view line) {
  return static_cast<std::size_t>(part.data() - line.data()) + 1;
}

bool is_hex(std::string_view word) {
  return word.starts_with("0x") || word.starts_with("0X");
}

/// The reason why `word` is none, or nullptr.
const char* parse_word(std::string_view word, std::uint32_t& out) {
  const bool hex = is_hex(word);
  const char* const end = word.data() + word.size();
  const auto [next, error] = std::from_chars(word.data() + (hex ? 2 : 0), end, out, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) {
    return " does not fit 32 bits";
  }
  if (error != std::errc{} || next != end) {
    return " is not a hexadecimal (0x...) or decimal word";
  }
  return nullptr;
}

std::optional<BadCell> parse_time(std::string_view cell, std::int64_t& out) {
  const char* const begin = cell.data();
  const char* const end = begin + cell.size();
  const auto [next, error] = std::from_chars(begin, end, out);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && out > kMaxTimeNs)) {
    return BadCell{1, "time_ns: " + excerpt(cell) + " is too large for a time in nanoseconds"};
  }
  if (error != std::errc{} || next != end || out < 0) {
    return BadCell{1, "time_ns: " + excerpt(cell) + " is not a whole number of nanoseconds"};
  }
  return std::nullopt;
}

std::optional<BadCell> parse_row(std::string_view line,
                                 std::span<const sampler::OfferedRegister> registers, Row& row) {
  row.states.fill(SampleState::kAbsent);
  row.cells = 0;
  row.last_hex_digits = 0;
  std::size_t comma = line.find(',');
  if (auto bad = parse_time(trimmed(line.substr(0, comma)), row.time_ns)) {
    return bad;
  }
  for (; comma != std::string_view::npos; ++row.cells) {
    const std::size_t begin = comma + 1;
    comma = line.find(',', begin);
    const std::string_view cell = trimmed(line.substr(begin, comma - begin));
    if (row.cells == registers.size()) {
      return BadCell{begin + 1, fmt::format("more cells than the {} columns of the header",
                                            registers.size() + 1)};
    }
    row.last_hex_digits = is_hex(cell) ? cell.size() - 2 : 0;
    if (cell.empty()) {
      continue;
    }
    std::uint32_t& word = row.words[row.cells];
    if (const char* const reason = parse_word(cell, word)) {
      return BadCell{column_of(cell, line),
                     registers[row.cells].name + ": " + excerpt(cell) + reason};
    }
    row.states[row.cells] = word == kInvalidWord ? SampleState::kAllOnes : SampleState::kValid;
  }
  return std::nullopt;
}

/// Reads the rows below the header.
class RowImporter {
 public:
  RowImporter(LineReader& input, RegisterCsvHeader header, BadLines bad_lines, SessionSink& sink)
      : input_(input), header_(std::move(header)), bad_lines_(std::move(bad_lines)), sink_(sink) {}

  Result<ImportSummary> run(const std::string& regdb_revision);

 private:
  [[nodiscard]] std::optional<BadCell> check(const Line& line);
  [[nodiscard]] std::optional<BadCell> check_time() const;
  [[nodiscard]] bool is_cut(const Line& line) const;
  Status begin(const std::string& regdb_revision);
  Status add_row();
  Result<ImportSummary> finish();

  LineReader& input_;
  RegisterCsvHeader header_;
  BadLines bad_lines_;
  SessionSink& sink_;
  Row row_;
  std::unique_ptr<BlockBuilder> blocks_;  ///< from the first good row on
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t last_gap_ns_ = 0;
  std::size_t usual_hex_digits_ = 0;  ///< of the last column in the row before
  std::uint64_t rows_ = 0;
  std::array<std::uint64_t, 8> states_{};  ///< words by SampleState
};

std::optional<BadCell> RowImporter::check_time() const {
  const std::int64_t time = row_.time_ns;
  if (!blocks_ || (time > last_ns_ && time - last_ns_ <= kMaxGapNs)) {
    return std::nullopt;
  }
  if (time == last_ns_) {
    return BadCell{1, fmt::format("time_ns: {} repeats", time)};
  }
  if (time < last_ns_) {
    return BadCell{1, fmt::format("time_ns: time runs backwards, {} after {}", time, last_ns_)};
  }
  return BadCell{1, fmt::format("time_ns: time jumps by more than a day, {} after {}; split the "
                                "file if it really does",
                                time, last_ns_)};
}

/// A recorder that was killed leaves half a line. Fewer digits than in the row before tell a cut
/// word of a padded column from a whole one; a cut decimal cannot be told.
bool RowImporter::is_cut(const Line& line) const {
  return !line.terminated &&
         (row_.cells < header_.registers.size() ||
          (row_.last_hex_digits > 0 && row_.last_hex_digits < usual_hex_digits_));
}

std::optional<BadCell> RowImporter::check(const Line& line) {
  if (line.too_long) {
    return BadCell{kMaxLineLength, "the line is too long"};
  }
  if (line.text.starts_with(kRegisterCsvMagic)) {
    return BadCell{1, "a second register CSV begins here; a session has one"};
  }
  if (auto bad = parse_row(line.text, header_.registers, row_)) {
    return bad;
  }
  if (is_cut(line)) {
    return BadCell{line.text.size() + 1, "the file ends in the middle of this line"};
  }
  return check_time();
}

Status RowImporter::begin(const std::string& regdb_revision) {
  first_ns_ = row_.time_ns;
  store::SessionDescription session;
  session.kind = store::SessionKind::kImport;
  session.origin = "register CSV " + input_.name();
  if (header_.started_realtime_ns) {
    session.started = TimeAnchor{first_ns_, first_ns_, *header_.started_realtime_ns};
  }
  store::SegmentDescription segment;
  segment.gpu.name = header_.gpu_name.empty() ? "AMD GPU" : header_.gpu_name;
  segment.gpu.gc = header_.gc;
  segment.start_ns = first_ns_;
  segment.rate_hz = header_.rate_hz;
  segment.regdb_table = header_.regdb_table;
  segment.regdb_revision = regdb_revision;
  segment.registers = header_.registers;
  segment.reason = "start";
  blocks_ = std::make_unique<BlockBuilder>(sink_, header_.registers.size(), first_ns_);
  return sink_.begin(session, segment);
}

Status RowImporter::add_row() {
  last_gap_ns_ = rows_ == 0 ? 0 : row_.time_ns - last_ns_;
  last_ns_ = row_.time_ns;
  usual_hex_digits_ = row_.last_hex_digits;
  ++rows_;
  const std::size_t count = header_.registers.size();
  for (std::size_t reg = 0; reg < count; ++reg) {
    ++states_[static_cast<std::size_t>(row_.states[reg])];
  }
  return blocks_->add(row_.time_ns, std::span(row_.words).first(count),
                      std::span(row_.states).first(count));
}

Result<ImportSummary> RowImporter::run(const std::string& regdb_revision) {
  Line line;
  for (;;) {
    const Result<bool> more = input_.next(line);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return finish();
    }
    const std::string_view text = trimmed(line.text);
    if (text.empty() || (text.front() == '#' && !text.starts_with(kRegisterCsvMagic))) {
      continue;
    }
    Status status;
    if (const auto bad = check(line)) {
      status = bad_lines_.add(line.number, *bad);
    } else {
      status = blocks_ ? Status{} : begin(regdb_revision);
      if (status) {
        status = add_row();
      }
    }
    if (!status) {
      return tl::unexpected(status.error());
    }
  }
}

Result<ImportSummary> RowImporter::finish() {
  ImportSummary summary;
  summary.format = Format::kRegisterCsv;
  summary.gc = header_.gc;
  summary.rows = rows_;
  summary.bad_lines = bad_lines_.count();
  summary.bad_line_examples = bad_lines_.examples();
  if (!blocks_) {
    return summary;
  }
  // The last sample speaks for as long as the one before did.
  const auto period_ns = std::clamp<std::int64_t>(last_gap_ns_, 1000, kNsPerSecond);
  summary.start_ns = first_ns_;
  summary.end_ns = last_ns_ + period_ns;
  for (const sampler::OfferedRegister& reg : header_.registers) {
    summary.registers.push_back(reg.name);
  }
  summary.values = states_[static_cast<std::size_t>(SampleState::kValid)];
  summary.all_ones = states_[static_cast<std::size_t>(SampleState::kAllOnes)];
  summary.absent = states_[static_cast<std::size_t>(SampleState::kAbsent)];
  if (!header_.unknown_keys.empty()) {
    summary.notes.push_back(
        fmt::format("keys without a meaning here: {}", fmt::join(header_.unknown_keys, ", ")));
  }
  if (const Status status = blocks_->finish(summary.end_ns); !status) {
    return tl::unexpected(status.error());
  }
  return summary;
}

}  // namespace

Result<ImportSummary> import_register_csv(LineReader& input, const regdb::RegisterDatabase& regdb,
                                          const ImportOptions& options, SessionSink& sink) {
  if (options.ticks) {
    return fail(ErrorCode::kUsage,
                "--ticks is for radeontop dumps; a register CSV has its samples");
  }
  BadLines bad_lines(input.name(), options.lenient);
  Result<RegisterCsvHeader> header = read_register_csv_header(input, regdb, options.gc, bad_lines);
  if (!header) {
    return tl::unexpected(header.error());
  }
  return RowImporter(input, std::move(*header), std::move(bad_lines), sink).run(regdb.revision());
}

}  // namespace gputrace::import
