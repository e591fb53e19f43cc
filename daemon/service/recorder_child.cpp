#include "daemon/service/recorder_child.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/ipc/recorder_control.h"
#include "daemon/ipc/seqpacket.h"
#include "daemon/recorder/recorder.h"
#include "daemon/service/poll_set.h"

namespace gputrace::service {

namespace {

constexpr int kMaxReportsAtOnce = 64;
/// Reports come each second; a process that is only late is heard of by then.
constexpr double kSilenceS = 5;

Result<std::pair<UniqueFd, UniqueFd>> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno(errno, "cannot make a socket for a recorder");
  }
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

}  // namespace

RecorderChild::RecorderChild(GpuLabel gpu, ChildProcess process, UniqueFd control,
                             std::int64_t now_ns)
    : gpu_(std::move(gpu)),
      process_(std::move(process)),
      control_(std::move(control)),
      heard_ns_(now_ns),
      deadline_ns_(kNever) {}

Result<std::unique_ptr<RecorderChild>> RecorderChild::start(GpuLabel gpu,
                                                            const recorder::ReaderFactory& open_gpu,
                                                            std::int64_t now_ns) {
  Result<std::pair<UniqueFd, UniqueFd>> ends = socket_pair();
  if (!ends) {
    return tl::unexpected<Error>(ends.error());
  }
  auto& [ours, theirs] = *ends;
  Result<ChildProcess> process = fork_child([&open_gpu, &theirs = theirs] {
    recorder::run_shared_recorder(std::move(theirs), {open_gpu, {}});
  });
  if (!process) {
    return fail(process.error(), "no recorder for " + gpu.name);
  }
  return std::unique_ptr<RecorderChild>(
      new RecorderChild(std::move(gpu), std::move(*process), std::move(ours), now_ns));
}

Result<UniqueFd> RecorderChild::open_session() {
  Result<std::pair<UniqueFd, UniqueFd>> ends = socket_pair();
  if (!ends) {
    return tl::unexpected<Error>(ends.error());
  }
  if (const Status sent = ipc::send_session_socket(control_.get(), ends->second); !sent) {
    return fail(sent.error(), "the recorder of " + gpu_.name + " takes no session");
  }
  return std::move(ends->first);
}

void RecorderChild::take_reports(std::int64_t now_ns) {
  for (int i = 0; i < kMaxReportsAtOnce && control_; ++i) {
    Result<std::optional<ipc::Packet>> packet = ipc::receive_packet(control_.get(), ipc::Wait::kNo);
    if (!packet && packet.error().code != ErrorCode::kCorrupt) {
      return;
    }
    if (!packet) {
      continue;
    }
    const std::optional<ipc::Packet>& received = *packet;
    if (!received) {
      control_.reset();  // it is about to end
      return;
    }
    if (const Result<ipc::HealthReport> report = ipc::decode_health(received->bytes)) {
      health_ = *report;
      heard_ns_ = now_ns;
    }
  }
}

void RecorderChild::leave(std::int64_t deadline_ns) {
  state_ = State::kLeaving;
  deadline_ns_ = deadline_ns;
  control_.reset();
}

void RecorderChild::mark_stuck(std::int64_t deadline_ns) {
  state_ = State::kStuck;
  deadline_ns_ = deadline_ns;
}

void RecorderChild::kill(std::int64_t deadline_ns) {
  // Our child that has not been waited for: the number cannot have been given to another process.
  ::kill(process_.pid, SIGKILL);
  state_ = State::kDead;
  deadline_ns_ = deadline_ns;
}

double RecorderChild::stuck_s(std::int64_t now_ns) const {
  const double silence_s = static_cast<double>(now_ns - heard_ns_) / 1e9;
  return health_.stuck_s + (silence_s > kSilenceS ? silence_s - kSilenceS : 0);
}

std::string RecorderChild::state_name() const {
  switch (state_) {
    case State::kStuck:
      return "stuck";
    case State::kDead:
      return "dead";
    case State::kServing:
    case State::kLeaving:
      break;
  }
  if (!health_.present) {
    return "gone";
  }
  return health_.rate_hz > 0 ? "sampling" : "idle";
}

void RecorderChild::append_poll(std::vector<pollfd>& fds) const {
  fds.push_back({process_.pidfd.get(), POLLIN, 0});
  if (control_) {
    fds.push_back({control_.get(), POLLIN, 0});
  }
}

bool RecorderChild::has_report(std::span<const pollfd> ready) const {
  return control_ && is_ready(ready, control_.get());
}

bool RecorderChild::has_ended(std::span<const pollfd> ready) const {
  return is_ready(ready, process_.pidfd.get());
}

std::int64_t RecorderChild::cpu_time_ns() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process_.pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

}  // namespace gputrace::service
