#include "daemon/ipc/peer.h"

#include <sys/socket.h>

#include <cerrno>

namespace gputrace::ipc {

Result<Peer> peer_of(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return fail_errno(errno, "cannot tell who a client is");
  }
  Peer peer;
  peer.pid = credentials.pid;
  peer.uid = credentials.uid;
  peer.gid = credentials.gid;
  peer.groups.resize(32);
  for (;;) {
    size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size) == 0) {
      peer.groups.resize(size / sizeof(gid_t));
      return peer;
    }
    // The kernel says how much it wanted to write.
    if (errno != ERANGE || size <= peer.groups.size() * sizeof(gid_t)) {
      return fail_errno(errno, "cannot tell the groups of a client");
    }
    peer.groups.resize(size / sizeof(gid_t));
  }
}

}  // namespace gputrace::ipc
