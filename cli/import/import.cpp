#include "cli/import/import.h"

#include <fmt/format.h>

#include "cli/import/radeontop.h"
#include "cli/import/radeontop_line.h"
#include "cli/import/register_csv.h"
#include "cli/import/text.h"

namespace gputrace::import {

namespace {

/// What the first lines say. radeontop's messages may stand above its first line.
Result<Format> detect(std::string_view text, const std::string& name) {
  text = without_byte_order_mark(text);
  if (text.starts_with(kRegisterCsvMagic)) {
    return Format::kRegisterCsv;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (looks_like_dump_line(rest.substr(0, end))) {
      return Format::kRadeontop;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (text.starts_with("time_ns,")) {
    return fail(ErrorCode::kUnsupported,
                printable(name) +
                    " looks like a register CSV without its first lines: put "
                    "'# gputrace-regs v1' and '# gc=VERSION' above the columns");
  }
  return fail(ErrorCode::kUnsupported,
              printable(name) +
                  " is neither a radeontop dump (radeontop -d FILE) nor a register CSV (first "
                  "line '# gputrace-regs v1'); --format says which of them it is");
}

Status add_warnings(const ImportSummary& summary, const std::string& name, SessionSink& sink) {
  std::vector<std::string> texts = summary.warnings;
  if (summary.bad_lines > 0) {
    texts.push_back(fmt::format("{} bad lines of {} were left out; the first: {}",
                                summary.bad_lines, printable(name),
                                summary.bad_line_examples.front()));
  }
  for (std::string& text : texts) {
    const store::Event event{
        .time_ns = summary.start_ns, .kind = "warning", .text = std::move(text)};
    if (const Status added = sink.add_event(event); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace

std::optional<Format> parse_format(std::string_view word) {
  if (word == "radeontop") {
    return Format::kRadeontop;
  }
  if (word == "regs-csv") {
    return Format::kRegisterCsv;
  }
  return std::nullopt;
}

std::string_view describe(Format format) {
  return format == Format::kRadeontop ? "radeontop dump" : "register CSV";
}

Result<ImportSummary> import_session(LineReader& input, const regdb::RegisterDatabase& regdb,
                                     const ImportOptions& options, SessionSink& sink) {
  const Result<std::string_view> text = input.peek();
  if (!text) {
    return tl::unexpected(text.error());
  }
  if (text->empty()) {
    return fail(ErrorCode::kCorrupt, printable(input.name()) + " is empty");
  }
  const Result<Format> format =
      options.format ? Result<Format>(*options.format) : detect(*text, input.name());
  if (!format) {
    return tl::unexpected(format.error());
  }
  Result<ImportSummary> summary = *format == Format::kRadeontop
                                      ? import_radeontop(input, regdb, options, sink)
                                      : import_register_csv(input, regdb, options, sink);
  if (!summary) {
    return summary;
  }
  if (summary->rows == 0) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} has no {}{}", printable(input.name()),
                    *format == Format::kRadeontop ? "line of a radeontop dump" : "row of samples",
                    summary->bad_lines == 0
                        ? ""
                        : fmt::format("; all {} lines are bad, the first: {}", summary->bad_lines,
                                      summary->bad_line_examples.front())));
  }
  Status status = add_warnings(*summary, input.name(), sink);
  if (status) {
    status = sink.finish(summary->end_ns);
  }
  if (!status) {
    return tl::unexpected(status.error());
  }
  return summary;
}

}  // namespace gputrace::import
