#include "cli/commands/record/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/record/choose_recorder.h"
#include "cli/commands/record/gpu_use.h"
#include "cli/commands/record/keep_summary.h"
#include "cli/commands/record/record_messages.h"
#include "cli/commands/record/recorder_link.h"
#include "cli/commands/record/recording_target.h"
#include "cli/commands/record/signal_gate.h"
#include "cli/commands/record/standard_descriptors.h"
#include "cli/commands/record/workload.h"
#include "cli/report/terminal_text.h"
#include "daemon/base/time.h"

namespace gputrace::commands {
namespace {

constexpr std::int64_t kClosingNs = 3 * kNsPerSecond;
/// gputraced may have to wake a GPU; one that takes longer than this hangs.
constexpr std::int64_t kDaemonReadyNs = 10 * kNsPerSecond;

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

using StartRecorder = std::function<Result<std::unique_ptr<RecorderLink>>()>;

class Supervisor {
 public:
  /// `recorder`: gputraced's, with `own` for when it fails; null = `own` from the beginning.
  Supervisor(const RecordOptions& options, const RecordingTarget& target, const LogSink& log,
             SignalGate signals, std::unique_ptr<RecorderLink> recorder, StartRecorder own,
             Workload workload, const os::SystemRoots& roots)
      : options_(options),
        target_(target),
        log_(log),
        signals_(std::move(signals)),
        recorder_(std::move(recorder)),
        own_(std::move(own)),
        through_daemon_(recorder_ != nullptr),
        workload_(std::move(workload)),
        gpu_use_(roots, !options.gpu.empty()) {}

  [[nodiscard]] Result<int> run();

 private:
  /// Absent: interrupted.
  [[nodiscard]] Result<std::optional<ipc::ReadyAnswer>> wait_until_ready();
  [[nodiscard]] Status start_own_recorder();
  [[nodiscard]] Error why_not_ready() const;
  [[nodiscard]] int give_up();
  [[nodiscard]] Status begin(const ipc::ReadyAnswer& ready);
  [[nodiscard]] Status start_workload(const std::vector<std::string>& command);
  void supervise();
  [[nodiscard]] int conclude(const ipc::ReadyAnswer& ready);
  void tell_the_end(const ipc::ReadyAnswer& ready);

  void step();
  void take_answer();
  void take_signals();
  void send_stop(const ipc::StopOrder& order);

  [[nodiscard]] bool done() const;
  [[nodiscard]] bool duration_over() const {
    return duration_end_ns_ && monotonic_now_ns() >= *duration_end_ns_;
  }
  [[nodiscard]] std::optional<std::int64_t> next_deadline() const;
  void inform(const std::string& text) const {
    if (!options_.quiet) {
      log_(LogLevel::kInfo, text);
    }
  }

  const RecordOptions& options_;
  const RecordingTarget& target_;
  const LogSink& log_;
  SignalGate signals_;
  std::unique_ptr<RecorderLink> recorder_;
  StartRecorder own_;
  bool through_daemon_;
  std::optional<std::int64_t> ready_end_ns_;
  Workload workload_;
  GpuUse gpu_use_;

