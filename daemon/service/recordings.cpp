#include "daemon/service/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/os/register_source.h"
#include "daemon/sampler/sampling_loop.h"

namespace gputrace::service {

namespace {

/// A session that comes or goes may restart the loop of all others, and has threads and a socket
/// until it has ended: whoever connects anew each time must not do that without end.
constexpr double kMostStartsAtOnce = 100;
constexpr double kStartsPerSecond = 2;
/// The daemon looks through them at each request.
constexpr std::size_t kMostSessionsKept = 4096;

std::string mib(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string file_name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string stem_of(const ipc::RecordRequest& request) {
  return request.command && !request.command->empty() ? file_name_of(request.command->front())
                                                      : std::string("session");
}

/// Clients know files by their names alone.
ipc::Reply reply_of(const ipc::Answer& answer) {
  return std::visit(
      [](auto copy) -> ipc::Reply {
        if constexpr (requires { copy.file; }) {
          copy.file = file_name_of(copy.file);
        }
        return copy;
      },
      answer);
}

bool is_last(const ipc::Answer& answer) {
  return std::holds_alternative<ipc::FailedAnswer>(answer) ||
         std::holds_alternative<ipc::ClosedAnswer>(answer);
}

}  // namespace

std::map<SessionId, Recordings::Entry>::const_iterator Recordings::find(
    ipc::ClientId client) const {
  return std::find_if(entries_.begin(), entries_.end(),
                      [client](const auto& entry) { return entry.second.client == client; });
}

Status Recordings::check_start(const Caller& caller, double rate_hz) const {
  if (find(caller.client) != entries_.end()) {
    return fail(ErrorCode::kBusy, "a connection has one session at a time");
  }
  const double max_rate_hz = std::min(config_.limits.max_rate_hz, sampler::kMaxRateHz);
  if (!(rate_hz >= sampler::kMinRateHz && rate_hz <= max_rate_hz)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} Hz is not a rate from {} to {} Hz (limits.max_rate_hz of gputraced)",
                    rate_hz, sampler::kMinRateHz, max_rate_hz));
  }
  return {};
}

Status Recordings::count_start(uid_t uid, std::int64_t now_ns) {
  const auto left_now = [now_ns](const Starts& starts) {
    const double seconds = static_cast<double>(now_ns - starts.at_ns) / 1e9;
    return std::min(kMostStartsAtOnce, starts.left + seconds * kStartsPerSecond);
  };
  std::erase_if(starts_,
                [&](const auto& entry) { return left_now(entry.second) >= kMostStartsAtOnce; });
  Starts& starts = starts_.try_emplace(uid, Starts{kMostStartsAtOnce, now_ns}).first->second;
  starts = {left_now(starts), now_ns};
  if (starts.left < 1) {
    return fail(ErrorCode::kBusy,
                fmt::format("user {} began more than {} sessions of late; try again in a second",
                            uid, kMostStartsAtOnce));
  }
  starts.left -= 1;
  return {};
}

Status Recordings::check_room(uid_t uid) const {
  const Config::Limits& limits = config_.limits;
  if (count(uid) >= limits.recordings_per_user) {
    return fail(ErrorCode::kBusy,
                fmt::format("user {} has {} recordings running, and limits.recordings_per_user of "
                            "gputraced allows {}; end one first",
                            uid, count(uid), limits.recordings_per_user));
  }
  if (const std::uint64_t bytes = shelf_.bytes_of(uid); bytes >= limits.bytes_per_user) {
    return fail(ErrorCode::kNoSpace,
                fmt::format("gputraced keeps {} for user {}, and limits.bytes_per_user allows {}; "
                            "take them with `gputrace fetch`",
                            mib(bytes), uid, mib(limits.bytes_per_user)));
  }
  if (const auto kept = shelf_.sessions_of(uid); kept && kept->size() >= kMostSessionsKept) {
    return fail(ErrorCode::kNoSpace,
                fmt::format("gputraced keeps {} sessions for user {}, its limit; take them with "
                            "`gputrace fetch`",
                            kept->size(), uid));
  }
  const Result<DiskSpace> disk = shelf_.disk_space();
  if (!disk) {
    return tl::unexpected<Error>(disk.error());
  }
  if (disk->free_bytes <= limits.reserve_bytes) {
    return fail(
        ErrorCode::kNoSpace,
        fmt::format("{} are left on the disk of {}, and limits.reserve_bytes of gputraced "
                    "keeps {} free; make room there",
                    mib(disk->free_bytes), shelf_.data_dir().string(), mib(limits.reserve_bytes)));
  }
  return {};
}

Result<os::GpuDevice> Recordings::find_gpu(const std::string& selector) const {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots_);
  if (!gpus) {
    return tl::unexpected<Error>(gpus.error());
  }
  return os::select_gpu(*gpus, selector);
}

