#include "daemon/service/service.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/ipc/control_server.h"
#include "daemon/service/background.h"
#include "daemon/service/cause_log.h"
#include "daemon/service/clients.h"
#include "daemon/service/device_watch.h"
#include "daemon/service/helpers.h"
#include "daemon/service/poll_set.h"
#include "daemon/service/recorders.h"
#include "daemon/service/recordings.h"
#include "daemon/service/signals.h"

namespace gputrace::service {

namespace {

/// Of the 2 s in which it has to end.
constexpr std::int64_t kEndPatienceNs = 1800 * kNsPerMs;
constexpr std::int64_t kQuotaEveryNs = 5 * kNsPerSecond;
constexpr std::int64_t kRetentionEveryNs = 600 * kNsPerSecond;
constexpr std::int64_t kRetentionPatienceNs = 300 * kNsPerSecond;
/// Files of a daemon that was killed are finished before it is ready, unless that takes long.
constexpr std::int64_t kFinishPatienceNs = kNsPerSecond;

template <class... Args>
void tell(const std::function<void(Args...)>& notice, std::common_type_t<Args>... args) {
  if (notice) {
    notice(args...);
  }
}

class Service {
 public:
  Service(ServiceOptions options, Signals signals)
      : options_(std::move(options)),
        signals_(std::move(signals)),
        log_(options_.log),
        recorders_(options_.open_gpu, helpers_, log_),
        recordings_(
            recorders_, options_.shelf, options_.config, options_.roots,
            [this](ipc::ClientId client, const ipc::Reply& reply) {
              server_->reply(client, reply);
            },
            log_),
        clients_({recorders_, recordings_, options_.shelf, options_.config, options_.roots,
                  [this](ipc::ClientId client, const ipc::Reply& reply, UniqueFd fd) {
                    server_->reply(client, reply, std::move(fd));
                  },
                  [this](ipc::StatusReply& reply) { complete(reply); }, options_.group}),
        background_(recorders_, options_.shelf, options_.config, options_.roots, log_),
        devices_(
            std::move(options_.uevents), recorders_, options_.roots,
            [this] { look_at_gpus_ = true; }, log_) {}

  void run();

 private:
  void begin();
  void wait_and_dispatch();
  void take_signals();
  void do_what_is_due(std::int64_t now_ns);
  void reload();
  void begin_to_end(std::int64_t now_ns);
  void start_retention(std::int64_t now_ns);
  [[nodiscard]] bool has_ended(std::int64_t now_ns) const;
  [[nodiscard]] std::int64_t next_deadline_ns() const;
  void say_ready();
  void say_status();
  [[nodiscard]] std::string status_line() const;
  void complete(ipc::StatusReply& reply) const;

  ServiceOptions options_;
  Signals signals_;
  CauseLog log_;
  Helpers helpers_;
  Recorders recorders_;
  Recordings recordings_;
  Clients clients_;
  Background background_;
  DeviceWatch devices_;
  std::unique_ptr<ipc::ControlServer> server_;

