#include "cli/commands/record/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gputrace::commands {

Result<std::vector<UniqueFd>> reserve_standard_descriptors() {
  std::vector<UniqueFd> reserved;
  for (;;) {
    UniqueFd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!fd) {
      return fail_errno(errno, "cannot open /dev/null");
    }
    if (fd.get() > STDERR_FILENO) {
      return reserved;
    }
    reserved.push_back(std::move(fd));
  }
}

}  // namespace gputrace::commands
