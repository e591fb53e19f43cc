// What `gputrace bench list` prints.
#pragma once

#include <string>

namespace gputrace::commands {

/// Each test with what it measures, needs and takes.
[[nodiscard]] std::string bench_list_text();
/// Schema gputrace.bench-list/1.
[[nodiscard]] std::string bench_list_json();

}  // namespace gputrace::commands