  std::int64_t started_ns_ = monotonic_now_ns();
  std::int64_t quota_ns_ = started_ns_ + kQuotaEveryNs;
  std::int64_t retention_ns_ = kNever;
  std::int64_t watchdog_ns_ = kNever;
  std::int64_t end_ns_ = kNever;  ///< ends by then
  bool is_ready_ = false;
  bool look_at_gpus_ = false;
  std::string said_status_;
};

void Service::run() {
  begin();
  while (!has_ended(monotonic_now_ns())) {
    wait_and_dispatch();
  }
  server_.reset();  // what was replied lies in the clients' sockets
}

void Service::begin() {
  const Config::Limits& limits = options_.config.limits;
  ipc::ControlLimits control;
  control.clients = limits.clients;
  control.clients_per_user = limits.clients_per_user;
  server_ = std::make_unique<ipc::ControlServer>(std::move(options_.listener), options_.name,
                                                 control, clients_, options_.log);
  if (options_.notices.watchdog_interval_ns) {
    watchdog_ns_ = started_ns_;
  }
  const auto ready = [this] {
    if (end_ns_ != kNever) {
      return;
    }
    is_ready_ = true;
    say_ready();
    const std::int64_t now_ns = monotonic_now_ns();
    retention_ns_ = now_ns;
    background_.restart(now_ns);
  };
  const Status helped = helpers_.start(
      [data_dir = options_.shelf.data_dir(), group = options_.group, log = options_.log] {
        if (Result<SessionShelf> shelf = SessionShelf::open(data_dir, group)) {
          shelf->finish_interrupted(log);
        } else {
          log(LogLevel::kError, shelf.error().message);
        }
      },
      ready, started_ns_, kFinishPatienceNs);
  if (!helped) {
    log_.say(LogLevel::kError, helped.error().message);
    ready();
  }
}

void Service::wait_and_dispatch() {
  std::vector<pollfd> fds{{signals_.fd(), POLLIN, 0}};
  server_->append_poll(fds);
  recorders_.append_poll(fds);
  helpers_.append_poll(fds);
  devices_.append_poll(fds);
  const std::int64_t next_ns = next_deadline_ns();
  timespec timeout{};
  if (next_ns != kNever) {
    const std::int64_t wait_ns = std::max<std::int64_t>(0, next_ns - monotonic_now_ns());
    timeout.tv_sec = wait_ns / kNsPerSecond;
    timeout.tv_nsec = wait_ns % kNsPerSecond;
  }
  if (::ppoll(fds.data(), fds.size(), next_ns == kNever ? nullptr : &timeout, nullptr) < 0) {
    GPUTRACE_CHECK(errno == EINTR || errno == ENOMEM);
    return;
  }
  const std::int64_t now_ns = monotonic_now_ns();
  take_signals();
  helpers_.dispatch(fds, now_ns);
  recorders_.dispatch(fds, now_ns);
  devices_.dispatch(fds, now_ns);
  server_->dispatch(fds, now_ns);
  do_what_is_due(now_ns);
}

void Service::take_signals() {
  while (const std::optional<int> signal = signals_.next()) {
    if (*signal == SIGHUP) {
      reload();
    } else if (end_ns_ == kNever) {
      begin_to_end(monotonic_now_ns());
    }
  }
}

void Service::do_what_is_due(std::int64_t now_ns) {
  if (now_ns >= watchdog_ns_) {
    watchdog_ns_ = now_ns + options_.notices.watchdog_interval_ns.value_or(kNsPerSecond);
    tell(options_.notices.watchdog);
  }
  if (now_ns >= quota_ns_) {
    quota_ns_ = now_ns + kQuotaEveryNs;
    recordings_.check_quota(now_ns);
  }
  if (now_ns >= retention_ns_) {
    retention_ns_ = now_ns + kRetentionEveryNs;
    start_retention(now_ns);
  }
  if (std::exchange(look_at_gpus_, false)) {
    background_.look_again(now_ns);
  }
  background_.tick(now_ns);
  if (end_ns_ != kNever) {
    recorders_.leave_all(now_ns);
  }
  say_status();
}

std::int64_t Service::next_deadline_ns() const {
  return std::min({server_->next_deadline_ns(), recorders_.next_deadline_ns(),
                   helpers_.next_deadline_ns(), background_.next_deadline_ns(), quota_ns_,
                   retention_ns_, watchdog_ns_, end_ns_});
}

void Service::start_retention(std::int64_t now_ns) {
  const auto body = [data_dir = options_.shelf.data_dir(), group = options_.group,
                     retention = options_.config.retention, in_use = recorders_.files_in_use(),
                     log = options_.log] {
    Result<SessionShelf> shelf = SessionShelf::open(data_dir, group);
    if (!shelf) {
      log(LogLevel::kError, shelf.error().message);
      return;
    }
    for (const std::filesystem::path& file :
         shelf->apply_retention(retention, read_time_anchor().realtime_ns, in_use, log)) {
      log(LogLevel::kInfo, "deleted " + file.string() + " (retention)");
    }
  };
  if (const Status started = helpers_.start(body, {}, now_ns, kRetentionPatienceNs); !started) {
    log_.say_once(LogLevel::kError, "retention", started.error().message);
  }
}

void Service::reload() {
  if (is_ready_) {
    tell(options_.notices.reloading);
  }
  Result<Config> loaded = options_.reload
                              ? options_.reload()
                              : fail(ErrorCode::kUnsupported, "there is no configuration file");
  if (!loaded) {
    log_.say(LogLevel::kError, "the configuration stays as it was: " + loaded.error().message);
  } else {
    Config& config = options_.config;
    const bool needs_restart =
        loaded->socket != config.socket || loaded->data_dir != config.data_dir ||
        loaded->group != config.group || loaded->limits.clients != config.limits.clients ||
        loaded->limits.clients_per_user != config.limits.clients_per_user;
    if (needs_restart) {
      log_.say(LogLevel::kWarning,
               "another socket, data_dir, group or number of clients takes a restart of gputraced");
    }
    loaded->socket = config.socket;
    loaded->data_dir = config.data_dir;
    loaded->group = config.group;
    const bool new_background = loaded->background != config.background;
    config = std::move(*loaded);
    log_.say(LogLevel::kInfo, "the configuration was read again");
    const std::int64_t now_ns = monotonic_now_ns();
    if (new_background && is_ready_) {
      background_.restart(now_ns);
    }
    if (is_ready_ && end_ns_ == kNever) {
      retention_ns_ = std::min(retention_ns_, now_ns);
    }
  }
  if (is_ready_) {
    say_ready();
  }
}

void Service::begin_to_end(std::int64_t now_ns) {
  end_ns_ = now_ns + kEndPatienceNs;
  tell(options_.notices.stopping);
  log_.say(LogLevel::kInfo, "ending");
  server_->stop_listening();
  clients_.refuse_sessions();
  background_.end(now_ns);
  recordings_.end_all("gputraced ends; the recording ends here", now_ns);
  recorders_.leave_all(now_ns);
  retention_ns_ = kNever;
}

bool Service::has_ended(std::int64_t now_ns) const {
  return end_ns_ != kNever &&
         (now_ns >= end_ns_ || (recorders_.session_count() == 0 && !recorders_.has_processes()));
}

std::string Service::status_line() const {
  return fmt::format("{} recordings; background monitoring {}", recordings_.count(),
                     options_.config.background.enabled ? "on" : "off");
}

void Service::say_ready() {
  said_status_ = status_line();
  tell(options_.notices.ready, said_status_);
}

void Service::say_status() {
  if (std::string line = status_line(); line != said_status_ && !said_status_.empty()) {
    said_status_ = std::move(line);
    tell(options_.notices.status, said_status_);
  }
}

void Service::complete(ipc::StatusReply& reply) const {
  reply.daemon = options_.name;
  reply.uptime_s = static_cast<double>(monotonic_now_ns() - started_ns_) / 1e9;
  reply.background = options_.config.background.enabled;
  rusage waited{};
  ::getrusage(RUSAGE_CHILDREN, &waited);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  reply.cpu_s = static_cast<double>(process_cpu_time_ns() + recorders_.cpu_time_ns()) / 1e9 +
                seconds(waited.ru_utime) + seconds(waited.ru_stime);
  for (std::string& problem : background_.problems()) {
    reply.problems.push_back(std::move(problem));
  }
}

}  // namespace

Status run_service(ServiceOptions options) {
  Result<Signals> signals = Signals::block();
  if (!signals) {
    return tl::unexpected<Error>(signals.error());
  }
  // Whoever reads the log may end before us.
  ::signal(SIGPIPE, SIG_IGN);
  Service service(std::move(options), std::move(*signals));
  service.run();
  return {};
}

}  // namespace gputrace::service
