#include "daemon/service/helpers.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "daemon/service/poll_set.h"

namespace gputrace::service {

Status Helpers::start(const std::function<void()>& body, std::function<void()> done,
                      std::int64_t now_ns, std::int64_t patience_ns) {
  Result<ChildProcess> process = fork_child([&body] {
    ::setsid();
    ::prctl(PR_SET_NAME, "gputraced-help");
    keep_only_standard_descriptors();
    body();
  });
  if (!process) {
    return tl::unexpected<Error>(process.error());
  }
  helpers_.push_back({std::move(*process), std::move(done), now_ns + patience_ns, false});
  return {};
}

void Helpers::append_poll(std::vector<pollfd>& fds) const {
  for (const Helper& helper : helpers_) {
    fds.push_back({helper.process.pidfd.get(), POLLIN, 0});
  }
}

void Helpers::dispatch(std::span<const pollfd> ready, std::int64_t now_ns) {
  std::vector<std::function<void()>> done;  // each may start another helper
  for (Helper& helper : helpers_) {
    helper.ended =
        is_ready(ready, helper.process.pidfd.get()) && how_it_ended(helper.process).has_value();
    if (helper.done && (helper.ended || now_ns >= helper.deadline_ns)) {
      done.push_back(std::exchange(helper.done, nullptr));
    }
  }
  std::erase_if(helpers_, [](const Helper& helper) { return helper.ended; });
  for (const std::function<void()>& call : done) {
    call();
  }
}

std::int64_t Helpers::next_deadline_ns() const {
  std::int64_t next_ns = kNever;
  for (const Helper& helper : helpers_) {
    if (helper.done) {
      next_ns = std::min(next_ns, helper.deadline_ns);
    }
  }
  return next_ns;
}

}  // namespace gputrace::service
