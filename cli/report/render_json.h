// The report as JSON, schema gputrace.report/1: docs say what each key means; a key's meaning never
// changes within a schema.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/report/report.h"
#include "daemon/base/result.h"

namespace gputrace::report {

enum class JsonLayout {
  kIndented,  ///< two spaces
  kOneLine,   ///< for a stream of documents, one a line
};

/// Takes the text part by part. Its error ends the text.
using JsonSink = std::function<Status(std::string_view part)>;

/// Keys in the order of the contract, ends with a newline. Strings that are not UTF-8 get U+FFFD in
/// place of what cannot be written. A day has tens of megabytes, of which one phase at a time is in
/// memory.
Status write_json(const Report& report, JsonLayout layout, const JsonSink& write);
/// All of it at once.
[[nodiscard]] std::string render_json(const Report& report,
                                      JsonLayout layout = JsonLayout::kIndented);

}  // namespace gputrace::report
