// What clients may do, and what their requests mean.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "daemon/ipc/control_server.h"
#include "daemon/os/gpu_device.h"
#include "daemon/service/config.h"
#include "daemon/service/recorders.h"
#include "daemon/service/recordings.h"
#include "daemon/service/session_shelf.h"

namespace gputrace::service {

class Clients final : public ipc::ControlHandler {
 public:
  struct Parts {
    Recorders& recorders;
    Recordings& recordings;
    SessionShelf& shelf;
    const Config& config;
    const os::SystemRoots& roots;
    std::function<void(ipc::ClientId, const ipc::Reply&, UniqueFd)> reply;
    /// Everything but what the recorders and files say: name, uptime, background, problems.
    std::function<void(ipc::StatusReply&)> complete_status;
    gid_t group = 0;  ///< who may use the daemon, besides root and the daemon's own user
  };

  explicit Clients(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] Status admit(ipc::ClientId client, const ipc::Peer& peer) override;
  void handle(ipc::ClientId client, const ipc::Request& request) override;
  void vanished(ipc::ClientId client) override;

  /// Nothing new begins.
  void refuse_sessions() noexcept { ending_ = true; }

 private:
  [[nodiscard]] Status record(const Caller& caller, const ipc::RecordRequest& request);
  [[nodiscard]] Status subscribe(const Caller& caller, const ipc::SubscribeRequest& request);
  [[nodiscard]] Result<ipc::Reply> gpus() const;
  [[nodiscard]] ipc::StatusReply status(uid_t uid) const;
  [[nodiscard]] Result<ipc::Reply> sessions(uid_t uid) const;
  [[nodiscard]] Status fetch(const Caller& caller, const std::string& name) const;
  [[nodiscard]] Result<ipc::Reply> remove(uid_t uid, const std::string& name) const;
  [[nodiscard]] Status check_at_rest(uid_t uid, const std::string& name) const;

  Parts parts_;
  std::map<ipc::ClientId, Caller> callers_;
  bool ending_ = false;
};

}  // namespace gputrace::service
