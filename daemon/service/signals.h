// SIGTERM, SIGINT and SIGHUP as messages on a descriptor, as long as this lives.
#pragma once

#include <csignal>
#include <optional>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::service {

class Signals {
 public:
  [[nodiscard]] static Result<Signals> block();
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next one; absent when none waits.
  [[nodiscard]] std::optional<int> next() const;

 private:
  Signals(UniqueFd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  UniqueFd fd_;
  sigset_t before_;
};

}  // namespace gputrace::service
