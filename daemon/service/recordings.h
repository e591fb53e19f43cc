// The sessions of clients: recordings, within the limits of their users, and live windows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/ipc/control_message.h"
#include "daemon/ipc/control_server.h"
#include "daemon/os/gpu_device.h"
#include "daemon/service/cause_log.h"
#include "daemon/service/config.h"
#include "daemon/service/recorders.h"
#include "daemon/service/session_shelf.h"

namespace gputrace::service {

struct Caller {
  ipc::ClientId client = 0;
  uid_t uid = 0;
  pid_t pid = 0;
};

class Recordings final : public SessionOwner {
 public:
  using SendReply = std::function<void(ipc::ClientId, const ipc::Reply&)>;

  Recordings(Recorders& recorders, SessionShelf& shelf, const Config& config,
             const os::SystemRoots& roots, SendReply reply, CauseLog& log)
      : recorders_(recorders),
        shelf_(shelf),
        config_(config),
        roots_(roots),
        reply_(std::move(reply)),
        log_(log) {}

  /// The answers come later, from the recorder.
  [[nodiscard]] Status record(const Caller& caller, const ipc::RecordRequest& request,
                              std::int64_t now_ns);
  [[nodiscard]] Status subscribe(const Caller& caller, const ipc::SubscribeRequest& request,
                                 std::int64_t now_ns);
  [[nodiscard]] Status stop(ipc::ClientId client, const ipc::StopOrder& order, std::int64_t now_ns);
  /// Into the recording of this client; more than 4 a second are let fall.
  [[nodiscard]] Status take_processes(ipc::ClientId client, ipc::ProcessesOrder order,
                                      std::int64_t now_ns);
  /// Once a recording.
  [[nodiscard]] Status switch_gpu(ipc::ClientId client, const ipc::SwitchOrder& order);
  /// Into the recording of this client; the recorder answers.
  [[nodiscard]] Status take_point(ipc::ClientId client, ipc::PointOrder order, std::int64_t now_ns);
  /// Returns how many recordings of the user took it.
  [[nodiscard]] std::uint32_t mark(uid_t uid, std::string_view text, std::int64_t now_ns) const;
  /// The client is gone: its session ends, and its file is finished.
  void left(ipc::ClientId client, std::int64_t now_ns);
  /// Ends recordings of users whose files have outgrown their limit.
  void check_quota(std::int64_t now_ns);
  void end_all(const std::string& why, std::int64_t now_ns);

  void answered(SessionId session, const ipc::Answer& answer, std::int64_t now_ns) override;

  /// Of everybody, or of one user.
  [[nodiscard]] std::uint32_t count(std::optional<uid_t> uid = std::nullopt) const;
  [[nodiscard]] bool is_recording(uid_t uid, std::string_view name) const;

 private:
  struct Entry {
    std::optional<ipc::ClientId> client;  ///< absent: it is gone
    uid_t uid = 0;
    bool live = false;
    bool ended = false;  ///< told to stop
    std::string name;    ///< of the file
    bool switched = false;
    std::int64_t second_since_ns = 0;  ///< of `readings`
    int readings = 0;                  ///< of processes
  };

  [[nodiscard]] Status check_start(const Caller& caller, double rate_hz) const;
  /// Counts a start of the user; kBusy when there were too many of late.
  [[nodiscard]] Status count_start(uid_t uid, std::int64_t now_ns);
  [[nodiscard]] Status check_room(uid_t uid) const;
  [[nodiscard]] Result<os::GpuDevice> find_gpu(const std::string& selector) const;
  void end(SessionId session, const std::string& why, std::int64_t now_ns);
  [[nodiscard]] std::map<SessionId, Entry>::const_iterator find(ipc::ClientId client) const;
  /// kInvalidArgument when the client records nothing.
  [[nodiscard]] Result<SessionId> recording_of(ipc::ClientId client) const;

  struct Starts {
    double left = 0;  ///< at `at_ns`
    std::int64_t at_ns = 0;
  };

  Recorders& recorders_;
  SessionShelf& shelf_;
  const Config& config_;
  const os::SystemRoots& roots_;
  SendReply reply_;
  CauseLog& log_;
  std::map<SessionId, Entry> entries_;
  std::map<uid_t, Starts> starts_;
};

}  // namespace gputrace::service
