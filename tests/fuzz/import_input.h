// Imports one input of a fuzzer in both manners and checks what every import must keep to.
#pragma once

#include <string_view>

#include "tests/cli/import/memory_sink.h"

namespace gputrace::test {

inline void import_fuzz_input(std::string_view text, import::Format format) {
  static const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  for (const bool lenient : {false, true}) {
    import::ImportOptions options;
    options.format = format;
    options.lenient = lenient;
    import::LineReader lines(import::read_memory(text), "input");
    MemorySink sink;  // aborts when a rule of the session format is broken
    const auto summary = import::import_session(lines, regdb, options, sink);
    GPUTRACE_CHECK(summary.has_value() == sink.end_ns.has_value());
    GPUTRACE_CHECK(summary || !summary.error().message.empty());
    GPUTRACE_CHECK(!summary || lenient || summary->bad_lines == 0);
  }
}

}  // namespace gputrace::test
