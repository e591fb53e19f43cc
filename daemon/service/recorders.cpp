#include "daemon/service/recorders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/ipc/seqpacket.h"
#include "daemon/service/poll_set.h"
#include "daemon/store/session_file.h"

namespace gputrace::service {

namespace {

constexpr double kStuckS = 10;
constexpr std::int64_t kOpenPatienceNs = 20 * kNsPerSecond;
/// A reader of the file may hold up the last step for 2 s; the rest is for slow disks.
constexpr std::int64_t kStopPatienceNs = 10 * kNsPerSecond;
constexpr std::int64_t kIdleNs = 5 * kNsPerSecond;
constexpr std::int64_t kLeavePatienceNs = 15 * kNsPerSecond;
/// Together 3 s, after which `gputrace record` stops waiting for its file.
constexpr std::int64_t kStuckPatienceNs = 2 * kNsPerSecond;
constexpr std::int64_t kKillPatienceNs = kNsPerSecond;
constexpr std::int64_t kHangUpPatienceNs = kNsPerSecond;
constexpr std::int64_t kFinishPatienceNs = 2 * kNsPerSecond;
constexpr int kMaxAnswersAtOnce = 64;

std::string stuck_cause(const std::string& pci) {
  return "stuck " + pci;
}

}  // namespace

Result<SessionId> Recorders::start(const GpuLabel& gpu, ipc::StartOrder order, SessionOwner& owner,
                                   std::int64_t now_ns) {
  const Result<RecorderChild*> child = child_for(gpu, now_ns);
  if (!child) {
    return tl::unexpected<Error>(child.error());
  }
  Result<UniqueFd> socket = (*child)->open_session();
  if (!socket) {
    return tl::unexpected<Error>(socket.error());
  }
  order.gpu = gpu.pci;
  const Result<std::string> message = ipc::encode(ipc::Order(order));
  if (!message) {
    return tl::unexpected<Error>(message.error());
  }
  if (const Status sent = ipc::send_packet(socket->get(), *message); !sent) {
    return fail(sent.error(), "the recorder of " + gpu.name + " takes no order");
  }
  const SessionId id = ++last_id_;
  Session& session = sessions_[id];
  session.child = *child;
  session.socket = std::move(*socket);
  session.owner = &owner;
  session.pci = gpu.pci;
  session.file = order.file;
  session.deadline_ns = now_ns + kOpenPatienceNs;
  (*child)->set_deadline(kNever);
  return id;
}

Result<RecorderChild*> Recorders::child_for(const GpuLabel& gpu, std::int64_t now_ns) {
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    if (child->gpu().pci == gpu.pci && child->serves()) {
      return child.get();
    }
  }
  if (const Status status = check_not_hung(gpu); !status) {
    return tl::unexpected<Error>(status.error());
  }
  Result<std::unique_ptr<RecorderChild>> started = RecorderChild::start(gpu, open_gpu_, now_ns);
  if (!started) {
    return tl::unexpected<Error>(started.error());
  }
  children_.push_back(std::move(*started));
  return children_.back().get();
}

bool Recorders::tell(SessionId session, const ipc::Order& order) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.phase != Phase::kRunning) {
    return false;
  }
  const Result<std::string> message = ipc::encode(order);
  return message && ipc::send_packet(found->second.socket.get(), *message);
}

void Recorders::mark_gpu(const std::string& pci, const ipc::MarkOrder& order) const {
  for (const auto& [id, session] : sessions_) {
    if (session.pci == pci) {
      static_cast<void>(tell(id, order));
    }
  }
}

void Recorders::stop(SessionId session, const ipc::StopOrder& order, std::int64_t now_ns) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() ||
      (found->second.phase != Phase::kRunning && found->second.phase != Phase::kStarting)) {
    return;
  }
  Session& target = found->second;
  target.phase = Phase::kStopping;
  target.deadline_ns = now_ns + kStopPatienceNs;
  const Result<std::string> message = ipc::encode(ipc::Order(order));
  if (!message || !ipc::send_packet(target.socket.get(), *message)) {
    // It reads nothing any more. Without this socket it finishes the file by itself.
    target.socket.reset();
    target.deadline_ns = now_ns + kHangUpPatienceNs;
    target.phase = Phase::kHungUp;
  }
}

void Recorders::leave_all(std::int64_t now_ns) {
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    if (child->state() == RecorderChild::State::kServing && sessions_of(*child) == 0) {
      child->leave(now_ns + kLeavePatienceNs);
    }
  }
}

std::size_t Recorders::sessions_of(const RecorderChild& child) const {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
        return entry.second.child == &child && entry.second.phase != Phase::kEnded;
      }));
}

