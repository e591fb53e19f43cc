// The recorder process of one GPU, as the daemon sees it.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/message.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/service/child_process.h"

namespace gputrace::service {

struct GpuLabel {
  std::string pci;
  std::string name;
};

class RecorderChild {
 public:
  enum class State {
    kServing,
    kLeaving,  ///< told to end
    kStuck,    ///< given up: its sessions are being closed
    kDead,     ///< killed, but it hangs in the driver and stays
  };

  [[nodiscard]] static Result<std::unique_ptr<RecorderChild>> start(
      GpuLabel gpu, const recorder::ReaderFactory& open_gpu, std::int64_t now_ns);

  /// Our end of the socket of a new session.
  [[nodiscard]] Result<UniqueFd> open_session();
  /// Reads its health reports. Never waits.
  void take_reports(std::int64_t now_ns);
  /// It finishes its files and ends.
  void leave(std::int64_t deadline_ns);
  void mark_stuck(std::int64_t deadline_ns);
  void kill(std::int64_t deadline_ns);
  /// How it ended; absent while it is there.
  [[nodiscard]] std::optional<std::string> reap() const { return how_it_ended(process_); }

  /// How long it has done nothing while it should: a read that does not return, or silence.
  [[nodiscard]] double stuck_s(std::int64_t now_ns) const;
  /// "idle", "sampling", "gone", "stuck", "dead".
  [[nodiscard]] std::string state_name() const;

  void append_poll(std::vector<pollfd>& fds) const;
  [[nodiscard]] bool has_report(std::span<const pollfd> ready) const;
  [[nodiscard]] bool has_ended(std::span<const pollfd> ready) const;

  /// It can be given another session.
  [[nodiscard]] bool serves() const noexcept {
    return state_ == State::kServing && static_cast<bool>(control_);
  }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const GpuLabel& gpu() const noexcept { return gpu_; }
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid; }
  [[nodiscard]] const ipc::HealthReport& health() const noexcept { return health_; }
  /// What is to happen next to it in this state; kNever = nothing.
  [[nodiscard]] std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  void set_deadline(std::int64_t deadline_ns) noexcept { deadline_ns_ = deadline_ns; }
  /// User and system time so far.
  [[nodiscard]] std::int64_t cpu_time_ns() const;

 private:
  RecorderChild(GpuLabel gpu, ChildProcess process, UniqueFd control, std::int64_t now_ns);

  GpuLabel gpu_;
  ChildProcess process_;
  UniqueFd control_;
  ipc::HealthReport health_;
  State state_ = State::kServing;
  std::int64_t heard_ns_;
  std::int64_t deadline_ns_;
};

}  // namespace gputrace::service
