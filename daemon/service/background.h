// Background monitoring: short bursts of samples of every GPU, a file a day. A device that the
// kernel suspends when idle is looked at only while somebody else has it open, and never so often
// that it could not fall asleep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/os/gpu_device.h"
#include "daemon/service/cause_log.h"
#include "daemon/service/config.h"
#include "daemon/service/poll_set.h"
#include "daemon/service/recorders.h"
#include "daemon/service/session_shelf.h"

namespace gputrace::service {

class Background final : public SessionOwner {
 public:
  /// `config` may change between calls.
  Background(Recorders& recorders, SessionShelf& shelf, const Config& config,
             const os::SystemRoots& roots, CauseLog& log)
      : recorders_(recorders), shelf_(shelf), config_(config), roots_(roots), log_(log) {}

  /// Looks at every GPU when it is time to.
  void tick(std::int64_t now_ns);
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return next_look_ns_; }
  /// The GPUs have changed.
  void look_again(std::int64_t now_ns) {
    next_look_ns_ = next_look_ns_ == kNever ? kNever : now_ns;
  }
  /// The configuration has changed: sessions begin anew.
  void restart(std::int64_t now_ns);
  void end(std::int64_t now_ns);

  void answered(SessionId session, const ipc::Answer& answer, std::int64_t now_ns) override;
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  struct Watched {
    std::string name;
    std::optional<SessionId> session;
    std::string date;  ///< of its file
    bool stopping = false;
    std::int64_t retry_ns = 0;  ///< not before
    std::string problem;
  };

  void look(const os::GpuDevice& gpu, Watched& watched, std::int64_t now_ns);
  /// How often it may be looked at; absent: not now.
  [[nodiscard]] std::optional<ipc::Bursts> bursts_for(const os::GpuDevice& gpu);
  void start(const os::GpuDevice& gpu, Watched& watched, const ipc::Bursts& bursts,
             std::int64_t now_ns);
  void stop(Watched& watched, std::int64_t now_ns);
  void failed(const std::string& pci, Watched& watched, const std::string& why,
              std::int64_t now_ns);

  Recorders& recorders_;
  SessionShelf& shelf_;
  const Config& config_;
  const os::SystemRoots& roots_;
  CauseLog& log_;
  std::map<std::string, Watched> watched_;  ///< by PCI address
  std::int64_t next_look_ns_ = kNever;
  bool ended_ = false;
};

/// The local date, "2026-11-30".
[[nodiscard]] std::string local_date(std::int64_t realtime_ns);

}  // namespace gputrace::service
