#include "daemon/service/clients.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/time.h"

namespace gputrace::service {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string gc_text(const os::GpuDevice& gpu) {
  const auto& gc = gpu.identity.gc;
  return gc ? fmt::format("{}.{}.{}", gc->major, gc->minor, gc->revision) : std::string();
}

}  // namespace

Status Clients::admit(ipc::ClientId client, const ipc::Peer& peer) {
  const uid_t own = ::geteuid();
  if (own != 0 && peer.uid != 0 && peer.uid != own) {
    // Its group may be one of many users.
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("this gputraced runs as user {} and serves that user alone", own));
  }
  const bool member = peer.gid == parts_.group || std::find(peer.groups.begin(), peer.groups.end(),
                                                            parts_.group) != peer.groups.end();
  if (peer.uid != 0 && peer.uid != own && !member) {
    return fail(ErrorCode::kPermissionDenied,
                fmt::format("user {} is not in the group {} of gputraced; an administrator can "
                            "change that with `usermod -aG {} USER`, then log in again",
                            peer.uid, parts_.config.group, parts_.config.group));
  }
  callers_[client] = {client, peer.uid, peer.pid};
  return {};
}

void Clients::vanished(ipc::ClientId client) {
  callers_.erase(client);
  parts_.recordings.left(client, monotonic_now_ns());
}

void Clients::handle(ipc::ClientId client, const ipc::Request& request) {
  const auto found = callers_.find(client);
  if (found == callers_.end()) {
    return;
  }
  const Caller caller = found->second;
  const auto answer = [&](const Result<ipc::Reply>& reply) {
    parts_.reply(client, reply ? *reply : ipc::FailedAnswer{reply.error()}, {});
  };
  const auto only_failure = [&](const Status& status) {
    if (!status) {
      parts_.reply(client, ipc::FailedAnswer{status.error()}, {});
    }
  };
  std::visit(
      Overloaded{
          [&](const ipc::HelloRequest&) {
            answer(fail(ErrorCode::kInvalidArgument, "hello has been said"));
          },
          [&](const ipc::GpusRequest&) { answer(gpus()); },
          [&](const ipc::StatusRequest&) { answer(status(caller.uid)); },
          [&](const ipc::RecordRequest& record_request) {
            only_failure(record(caller, record_request));
          },
          [&](const ipc::SubscribeRequest& subscribe_request) {
            only_failure(subscribe(caller, subscribe_request));
          },
          [&](const ipc::MarkRequest& mark) {
            answer(ipc::MarkedReply{
                parts_.recordings.mark(caller.uid, mark.text, monotonic_now_ns())});
          },
          [&](const ipc::StopOrder& stop) {
            only_failure(parts_.recordings.stop(client, stop, monotonic_now_ns()));
          },
          [&](const ipc::ProcessesOrder& processes) {
            only_failure(parts_.recordings.take_processes(client, processes, monotonic_now_ns()));
          },
          [&](const ipc::SwitchOrder& order) {
            only_failure(parts_.recordings.switch_gpu(client, order));
          },
          [&](const ipc::PointOrder& point) {
            only_failure(parts_.recordings.take_point(client, point, monotonic_now_ns()));
          },
          [&](const ipc::SessionsRequest&) { answer(sessions(caller.uid)); },
          [&](const ipc::FetchRequest& wanted) { only_failure(fetch(caller, wanted.name)); },
          [&](const ipc::DoneRequest& done) { answer(remove(caller.uid, done.name)); },
      },
      request);
}

Status Clients::record(const Caller& caller, const ipc::RecordRequest& request) {
  if (ending_) {
    return fail(ErrorCode::kBusy, "gputraced is about to end");
  }
  return parts_.recordings.record(caller, request, monotonic_now_ns());
}

Status Clients::subscribe(const Caller& caller, const ipc::SubscribeRequest& request) {
  if (ending_) {
    return fail(ErrorCode::kBusy, "gputraced is about to end");
  }
  return parts_.recordings.subscribe(caller, request, monotonic_now_ns());
}

Result<ipc::Reply> Clients::gpus() const {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(parts_.roots);
  if (!gpus) {
    return tl::unexpected<Error>(gpus.error());
  }
  ipc::GpusReply reply;
  for (const os::GpuDevice& gpu : *gpus) {
    if (reply.gpus.size() == ipc::kMaxGpus) {
      break;
    }
    reply.gpus.push_back(
        {gpu.identity.name, gpu.identity.pci, gpu.card, gc_text(gpu), gpu.runtime_status});
  }
  return reply;
}

ipc::StatusReply Clients::status(uid_t uid) const {
  const Config::Limits& limits = parts_.config.limits;
  ipc::StatusReply reply;
  reply.recorders = parts_.recorders.entries();
  reply.recordings = parts_.recordings.count();
  reply.your_recordings = parts_.recordings.count(uid);
  reply.your_bytes = parts_.shelf.bytes_of(uid);
  reply.your_byte_limit = limits.bytes_per_user;
  reply.reserve_bytes = limits.reserve_bytes;
  reply.problems = parts_.recorders.problems();
  if (const Result<DiskSpace> disk = parts_.shelf.disk_space()) {
    reply.free_bytes = disk->free_bytes;
    if (disk->free_bytes <= limits.reserve_bytes) {
      reply.problems.push_back(fmt::format("the disk of {} is full: nothing is recorded",
                                           parts_.shelf.data_dir().string()));
    }
  } else {
    reply.problems.push_back(disk.error().message);
  }
  parts_.complete_status(reply);
  return reply;
}

Result<ipc::Reply> Clients::sessions(uid_t uid) const {
  const Result<std::vector<ShelvedSession>> sessions = parts_.shelf.sessions_of(uid);
  if (!sessions) {
    return tl::unexpected<Error>(sessions.error());
  }
  ipc::SessionsReply reply;
  for (const ShelvedSession& session : *sessions) {
    if (reply.sessions.size() == ipc::kMaxSessionsListed) {
      ++reply.left_out;
      continue;
    }
    reply.sessions.push_back({session.name, session.bytes, session.written_realtime_ns,
                              parts_.recordings.is_recording(uid, session.name)});
  }
  return reply;
}

Status Clients::check_at_rest(uid_t uid, const std::string& name) const {
  return parts_.recordings.is_recording(uid, name)
             ? Status(fail(ErrorCode::kBusy, name + " is still being recorded"))
             : Status{};
}

Status Clients::fetch(const Caller& caller, const std::string& name) const {
  if (Status at_rest = check_at_rest(caller.uid, name); !at_rest) {
    return at_rest;
  }
  Result<UniqueFd> file = parts_.shelf.open_read_only(caller.uid, name);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  struct stat info{};
  if (::fstat(file->get(), &info) != 0) {
    return fail_errno(errno, "cannot stat " + name);
  }
  parts_.reply(caller.client, ipc::SessionFileReply{name, static_cast<std::uint64_t>(info.st_size)},
               std::move(*file));
  return {};
}

Result<ipc::Reply> Clients::remove(uid_t uid, const std::string& name) const {
  if (const Status at_rest = check_at_rest(uid, name); !at_rest) {
    return tl::unexpected<Error>(at_rest.error());
  }
  if (const Status removed = parts_.shelf.remove(uid, name); !removed) {
    return tl::unexpected<Error>(removed.error());
  }
  return ipc::RemovedReply{name};
}

}  // namespace gputrace::service
