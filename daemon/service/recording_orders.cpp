// What clients tell of a recording that runs.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/service/recordings.h"

namespace gputrace::service {

namespace {

constexpr int kReadingsPerSecond = 4;
/// A client that was stopped in between may send what it has read before.
constexpr std::int64_t kOldestReadingNs = 5 * kNsPerSecond;

/// A client's own clock cannot be wrong, but what it says can.
std::int64_t own_time(std::int64_t time_ns, std::int64_t now_ns) {
  return time_ns > now_ns || time_ns < now_ns - kOldestReadingNs ? now_ns : time_ns;
}

}  // namespace

Status Recordings::stop(ipc::ClientId client, const ipc::StopOrder& order, std::int64_t now_ns) {
  const auto found = find(client);
  if (found == entries_.end()) {
    return fail(ErrorCode::kInvalidArgument, "this connection has nothing to stop");
  }
  entries_.at(found->first).ended = true;
  recorders_.stop(found->first, order, now_ns);
  return {};
}

Result<SessionId> Recordings::recording_of(ipc::ClientId client) const {
  const auto found = find(client);
  if (found == entries_.end() || found->second.live) {
    return fail(ErrorCode::kInvalidArgument, "this connection records nothing");
  }
  return found->first;
}

Status Recordings::take_processes(ipc::ClientId client, ipc::ProcessesOrder order,
                                  std::int64_t now_ns) {
  const Result<SessionId> session = recording_of(client);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  Entry& entry = entries_.at(*session);
  if (now_ns - entry.second_since_ns >= kNsPerSecond) {
    entry.second_since_ns = now_ns;
    entry.readings = 0;
  }
  if (++entry.readings > kReadingsPerSecond) {
    return {};
  }
  order.time_ns = own_time(order.time_ns, now_ns);
  // A recording that has just ended does not take it, and its client knows by then.
  static_cast<void>(recorders_.tell(*session, order));
  return {};
}

Status Recordings::switch_gpu(ipc::ClientId client, const ipc::SwitchOrder& order) {
  const Result<SessionId> session = recording_of(client);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  Entry& entry = entries_.at(*session);
  if (entry.switched) {
    return fail(ErrorCode::kInvalidArgument, "a recording changes its GPU once");
  }
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots_);
  if (!gpus) {
    return tl::unexpected<Error>(gpus.error());
  }
  const auto gpu = std::find_if(gpus->begin(), gpus->end(), [&order](const os::GpuDevice& each) {
    return each.identity.pci == order.gpu;
  });
  if (gpu == gpus->end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("cannot go on with {}: it is no GPU with the amdgpu driver of this "
                            "machine",
                            order.gpu));
  }
  if (Status status = recorders_.switch_gpu(*session, {gpu->identity.pci, gpu->identity.name});
      !status) {
    return status;
  }
  entry.switched = true;
  log_.say(LogLevel::kInfo, fmt::format("{} goes on with {}", entry.name, gpu->identity.name));
  return {};
}

Status Recordings::take_point(ipc::ClientId client, ipc::PointOrder order, std::int64_t now_ns) {
  const Result<SessionId> session = recording_of(client);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  order.time_ns = own_time(order.time_ns, now_ns);
  return recorders_.tell(*session, order)
             ? Status()
             : fail(ErrorCode::kBusy, "the recording has ended, or takes no point now");
}

std::uint32_t Recordings::mark(uid_t uid, std::string_view text, std::int64_t now_ns) const {
  return static_cast<std::uint32_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return entry.second.uid == uid && !entry.second.live &&
               recorders_.tell(entry.first, ipc::MarkOrder{now_ns, std::string(text), "mark"});
      }));
}

}  // namespace gputrace::service