  bool recorder_open_ = true;
  std::optional<ipc::ReadyAnswer> ready_;
  std::optional<Error> failed_;
  std::optional<ipc::ClosedAnswer> closed_;
  std::vector<std::string> warnings_;  ///< told when CMD has ended
  bool recording_over_ = false;        ///< early, by no wish of the user
  bool delivered_ = false;
  bool stop_sent_ = false;
  std::optional<std::int64_t> duration_end_ns_;
  std::optional<std::int64_t> closing_end_ns_;
};

Result<int> Supervisor::run() {
  const Result<std::optional<ipc::ReadyAnswer>> waited = wait_until_ready();
  if (!waited) {
    return tl::unexpected(waited.error());
  }
  const std::optional<ipc::ReadyAnswer>& ready = *waited;
  if (!ready) {
    return give_up();
  }
  if (const Status status = begin(*ready); !status) {
    send_stop({std::nullopt, std::nullopt, /*discard=*/true});
    return tl::unexpected(status.error());
  }
  supervise();
  return conclude(*ready);
}

Result<std::optional<ipc::ReadyAnswer>> Supervisor::wait_until_ready() {
  if (through_daemon_) {
    ready_end_ns_ = monotonic_now_ns() + kDaemonReadyNs;
  } else if (const Status status = start_own_recorder(); !status) {
    return tl::unexpected(status.error());
  }
  for (;;) {
    while (!ready_ && !failed_ && recorder_open_ && !workload_.interrupted() &&
           monotonic_now_ns() < ready_end_ns_.value_or(INT64_MAX)) {
      step();
    }
    take_signals();
    if (workload_.interrupted()) {
      return std::optional<ipc::ReadyAnswer>();
    }
    if (ready_) {
      ready_end_ns_.reset();
      return ready_;
    }
    if (!through_daemon_) {
      return tl::unexpected(why_not_ready());
    }
    log_(LogLevel::kWarning,
         fmt::format("gputraced does not record this: {}; recording without it",
                     report::escape_for_terminal(why_not_ready().message, false)));
    [[maybe_unused]] const Status dropped =
        recorder_->stop({std::nullopt, std::nullopt, /*discard=*/true});
    if (const Status status = start_own_recorder(); !status) {
      return tl::unexpected(status.error());
    }
  }
}

Status Supervisor::start_own_recorder() {
  Result<std::unique_ptr<RecorderLink>> own = own_();
  if (!own) {
    return tl::unexpected(own.error());
  }
  recorder_ = std::move(*own);
  through_daemon_ = false;
  recorder_open_ = true;
  failed_.reset();
  ready_end_ns_.reset();
  warnings_.clear();
  return {};
}

Error Supervisor::why_not_ready() const {
  if (failed_) {
    return *failed_;
  }
  if (!through_daemon_) {
    return {ErrorCode::kIo, "the recorder process ended before it was ready"};
  }
  return {ErrorCode::kIo, recorder_open_ ? "it does not answer" : "it has closed the connection"};
}

int Supervisor::give_up() {
  send_stop({std::nullopt, std::nullopt, /*discard=*/true});
  log_(LogLevel::kError, options_.command ? "interrupted; the command was not started"
                                          : "interrupted before the recording began");
  return status_of_signal(workload_.interrupted().value_or(0));
}

Status Supervisor::begin(const ipc::ReadyAnswer& ready) {
  if (options_.duration_s) {
    const double length_ns = *options_.duration_s * static_cast<double>(kNsPerSecond);
    duration_end_ns_ = monotonic_now_ns() + static_cast<std::int64_t>(length_ns);
  }
  if (!options_.command) {
    inform(fmt::format(
        "recording {}{}{}; Ctrl-C ends it", report::escape_for_terminal(ready.gpu_name, false),
        ready.simulated ? ", SIMULATED" : "", through_daemon_ ? " through gputraced" : ""));
  } else if (const Status status = start_workload(*options_.command); !status) {
    return status;
  }
  if (const std::optional<pid_t> watcher = gpu_use_.begin(ready, workload_.tree())) {
    workload_.leave_out(*watcher);
  }
  return {};
}

Status Supervisor::start_workload(const std::vector<std::string>& command) {
  if (through_daemon_) {
    inform("recording through gputraced");
  }
  if (target_.user) {
    inform(fmt::format("the command runs as {}, who called sudo",
                       report::escape_for_terminal(describe(*target_.user), false)));
  } else if (::geteuid() == 0) {
    inform("running as root, and so does the command");
  }
  return workload_.start(command, signals_, target_.user);
}

void Supervisor::supervise() {
  for (;;) {
    if (done() && !closing_end_ns_) {
      closing_end_ns_ = monotonic_now_ns() + kClosingNs;
      const ChildEnd end = workload_.child_end().value_or(ChildEnd{});
      send_stop({end.exit_code, end.signal, workload_.exec_error() != 0});
    } else if (duration_over()) {
      send_stop({});
    }
    if (closing_end_ns_ && (closed_ || !recorder_open_ || monotonic_now_ns() >= *closing_end_ns_)) {
      return;
    }
    step();
  }
}

bool Supervisor::done() const {
  if (options_.command) {
    return workload_.done();
  }
  return workload_.done() || recording_over_ || !recorder_open_ || duration_over();
}

std::optional<std::int64_t> Supervisor::next_deadline() const {
  if (closing_end_ns_ || ready_end_ns_) {
    return closing_end_ns_ ? closing_end_ns_ : ready_end_ns_;
  }
  return stop_sent_ ? std::nullopt : duration_end_ns_;
}

/// Waits for whatever comes next and takes note of it.
void Supervisor::step() {
  std::array<pollfd, 5> sources{{{signals_.fd(), POLLIN, 0},
                                 {recorder_open_ ? recorder_->fd() : -1, POLLIN, 0},
                                 {workload_.exec_status_fd(), POLLIN, 0},
                                 {workload_.watched_fd(), POLLIN, 0},
                                 {stop_sent_ ? -1 : gpu_use_.fd(), POLLIN, 0}}};
  timespec timeout{};
  const std::optional<std::int64_t> deadline = next_deadline();
  if (deadline) {
    const std::int64_t left = std::max<std::int64_t>(*deadline - monotonic_now_ns(), 0);
    timeout = {static_cast<std::time_t>(left / kNsPerSecond),
               static_cast<long>(left % kNsPerSecond)};
  }
  if (::ppoll(sources.data(), sources.size(), deadline ? &timeout : nullptr, nullptr) < 0) {
    return;  // EINTR after a stop and continue
  }
  if (sources[1].revents != 0) {
    take_answer();
  }
  if (sources[2].revents != 0) {
    workload_.take_exec_status();
  }
  if (sources[3].revents != 0) {
    workload_.watched_process_ended();
  }
  if (sources[4].revents != 0) {
    gpu_use_.take(*recorder_);
  }
  if (sources[0].revents != 0) {
    take_signals();
  }
}

void Supervisor::take_answer() {
  Result<std::optional<ipc::Answer>> received = recorder_->receive();
  if (!received) {
    warnings_.push_back(received.error().message);
    recorder_open_ = received.error().code == ErrorCode::kCorrupt;
    return;
  }
  std::optional<ipc::Answer>& answer = *received;
  if (!answer) {
    recorder_open_ = false;
  } else if (auto* ready = std::get_if<ipc::ReadyAnswer>(&*answer)) {
    ready_ = std::move(*ready);
  } else if (auto* failed = std::get_if<ipc::FailedAnswer>(&*answer)) {
    if (ready_) {
      warnings_.push_back(std::move(failed->error.message));  // it cannot change the GPU
    } else {
      failed_ = std::move(failed->error);
    }
  } else if (auto* warning = std::get_if<ipc::WarningAnswer>(&*answer)) {
    warnings_.push_back(std::move(warning->text));
    recording_over_ = recording_over_ || warning->recording_ended;
  } else if (auto* closed = std::get_if<ipc::ClosedAnswer>(&*answer)) {
    closed_ = std::move(*closed);
  }
}

void Supervisor::take_signals() {
  while (const std::optional<ReceivedSignal> signal = signals_.take()) {
    workload_.handle_signal(*signal);
  }
}

void Supervisor::send_stop(const ipc::StopOrder& order) {
  if (std::exchange(stop_sent_, true)) {
    return;
  }
  if (const Status status = recorder_->stop(order); !status) {
    recorder_open_ = false;
  }
}

int Supervisor::conclude(const ipc::ReadyAnswer& ready) {
  if (workload_.exec_error() != 0) {
    const std::string command =
        options_.command ? report::escape_for_terminal(options_.command->front(), false) : "";
    log_(LogLevel::kError,
         error_from_errno(workload_.exec_error(), fmt::format("cannot run '{}'", command)).message);
    return exit_status_of_exec_error(workload_.exec_error());
  }
  tell_the_end(ready);
  if (const auto& child = workload_.child_end()) {
    return child->status();
  }
  return closed_ && delivered_ && !recording_over_ ? 0 : 1;
}

void Supervisor::tell_the_end(const ipc::ReadyAnswer& ready) {
  Delivery delivery = recorder_->deliver({closed_, recorder_open_, closing_end_ns_.value_or(0)});
  delivered_ = delivery.file.has_value();
  append(warnings_, delivery.warnings);
  append(warnings_, gpu_use_.warnings());
  append(delivery.notes, gpu_use_.notes());
  if (closed_) {
    keep_summary(delivery, target_, gpu_use_.roots());
  }
  for (const std::string& warning : warnings_) {
    log_(LogLevel::kWarning, report::escape_for_terminal(warning, false));
  }
  if (closed_) {
    if (delivery.file) {
      closed_->file = delivery.file->string();
    }
    for (const std::string& line : closing_warnings(*closed_)) {
      log_(LogLevel::kWarning, line);
    }
  }
  if (closed_ || delivery.file) {
    for (const std::string& line : summary_lines(ready, closed_, delivery)) {
      inform(line);
    }
  }
}

}  // namespace

Result<int> record(const RecordOptions& options, const recorder::ReaderFactory& open_gpu,
                   const LogSink& log, const os::SystemRoots& roots) {
  const Result<std::vector<UniqueFd>> reserved = reserve_standard_descriptors();
  if (!reserved) {
    return tl::unexpected(reserved.error());
  }
  const Result<RecordingTarget> target = choose_target(options);
  if (!target) {
    return tl::unexpected(target.error());
  }
  Result<Workload> workload = Workload::prepare(options);
  if (!workload) {
    return tl::unexpected(workload.error());
  }
  Result<std::unique_ptr<RecorderLink>> daemon = ask_daemon(options, *target, log);
  if (!daemon) {
    return tl::unexpected(daemon.error());
  }
  Result<SignalGate> signals = SignalGate::close_gate();
  if (!signals) {
    return tl::unexpected(signals.error());
  }
  Supervisor supervisor(
      options, *target, log, std::move(*signals), std::move(*daemon),
      [&] { return start_recorder(options, *target, open_gpu); }, std::move(*workload), roots);
  return supervisor.run();
}

}  // namespace gputrace::commands
