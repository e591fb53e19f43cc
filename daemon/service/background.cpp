#include "daemon/service/background.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/os/drm_clients.h"

namespace gputrace::service {

namespace {

constexpr std::int64_t kRetryNs = 60 * kNsPerSecond;
/// Longer than autosuspend_delay_ms, since the kernel's timer is not exact and the way to sleep
/// takes time.
constexpr double kSleepMarginS = 2;
/// What amdgpu sets where the file cannot be read (amdgpu_driver_load_kms).
constexpr std::int64_t kUsualAutosuspendMs = 5000;

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

/// The same cause may come with other figures: free bytes, the number of a process.
std::string cause_of(const std::string& pci, std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return "background " + pci + text;
}

}  // namespace

std::string local_date(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

void Background::restart(std::int64_t now_ns) {
  for (auto& [pci, watched] : watched_) {
    stop(watched, now_ns);
    watched.retry_ns = 0;
    watched.problem.clear();
  }
  next_look_ns_ = config_.background.enabled && !ended_ ? now_ns : kNever;
}

void Background::end(std::int64_t now_ns) {
  ended_ = true;
  restart(now_ns);
}

void Background::tick(std::int64_t now_ns) {
  if (now_ns < next_look_ns_) {
    return;
  }
  next_look_ns_ = now_ns + to_ns(config_.background.every_s);
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots_);
  if (!gpus) {
    log_.say_once(LogLevel::kError, "background", "background: " + gpus.error().message);
    return;
  }
  std::set<std::string> present;
  for (const os::GpuDevice& gpu : *gpus) {
    present.insert(gpu.identity.pci);
    look(gpu, watched_[gpu.identity.pci], now_ns);
  }
  for (auto& [pci, watched] : watched_) {
    if (!present.contains(pci)) {
      stop(watched, now_ns);
    }
  }
}

void Background::look(const os::GpuDevice& gpu, Watched& watched, std::int64_t now_ns) {
  watched.name = gpu.identity.name;
  const std::optional<ipc::Bursts> bursts = bursts_for(gpu);
  if (watched.session) {
    if (!bursts || watched.date != local_date(read_time_anchor().realtime_ns)) {
      stop(watched, now_ns);
    }
    return;
  }
  // Opening the node of a device that sleeps would wake it.
  if (bursts && now_ns >= watched.retry_ns && !os::is_asleep(gpu.runtime_status)) {
    start(gpu, watched, *bursts, now_ns);
  }
}

std::optional<ipc::Bursts> Background::bursts_for(const os::GpuDevice& gpu) {
  const Config::Background& config = config_.background;
  if (!os::has_runtime_power_management(gpu)) {
    return ipc::Bursts{config.burst_s, config.every_s};
  }
  std::vector<pid_t> own = recorders_.pids();
  own.push_back(::getpid());
  const std::string cause = "clients of " + gpu.identity.pci;
  const Result<std::size_t> others = os::count_other_clients(gpu, roots_, own);
  if (!others) {
    log_.say_once(LogLevel::kWarning, cause,
                  fmt::format("background: {} is left alone, since nothing says whether somebody "
                              "uses it: {}",
                              gpu.identity.name, others.error().message));
    return std::nullopt;
  }
  log_.over(cause);
  if (*others == 0) {
    return std::nullopt;
  }
  // An open node does not keep the device awake; each ioctl on it restarts the timer
  // (amdgpu_drm_ioctl, amdgpu_drv.c). A device that fell asleep in between is not touched: the
  // reader looks at runtime_status first.
  const std::int64_t delay_ms = os::autosuspend_delay_ms(gpu).value_or(kUsualAutosuspendMs);
  const double least_s = static_cast<double>(delay_ms) / 1000 + kSleepMarginS + config.burst_s;
  return ipc::Bursts{config.burst_s, std::max(config.every_s, least_s)};
}

void Background::start(const os::GpuDevice& gpu, Watched& watched, const ipc::Bursts& bursts,
                       std::int64_t now_ns) {
  const std::string& pci = gpu.identity.pci;
  const std::int64_t realtime_ns = read_time_anchor().realtime_ns;
  const Result<std::filesystem::path> file = shelf_.new_day_file(pci, realtime_ns);
  if (!file) {
    failed(pci, watched, file.error().message, now_ns);
    return;
  }
  ipc::StartOrder order;
  order.source = "auto";
  order.rate_hz = std::min(config_.background.rate_hz, config_.limits.max_rate_hz);
  order.file = file->string();
  order.purpose = ipc::Purpose::kBackground;
  order.bursts = bursts;
  order.reserve_bytes = config_.limits.reserve_bytes;
  const Result<SessionId> session =
      recorders_.start({pci, gpu.identity.name}, std::move(order), *this, now_ns);
  if (!session) {
    failed(pci, watched, session.error().message, now_ns);
    return;
  }
  watched.session = *session;
  watched.stopping = false;
  watched.date = local_date(realtime_ns);
}

void Background::stop(Watched& watched, std::int64_t now_ns) {
  if (watched.session && !std::exchange(watched.stopping, true)) {
    recorders_.stop(*watched.session, {}, now_ns);
  }
}

void Background::failed(const std::string& pci, Watched& watched, const std::string& why,
                        std::int64_t now_ns) {
  watched.retry_ns = now_ns + kRetryNs;
  watched.problem = why;
  log_.say_once(
      LogLevel::kWarning, cause_of(pci, why),
      fmt::format("background: {} is not sampled: {}; tried again each minute", watched.name, why));
}

void Background::answered(SessionId session, const ipc::Answer& answer, std::int64_t now_ns) {
  const auto found = std::find_if(watched_.begin(), watched_.end(), [session](const auto& entry) {
    return entry.second.session == session;
  });
  if (found == watched_.end()) {
    return;
  }
  auto& [pci, watched] = *found;
  if (const auto* ready = std::get_if<ipc::ReadyAnswer>(&answer)) {
    watched.problem.clear();
    log_.say(LogLevel::kInfo, fmt::format("background: {} into {}", watched.name, ready->file));
    if (const Status shared = shelf_.share_with_group(ready->file); !shared) {
      log_.say_once(LogLevel::kWarning, "share " + pci, shared.error().message);
    }
  } else if (const auto* warning = std::get_if<ipc::WarningAnswer>(&answer)) {
    log_.say_once(LogLevel::kWarning, cause_of(pci, warning->text),
                  fmt::format("background: {}: {}", watched.name, warning->text));
    if (warning->recording_ended) {
      stop(watched, now_ns);
      watched.retry_ns = now_ns + kRetryNs;
      watched.problem = warning->text;
    }
  } else if (const auto* refused = std::get_if<ipc::FailedAnswer>(&answer)) {
    watched.session.reset();
    // It fell asleep in between, which is what it should do.
    if (refused->error.code != ErrorCode::kBusy) {
      failed(pci, watched, refused->error.message, now_ns);
    }
  } else if (const auto* closed = std::get_if<ipc::ClosedAnswer>(&answer)) {
    watched.session.reset();
    if (closed->cut) {
      failed(pci, watched, *closed->cut, now_ns);
    } else if (next_look_ns_ != kNever) {
      next_look_ns_ = std::min(next_look_ns_, now_ns);  // a new day, or another configuration
    }
  }
}

std::vector<std::string> Background::problems() const {
  std::vector<std::string> problems;
  for (const auto& [pci, watched] : watched_) {
    if (!watched.problem.empty()) {
      problems.push_back(
          fmt::format("background: {} is not sampled: {}", watched.name, watched.problem));
    }
  }
  return problems;
}

}  // namespace gputrace::service