void Recorders::append_poll(std::vector<pollfd>& fds) const {
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    child->append_poll(fds);
  }
  for (const auto& [id, session] : sessions_) {
    if (session.socket) {
      fds.push_back({session.socket.get(), POLLIN, 0});
    }
  }
}

void Recorders::dispatch(std::span<const pollfd> ready, std::int64_t now_ns) {
  std::vector<SessionId> ids;
  ids.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) {
    ids.push_back(id);
  }
  // Answers first: a recorder that has ended may have left some.
  for (const SessionId id : ids) {
    if (const Session& session = sessions_.at(id);
        session.socket && is_ready(ready, session.socket.get())) {
      take_answers(id, now_ns);
    }
  }
  for (std::size_t i = 0; i < children_.size(); ++i) {
    look_after(*children_[i], ready, now_ns);
  }
  for (const SessionId id : ids) {
    check_deadline(id, now_ns);
  }
  std::erase_if(sessions_, [](const auto& entry) { return entry.second.phase == Phase::kEnded; });
  std::vector<std::pair<const RecorderChild*, std::string>> gone;
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    if (!child->has_ended(ready)) {
      continue;
    }
    if (const std::optional<std::string> how = child->reap()) {
      gone.emplace_back(child.get(), *how);
    }
  }
  for (const auto& [child, how] : gone) {
    forget_child(child, how, now_ns);
  }
}

void Recorders::take_answers(SessionId id, std::int64_t now_ns) {
  for (int i = 0; i < kMaxAnswersAtOnce; ++i) {
    Session& session = sessions_.at(id);
    if (!session.socket) {
      return;
    }
    const Result<std::optional<ipc::Packet>> packet =
        ipc::receive_packet(session.socket.get(), ipc::Wait::kNo);
    if (!packet && packet.error().code == ErrorCode::kBusy) {
      return;
    }
    if (!packet && packet.error().code == ErrorCode::kCorrupt) {
      continue;
    }
    const std::optional<ipc::Packet>* const received = packet ? &*packet : nullptr;
    if (received == nullptr || !*received) {
      session.socket.reset();
      session.phase = Phase::kHungUp;
      session.deadline_ns = now_ns + kHangUpPatienceNs;
      return;
    }
    Result<ipc::Answer> answer = ipc::decode_answer((*received)->bytes);
    if (answer) {
      take_answer(id, std::move(*answer), now_ns);
    } else {
      log_.say_once(LogLevel::kWarning, "answer", answer.error().message);
    }
  }
}

void Recorders::take_answer(SessionId id, ipc::Answer answer, std::int64_t now_ns) {
  Session& session = sessions_.at(id);
  if (const auto* ready = std::get_if<ipc::ReadyAnswer>(&answer)) {
    session.ready = true;
    session.file = ready->file;
    if (session.phase == Phase::kStarting) {
      session.phase = Phase::kRunning;
      session.deadline_ns = kNever;
    }
  } else if (std::holds_alternative<ipc::FailedAnswer>(answer) ||
             std::holds_alternative<ipc::ClosedAnswer>(answer)) {
    end(id, answer, now_ns);
    return;
  }
  session.owner->answered(id, answer, now_ns);
}

void Recorders::end(SessionId id, const ipc::Answer& last, std::int64_t now_ns) {
  Session& session = sessions_.at(id);
  session.phase = Phase::kEnded;
  session.socket.reset();
  session.deadline_ns = kNever;
  session.owner->answered(id, last, now_ns);
}

void Recorders::look_after(RecorderChild& child, std::span<const pollfd> ready,
                           std::int64_t now_ns) {
  if (child.has_report(ready)) {
    child.take_reports(now_ns);
  }
  const bool in_use = sessions_of(child) > 0;
  switch (child.state()) {
    case RecorderChild::State::kServing:
      if (in_use && child.stuck_s(now_ns) > kStuckS) {
        give_up(child,
                fmt::format("reads of {} have not returned for {:.0f} s", child.gpu().name,
                            child.stuck_s(now_ns)),
                now_ns);
      } else if (!in_use && child.deadline_ns() == kNever) {
        child.set_deadline(now_ns + kIdleNs);
      } else if (!in_use && now_ns >= child.deadline_ns()) {
        child.leave(now_ns + kLeavePatienceNs);
      }
      return;
    case RecorderChild::State::kStuck:
      if (!in_use || now_ns >= child.deadline_ns()) {
        child.kill(now_ns + kKillPatienceNs);
      }
      return;
    case RecorderChild::State::kLeaving:
      if (now_ns >= child.deadline_ns()) {
        child.kill(now_ns + kKillPatienceNs);
      }
      return;
    case RecorderChild::State::kDead:
      if (now_ns >= child.deadline_ns()) {
        child.set_deadline(kNever);
        log_.say_once(LogLevel::kError, "dead " + child.gpu().pci,
                      fmt::format("process {}, the recorder of {}, hangs in the driver and cannot "
                                  "be ended; it is left behind",
                                  child.pid(), child.gpu().name));
        for (auto& [id, session] : sessions_) {
          if (session.child == &child) {
            cut(id, session.why, now_ns);
          }
        }
      }
      return;
  }
}

