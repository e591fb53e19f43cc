#include "cli/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/import/amdgpu_top.h"
#include "cli/import/mangohud.h"
#include "cli/import/mangohud_columns.h"
#include "cli/import/radeontop.h"
#include "cli/import/radeontop_line.h"
#include "cli/import/register_csv.h"
#include "cli/import/text.h"

namespace gputrace::import {

namespace {

struct Known {
  Format format;
  std::string_view word;
  std::string_view description;
  std::string_view rows;  ///< "has no ..."
};
constexpr std::array<Known, 4> kFormats{{
    {Format::kRadeontop, "radeontop", "radeontop dump", "line of a radeontop dump"},
    {Format::kRegisterCsv, "regs-csv", "register CSV", "row of samples"},
    {Format::kMangoHud, "mangohud", "MangoHud log", "row of a MangoHud log"},
    {Format::kAmdgpuTop, "amdgpu_top", "amdgpu_top JSON", "object of amdgpu_top --json"},
}};

const Known& known(Format format) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(),
                                   [format](const Known& one) { return one.format == format; });
  GPUTRACE_CHECK(found != kFormats.end());
  return *found;
}

/// What the first lines say. radeontop's messages may stand above its first line.
Result<Format> detect(std::string_view text, const std::string& name) {
  text = without_byte_order_mark(text);
  if (text.starts_with(kRegisterCsvMagic)) {
    return Format::kRegisterCsv;
  }
  if (looks_like_amdgpu_top(text)) {
    return Format::kAmdgpuTop;
  }
  if (looks_like_mangohud(text)) {
    return Format::kMangoHud;
  }
  if (looks_like_mangohud_summary(text)) {
    return fail(ErrorCode::kUnsupported,
                printable(name) +
                    " is the summary that MangoHud writes beside a log; import the log itself");
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
                  " is no radeontop dump (radeontop -d FILE), no register CSV (first line '# "
                  "gputrace-regs v1'), no log of MangoHud and no output of amdgpu_top --json; "
                  "--format says which of them it is");
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

Result<ImportSummary> import_as(Format format, LineReader& input,
                                const regdb::RegisterDatabase& regdb, const ImportOptions& options,
                                SessionSink& sink) {
  switch (format) {
    case Format::kRadeontop:
      return import_radeontop(input, regdb, options, sink);
    case Format::kRegisterCsv:
      return import_register_csv(input, regdb, options, sink);
    case Format::kMangoHud:
      return import_mangohud(input, options, sink);
    case Format::kAmdgpuTop:
      return import_amdgpu_top(input, regdb, options, sink);
  }
  return fail(ErrorCode::kInvalidArgument, "a format that nobody knows");
}

}  // namespace

std::optional<Format> parse_format(std::string_view word) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(),
                                   [word](const Known& one) { return one.word == word; });
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::string_view describe(Format format) {
  return known(format).description;
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
  if (options.gpu && *format != Format::kAmdgpuTop) {
    return fail(
        ErrorCode::kUsage,
        fmt::format("--gpu is for output of amdgpu_top; a {} has one GPU", describe(*format)));
  }
  Result<ImportSummary> summary = import_as(*format, input, regdb, options, sink);
  if (!summary) {
    return summary;
  }
  if (summary->rows == 0) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("{} has no {}{}", printable(input.name()), known(*format).rows,
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
