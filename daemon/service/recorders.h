// All recorder processes and the sessions in them. A process begins with the first session of its
// GPU and ends when there has been none for some seconds, so that a device is open only while
// somebody needs it. One that hangs is given up, and the others go on.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/control_message.h"
#include "daemon/ipc/message.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/service/cause_log.h"
#include "daemon/service/helpers.h"
#include "daemon/service/recorder_child.h"

namespace gputrace::service {

using SessionId = std::uint64_t;  ///< never used twice

class SessionOwner {
 public:
  SessionOwner() = default;
  SessionOwner(const SessionOwner&) = delete;
  SessionOwner& operator=(const SessionOwner&) = delete;
  virtual ~SessionOwner() = default;

  /// The last answer of every session is failed or closed, whatever became of its process. Called
  /// from Recorders::dispatch() alone.
  virtual void answered(SessionId session, const ipc::Answer& answer, std::int64_t now_ns) = 0;
};

class Recorders {
 public:
  Recorders(recorder::ReaderFactory open_gpu, Helpers& helpers, CauseLog& log)
      : open_gpu_(std::move(open_gpu)), helpers_(helpers), log_(log) {}

  /// `order.gpu` becomes the GPU's PCI address. kBusy: its recorder hangs.
  [[nodiscard]] Result<SessionId> start(const GpuLabel& gpu, ipc::StartOrder order,
                                        SessionOwner& owner, std::int64_t now_ns);
  /// A mark or what the processes do. False when the session cannot take it (any more).
  [[nodiscard]] bool tell(SessionId session, const ipc::Order& order) const;
  /// The session's own recorder goes on with another GPU. kBusy: the recorder of that one hangs, or
  /// the session does not run.
  [[nodiscard]] Status switch_gpu(SessionId session, const GpuLabel& gpu);
  /// The file is finished; the answer is closed. Again, or for an unknown session: nothing.
  void stop(SessionId session, const ipc::StopOrder& order, std::int64_t now_ns);
  /// Every session of a GPU.
  void mark_gpu(const std::string& pci, const ipc::MarkOrder& order) const;
  /// Every process without a session is told to end.
  void leave_all(std::int64_t now_ns);

  void append_poll(std::vector<pollfd>& fds) const;
  void dispatch(std::span<const pollfd> ready, std::int64_t now_ns);
  [[nodiscard]] std::int64_t next_deadline_ns() const;

  /// Those whose last answer has not been given.
  [[nodiscard]] std::size_t session_count() const;
  [[nodiscard]] bool has_processes() const noexcept { return !children_.empty(); }
  [[nodiscard]] std::vector<ipc::RecorderEntry> entries() const;
  /// In words, what hangs.
  [[nodiscard]] std::vector<std::string> problems() const;
  [[nodiscard]] std::vector<pid_t> pids() const;
  [[nodiscard]] std::set<std::filesystem::path> files_in_use() const;
  /// CPU time of the processes that live.
  [[nodiscard]] std::int64_t cpu_time_ns() const;

 private:
  enum class Phase {
    kStarting,
    kRunning,
    kStopping,
    kHungUp,     ///< its socket closed too early: the end of the process will say why
    kFinishing,  ///< a helper finishes the file
    kEnded,
  };
  struct Session {
    RecorderChild* child = nullptr;  ///< null when the process is gone
    UniqueFd socket;
    SessionOwner* owner = nullptr;
    std::string pci;  ///< of the GPU that it records
    std::string file;
    Phase phase = Phase::kStarting;
    bool ready = false;
    bool warned = false;
    std::string why;  ///< it was cut
    std::int64_t deadline_ns = 0;
  };

  [[nodiscard]] Result<RecorderChild*> child_for(const GpuLabel& gpu, std::int64_t now_ns);
  [[nodiscard]] Status check_not_hung(const GpuLabel& gpu) const;
  [[nodiscard]] std::size_t sessions_of(const RecorderChild& child) const;
  void take_answers(SessionId id, std::int64_t now_ns);
  void take_answer(SessionId id, ipc::Answer answer, std::int64_t now_ns);
  void look_after(RecorderChild& child, std::span<const pollfd> ready, std::int64_t now_ns);
  void check_deadline(SessionId id, std::int64_t now_ns);
  void give_up(RecorderChild& child, const std::string& why, std::int64_t now_ns);
  /// Nothing more will come of the session: warns, finishes the file, then answers closed or
  /// failed.
  void cut(SessionId id, const std::string& why, std::int64_t now_ns);
  void end(SessionId id, const ipc::Answer& last, std::int64_t now_ns);
  void warn(SessionId id, const std::string& why, std::int64_t now_ns);
  void forget_child(const RecorderChild* child, const std::string& how, std::int64_t now_ns);

  recorder::ReaderFactory open_gpu_;
  Helpers& helpers_;
  CauseLog& log_;
  std::vector<std::unique_ptr<RecorderChild>> children_;
  std::map<SessionId, Session> sessions_;
  SessionId last_id_ = 0;
};

}  // namespace gputrace::service
