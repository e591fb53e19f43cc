// gputraced's end of its socket: accepts clients, checks messages and their pace, never blocks.
// What a request means is the handler's business. One thread.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/log.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/ipc/control_message.h"

namespace gputrace::ipc {

/// Who is at the other end, as the kernel says (SO_PEERCRED, SO_PEERGROUPS): the process that
/// called connect(2), as it was then. The pid may be another's by now; it is for the log.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< supplementary
  std::string client;         ///< as it calls itself in hello: printable, and no proof of anything
};

struct ControlLimits {
  std::size_t clients = 64;
  std::size_t clients_per_user = 16;
  std::int64_t hello_ns =
      5 * kNsPerSecond;                   ///< a client that has not said hello by then is dropped
  std::size_t queued_replies = 64;        ///< a client that reads so few is dropped
  std::size_t requests_per_second = 100;  ///< more are not read before the second is over
};

using ClientId = std::uint64_t;  ///< never used twice

class ControlHandler {
 public:
  ControlHandler() = default;
  ControlHandler(const ControlHandler&) = delete;
  ControlHandler& operator=(const ControlHandler&) = delete;
  virtual ~ControlHandler() = default;

  /// After hello of the right version. An error is sent to the client, which is then dropped.
  /// Replies from here follow the hello.
  [[nodiscard]] virtual Status admit(ClientId client, const Peer& peer) = 0;
  /// Any request but hello, of an admitted client. Each needs a reply but stop, which has closed.
  virtual void handle(ClientId client, const Request& request) = 0;
  /// It closed, or was dropped; not called for disconnect() or for one that was never admitted.
  /// Its id is unknown to the server by then. Any of these may call any member of the server but
  /// dispatch().
  virtual void vanished(ClientId client) = 0;
};

class ControlServer {
 public:
  /// `listener`: a listening SOCK_SEQPACKET socket, from systemd or listen_on().
  ControlServer(UniqueFd listener, std::string daemon_name, const ControlLimits& limits,
                ControlHandler& handler, LogSink log);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  /// Adds what to wait for.
  void append_poll(std::vector<pollfd>& fds) const;
  /// Looks at those of `ready` that are its own, and at overdue clients. Handler calls happen here.
  /// `now_ns`: CLOCK_MONOTONIC.
  void dispatch(std::span<const pollfd> ready, std::int64_t now_ns);
  /// When dispatch() wants to be called without an event; 0 = at once, INT64_MAX = never.
  [[nodiscard]] std::int64_t next_deadline_ns() const;

  /// Queues a reply; a client that does not read is dropped (vanished is called from the next
  /// dispatch). Unknown ids are ignored.
  void reply(ClientId client, const Reply& reply, UniqueFd fd = {});
  /// Sends what is queued, as far as it goes without waiting, and closes.
  void disconnect(ClientId client);
  [[nodiscard]] std::size_t client_count() const;  ///< with those that have not said hello
  /// For clients that come from now on (a reloaded configuration).
  void set_limits(const ControlLimits& limits);
  /// No new clients from now on; those there stay.
  void stop_listening();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// For a daemon that systemd did not start: binds with mode 0660, sets the group, listens. Replaces
/// a socket that nobody listens on any more; kBusy when somebody does, kExists when something else
/// has that name. Changes the umask for a moment: call it before there are other threads.
/// `group`: gid_t(-1) leaves that of the process.
[[nodiscard]] Result<UniqueFd> listen_on(const std::filesystem::path& socket, gid_t group);

}  // namespace gputrace::ipc
