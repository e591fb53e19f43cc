// The report as JSON, schema gputrace.report/1: docs say what each key means; a key's meaning never
// changes within a schema.
#pragma once

#include <string>

#include "cli/report/report.h"

namespace gputrace::report {

enum class JsonLayout {
  kIndented,  ///< two spaces
  kOneLine,   ///< for a stream of documents, one a line
};

/// Keys in the order of the contract, ends with a newline. Strings that are not UTF-8 get U+FFFD in
/// place of what cannot be written.
[[nodiscard]] std::string render_json(const Report& report,
                                      JsonLayout layout = JsonLayout::kIndented);

}  // namespace gputrace::report