void Recorders::check_deadline(SessionId id, std::int64_t now_ns) {
  Session& session = sessions_.at(id);
  if (session.deadline_ns > now_ns || session.phase == Phase::kEnded) {
    return;
  }
  RecorderChild* child = session.child;
  if (child != nullptr && child->state() == RecorderChild::State::kServing &&
      session.phase == Phase::kStarting) {
    if (child->stuck_s(now_ns) > 0) {
      give_up(*child, fmt::format("opening {} does not return", child->gpu().name), now_ns);
    } else {
      // Others record: what hangs is the file of this one.
      cut(id,
          fmt::format("the recording of {} does not begin; the disk may be slow",
                      child->gpu().name),
          now_ns);
    }
  } else if (session.phase == Phase::kHungUp || session.phase == Phase::kStopping) {
    cut(id, session.why.empty() ? "its recorder does not answer" : session.why, now_ns);
  }
}

void Recorders::give_up(RecorderChild& child, const std::string& why, std::int64_t now_ns) {
  log_.say_once(LogLevel::kError, stuck_cause(child.gpu().pci),
                fmt::format("{}: given up; process {} and its recordings end", why, child.pid()));
  child.mark_stuck(now_ns + kStuckPatienceNs);
  for (auto& [id, session] : sessions_) {
    if (session.child != &child || session.phase == Phase::kEnded) {
      continue;
    }
    session.why = why;
    if (session.ready) {
      warn(id, why, now_ns);
    }
    stop(id, {}, now_ns);
    session.deadline_ns = kNever;  // the process's counts
  }
}

void Recorders::warn(SessionId id, const std::string& why, std::int64_t now_ns) {
  Session& session = sessions_.at(id);
  if (!std::exchange(session.warned, true)) {
    session.owner->answered(id, ipc::WarningAnswer{why, true}, now_ns);
  }
}

void Recorders::cut(SessionId id, const std::string& why, std::int64_t now_ns) {
  Session& session = sessions_.at(id);
  if (session.phase == Phase::kFinishing || session.phase == Phase::kEnded) {
    return;
  }
  session.socket.reset();
  session.deadline_ns = kNever;
  session.why = why;
  if (!session.ready) {
    end(id, ipc::FailedAnswer{{ErrorCode::kIo, why}}, now_ns);
    return;
  }
  warn(id, why, now_ns);
  session.phase = Phase::kFinishing;
  const auto answer_closed = [this, id] {
    ipc::ClosedAnswer closed;
    closed.file = sessions_.at(id).file;
    closed.cut = sessions_.at(id).why;
    end(id, closed, monotonic_now_ns());
  };
  if (session.file.empty()) {
    answer_closed();
    return;
  }
  const Status started = helpers_.start(
      [file = session.file] {
        [[maybe_unused]] const auto finished = store::finish_interrupted_session(file);
      },
      answer_closed, now_ns, kFinishPatienceNs);
  if (!started) {
    answer_closed();  // fetching it finishes it
  }
}

void Recorders::forget_child(const RecorderChild* child, const std::string& how,
                             std::int64_t now_ns) {
  const std::string text =
      fmt::format("the recorder of {} (process {}) {}", child->gpu().name, child->pid(), how);
  if (child->state() == RecorderChild::State::kServing) {
    log_.say_once(LogLevel::kError, "died " + child->gpu().pci + how, text);
  } else if (child->state() == RecorderChild::State::kDead) {
    log_.say(LogLevel::kInfo, text);
    log_.over(stuck_cause(child->gpu().pci));
    log_.over("dead " + child->gpu().pci);
  }
  for (auto& [id, session] : sessions_) {
    if (session.child != child) {
      continue;
    }
    if (session.socket) {
      take_answers(id, now_ns);  // what it said at last
    }
    cut(id, session.why.empty() ? text : session.why, now_ns);
    session.child = nullptr;
  }
  std::erase_if(children_, [child](const auto& entry) { return entry.get() == child; });
}

}  // namespace gputrace::service
