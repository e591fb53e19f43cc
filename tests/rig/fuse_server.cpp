#include "tests/rig/fuse_server.h"

#include <fcntl.h>
#include <fuse_log.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "tests/rig/fuse_lowlevel.h"
#include "tests/rig/fuse_requests.h"

namespace gputrace::rig {
namespace {

// libfuse says why a mount failed only through its log. Written in mount(), by one thread.
std::string& mount_log() {
  static std::string log;
  return log;
}

void keep_log(fuse_log_level /*level*/, const char* format, va_list arguments) {
  std::array<char, 512> line{};
  const int size = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (size > 0) {
    mount_log() += line.data();
  }
}

sigset_t stop_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

int poll_timeout_ms(std::optional<std::int64_t> due_ns) {
  if (!due_ns) {
    return -1;
  }
  const std::int64_t wait_ns = std::max<std::int64_t>(*due_ns - monotonic_now_ns(), 0);
  return static_cast<int>((wait_ns + kNsPerMs - 1) / kNsPerMs);
}

}  // namespace

Status block_stop_signals() {
  const sigset_t signals = stop_signals();
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) {
    return fail_errno(errno, "cannot block the stop signals");
  }
  return {};
}

struct FuseServer::Impl {
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (session != nullptr) {
      fuse_session_unmount(session);
      fuse_session_destroy(session);
    }
    std::free(buffer.mem);
  }

  std::unique_ptr<FuseRequests> requests;
  int wake_fd = -1;
  fuse_session* session = nullptr;
  fuse_buf buffer{};
};

FuseServer::FuseServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FuseServer::FuseServer(FuseServer&&) noexcept = default;
FuseServer& FuseServer::operator=(FuseServer&&) noexcept = default;
FuseServer::~FuseServer() = default;

Result<FuseServer> FuseServer::mount(const ServerOptions& options) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    return fail_errno(errno, "the rig needs /dev/fuse");
  }
  // allow_other, so that a program that gave up root still sees the GPU; only root may ask for it.
  std::string mount_options = "fsname=gputrace-rig,subtype=gputrace-rig,default_permissions";
  if (::geteuid() == 0) {
    mount_options += ",allow_other";
  }
  std::array<std::string, 3> words{"gputrace-rig", "-o", mount_options};
  std::array<char*, 3> pointers{words[0].data(), words[1].data(), words[2].data()};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());

  auto requests = FuseRequests::make(options);
  if (!requests) {
    return tl::unexpected(requests.error());
  }
  auto impl = std::make_unique<Impl>();
  impl->requests = std::move(*requests);
  impl->wake_fd = options.wake_fd;
  const fuse_lowlevel_ops operations = FuseRequests::operations();
  mount_log().clear();
  fuse_set_log_func(keep_log);
  impl->session =
      fuse_session_new(&arguments, &operations, sizeof(operations), impl->requests.get());
  fuse_opt_free_args(&arguments);
  const bool mounted = impl->session != nullptr &&
                       fuse_session_mount(impl->session, options.mount_point.c_str()) == 0;
  fuse_set_log_func(nullptr);
  if (!mounted) {
    return fail(ErrorCode::kUnsupported,
                "cannot mount the rig at " + options.mount_point.string() + ": " + mount_log());
  }
  return FuseServer(std::move(impl));
}

Status FuseServer::run() {
  const sigset_t signals = stop_signals();
  const UniqueFd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  const int fuse_fd = fuse_session_fd(impl_->session);
  if (!signal_fd || ::fcntl(fuse_fd, F_SETFL, O_NONBLOCK) != 0) {
    return fail_errno(errno, "cannot set up the rig's loop");
  }
  std::array<pollfd, 3> wait{
      {{fuse_fd, POLLIN, 0}, {signal_fd.get(), POLLIN, 0}, {impl_->wake_fd, POLLIN, 0}}};
  while (fuse_session_exited(impl_->session) == 0) {
    if (::poll(wait.data(), wait.size(), poll_timeout_ms(impl_->requests->next_due_ns())) < 0 &&
        errno != EINTR) {
      return fail_errno(errno, "poll in the rig's loop");
    }
    if ((wait[1].revents & POLLIN) != 0) {
      break;
    }
    if ((wait[2].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      (void)!::read(impl_->wake_fd, &count, sizeof(count));
    }
    if (wait[0].revents == 0) {
      impl_->requests->idle(monotonic_now_ns());
      impl_->requests->release(monotonic_now_ns());
      continue;
    }
    const int size = fuse_session_receive_buf(impl_->session, &impl_->buffer);
    if (size > 0) {
      fuse_session_process_buf(impl_->session, &impl_->buffer);
    } else if (size == 0 || (size != -EAGAIN && size != -EINTR)) {
      break;
    }
    impl_->requests->release(monotonic_now_ns());
  }
  impl_->requests->refuse_held();
  return {};
}

}  // namespace gputrace::rig
