#include "cli/commands/standard_output.h"

#include <cerrno>
#include <cstdio>

namespace gputrace::commands {

Status write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return fail_errno(errno, "cannot write to standard output");
  }
  return {};
}

}  // namespace gputrace::commands
