// What there is to say about the recorders, and a session that changes its GPU.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/service/poll_set.h"
#include "daemon/service/recorders.h"

namespace gputrace::service {

Status Recorders::check_not_hung(const GpuLabel& gpu) const {
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    if (child->gpu().pci == gpu.pci && (child->state() == RecorderChild::State::kStuck ||
                                        child->state() == RecorderChild::State::kDead)) {
      return fail(ErrorCode::kBusy,
                  fmt::format("the recorder of {} (process {}) hangs in the driver; it can be "
                              "sampled again when that process is gone, after a restart of the "
                              "machine at the latest (`dmesg` may say more)",
                              gpu.name, child->pid()));
    }
  }
  return {};
}

Status Recorders::switch_gpu(SessionId session, const GpuLabel& gpu) {
  if (Status status = check_not_hung(gpu); !status) {
    return status;
  }
  if (!tell(session, ipc::SwitchOrder{gpu.pci})) {
    return fail(ErrorCode::kBusy, "the recording is about to begin or to end");
  }
  sessions_.at(session).pci = gpu.pci;
  return {};
}

std::size_t Recorders::session_count() const {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [](const auto& entry) { return entry.second.phase != Phase::kEnded; }));
}

std::int64_t Recorders::next_deadline_ns() const {
  std::int64_t next_ns = kNever;
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    next_ns = std::min(next_ns, child->deadline_ns());
  }
  for (const auto& [id, session] : sessions_) {
    next_ns = std::min(next_ns, session.deadline_ns);
  }
  return next_ns;
}

std::vector<ipc::RecorderEntry> Recorders::entries() const {
  std::vector<ipc::RecorderEntry> entries;
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    if (child->state() == RecorderChild::State::kLeaving) {
      continue;
    }
    ipc::RecorderEntry entry;
    entry.gpu_name = child->gpu().name;
    entry.pci = child->gpu().pci;
    entry.state = child->state_name();
    entry.rate_hz = child->health().rate_hz;
    entry.sessions = static_cast<std::uint32_t>(sessions_of(*child));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<std::string> Recorders::problems() const {
  std::vector<std::string> problems;
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    const std::string state = child->state_name();
    if (state == "stuck" || state == "dead") {
      problems.push_back(fmt::format("the recorder of {} (process {}) hangs in the driver",
                                     child->gpu().name, child->pid()));
    } else if (state == "gone") {
      problems.push_back(fmt::format("{} is gone and is looked for", child->gpu().name));
    }
  }
  return problems;
}

std::vector<pid_t> Recorders::pids() const {
  std::vector<pid_t> pids;
  pids.reserve(children_.size());
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    pids.push_back(child->pid());
  }
  return pids;
}

std::set<std::filesystem::path> Recorders::files_in_use() const {
  std::set<std::filesystem::path> files;
  for (const auto& [id, session] : sessions_) {
    if (!session.file.empty() && session.phase != Phase::kEnded) {
      files.insert(session.file);
    }
  }
  return files;
}

std::int64_t Recorders::cpu_time_ns() const {
  std::int64_t total_ns = 0;
  for (const std::unique_ptr<RecorderChild>& child : children_) {
    total_ns += child->cpu_time_ns();
  }
  return total_ns;
}

}  // namespace gputrace::service