Status Recordings::record(const Caller& caller, const ipc::RecordRequest& request,
                          std::int64_t now_ns) {
  if (Status allowed = check_start(caller, request.rate_hz); !allowed) {
    return allowed;
  }
  if (const auto source = os::parse_register_source(request.source); !source) {
    return tl::unexpected<Error>(source.error());
  }
  const Result<os::GpuDevice> gpu = find_gpu(request.gpu);
  if (!gpu) {
    return tl::unexpected<Error>(gpu.error());
  }
  if (Status room = check_room(caller.uid); !room) {
    return room;
  }
  if (Status counted = count_start(caller.uid, now_ns); !counted) {
    return counted;
  }
  const Result<std::filesystem::path> file =
      shelf_.new_recording(caller.uid, stem_of(request), read_time_anchor().realtime_ns);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  ipc::StartOrder order;
  order.source = request.source;
  order.rate_hz = request.rate_hz;
  order.sensor_rate_hz = request.sensor_rate_hz;
  order.purpose = request.purpose;
  order.file = file->string();
  order.label = request.label;
  order.command = request.command;
  order.reserve_bytes = config_.limits.reserve_bytes;
  const Result<SessionId> session =
      recorders_.start({gpu->identity.pci, gpu->identity.name}, std::move(order), *this, now_ns);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  Entry& entry = entries_[*session];
  entry.client = caller.client;
  entry.uid = caller.uid;
  entry.name = file_name_of(file->string());
  log_.say(
      LogLevel::kInfo,
      fmt::format("user {} (process {}) records {} at {} Hz, source {}, into {}", caller.uid,
                  caller.pid, gpu->identity.name, request.rate_hz, request.source, file->string()));
  return {};
}

Status Recordings::subscribe(const Caller& caller, const ipc::SubscribeRequest& request,
                             std::int64_t now_ns) {
  if (Status allowed = check_start(caller, request.rate_hz); !allowed) {
    return allowed;
  }
  const Result<os::GpuDevice> gpu = find_gpu(request.gpu);
  if (!gpu) {
    return tl::unexpected<Error>(gpu.error());
  }
  if (Status counted = count_start(caller.uid, now_ns); !counted) {
    return counted;
  }
  ipc::StartOrder order;
  order.source = "auto";
  order.rate_hz = request.rate_hz;
  order.sensor_rate_hz = 0;
  order.purpose = ipc::Purpose::kLive;
  const Result<SessionId> session =
      recorders_.start({gpu->identity.pci, gpu->identity.name}, std::move(order), *this, now_ns);
  if (!session) {
    return tl::unexpected<Error>(session.error());
  }
  Entry& entry = entries_[*session];
  entry.client = caller.client;
  entry.uid = caller.uid;
  entry.live = true;
  return {};
}

void Recordings::left(ipc::ClientId client, std::int64_t now_ns) {
  const auto found = find(client);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = entries_.at(found->first);
  entry.client.reset();
  if (!entry.live && !entry.ended) {
    log_.say(LogLevel::kInfo,
             fmt::format("the client that recorded {} is gone: the file is finished", entry.name));
  }
  entry.ended = true;
  recorders_.stop(found->first, {}, now_ns);
}

void Recordings::end(SessionId session, const std::string& why, std::int64_t now_ns) {
  Entry& entry = entries_.at(session);
  if (std::exchange(entry.ended, true)) {
    return;
  }
  if (entry.client) {
    reply_(*entry.client, ipc::WarningAnswer{why, true});
  }
  recorders_.stop(session, {}, now_ns);
}

void Recordings::check_quota(std::int64_t now_ns) {
  std::set<uid_t> users;
  for (const auto& [session, entry] : entries_) {
    if (!entry.live && !entry.ended) {
      users.insert(entry.uid);
    }
  }
  for (const uid_t uid : users) {
    const std::uint64_t bytes = shelf_.bytes_of(uid);
    if (bytes <= config_.limits.bytes_per_user) {
      continue;
    }
    const std::string why = fmt::format(
        "recordings of user {} take {}, more than limits.bytes_per_user of gputraced "
        "allows ({}); this one ends here and is kept",
        uid, mib(bytes), mib(config_.limits.bytes_per_user));
    log_.say_once(LogLevel::kWarning, fmt::format("quota {}", uid), why);
    for (const auto& [session, entry] : entries_) {
      if (entry.uid == uid && !entry.live) {
        end(session, why, now_ns);
      }
    }
  }
}

void Recordings::end_all(const std::string& why, std::int64_t now_ns) {
  for (const auto& [session, entry] : entries_) {
    end(session, why, now_ns);
  }
}

void Recordings::answered(SessionId session, const ipc::Answer& answer, std::int64_t /*now_ns*/) {
  const auto found = entries_.find(session);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  if (const auto* ready = std::get_if<ipc::ReadyAnswer>(&answer)) {
    if (entry.live) {
      return;  // its windows say enough
    }
    entry.name = file_name_of(ready->file);
  }
  const std::optional<ipc::ClientId> client = entry.client;
  if (const auto* closed = std::get_if<ipc::ClosedAnswer>(&answer);
      closed != nullptr && !entry.live && !client) {
    log_.say(LogLevel::kInfo, closed->cut
                                  ? fmt::format("{} is kept, cut: {}", entry.name, *closed->cut)
                                  : entry.name + " is complete and kept");
  }
  if (is_last(answer)) {
    entries_.erase(found);
  }
  if (client) {
    reply_(*client, reply_of(answer));
  }
}

std::uint32_t Recordings::count(std::optional<uid_t> uid) const {
  return static_cast<std::uint32_t>(std::count_if(
      entries_.begin(), entries_.end(),
      [&](const auto& entry) { return !entry.second.live && (!uid || entry.second.uid == *uid); }));
}

bool Recordings::is_recording(uid_t uid, std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return !entry.second.live && entry.second.uid == uid && entry.second.name == name;
  });
}

}  // namespace gputrace::service
