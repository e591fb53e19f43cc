#include "cli/commands/bench/bench_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/commands/bench/bench_file.h"
#include "cli/commands/bench/bench_recorder.h"
#include "cli/commands/bench/machine_folder.h"
#include "cli/commands/bench/point_observer.h"
#include "cli/commands/bench/progress_line.h"
#include "cli/commands/bench/result_file.h"
#include "cli/commands/bench/simulated_runner.h"
#include "cli/commands/interrupt_guard.h"
#include "cli/commands/record/choose_recorder.h"
#include "cli/commands/record/gpu_sources.h"
#include "cli/commands/record/recorder_process.h"
#include "cli/commands/record/recording_target.h"
#include "cli/commands/record/standard_descriptors.h"
#include "cli/commands/session_folder.h"
#include "cli/report/terminal_text.h"
#include "daemon/base/log.h"
#include "daemon/base/time.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/sensors/sensors.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "daemon/store/results.h"
#include "kernels/bench/vulkan_runner.h"

namespace gputrace::commands {

namespace {

constexpr double kRateHz = 1000;
/// gputraced may have to wake a GPU; our own recorder may have to compute a simulated one.
constexpr std::int64_t kDaemonReadyNs = 10 * kNsPerSecond;
constexpr std::int64_t kOwnReadyNs = 60 * kNsPerSecond;
constexpr std::size_t kMostNotes = 16;
#ifdef NDEBUG
constexpr bool kValidate = false;
#else
constexpr bool kValidate = true;  // with Vulkan's validation layer
#endif

ipc::Purpose purpose_of(store::SessionKind kind) {
  if (kind == store::SessionKind::kRoofline) {
    return ipc::Purpose::kRoofline;
  }
  return kind == store::SessionKind::kCalibration ? ipc::Purpose::kCalibration
                                                  : ipc::Purpose::kBench;
}

class LiveSession final : public BenchSession {
 public:
  explicit LiveSession(BenchRequest request)
      : request_(std::move(request)),
        simulated_(simulated_gpu::is_simulated_argument(request_.gpu)),
        started_(read_time_anchor()) {}
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;
  ~LiveSession() override {
    if (recorder_) {
      recorder_->discard();
    }
  }

  [[nodiscard]] Status begin();

  [[nodiscard]] bench::Runner& runner() override { return *runner_; }
  [[nodiscard]] bench::PointObserver* observer() override { return observer_.get(); }
  [[nodiscard]] bench::MeasurementOptions options() override;
  [[nodiscard]] analysis::BenchDevice device() const override { return device_; }
  [[nodiscard]] const std::vector<std::string>& notes() const override { return notes_; }
  void begin_test(RunningTest test, double seconds_left) override {
    progress_.begin_test(std::move(test), seconds_left);
  }
  [[nodiscard]] bool cancelled() const override { return interrupt_.signal().has_value(); }
  [[nodiscard]] Result<std::optional<std::filesystem::path>> finish(
      const analysis::BenchRun& results) override;

 private:
  /// While the process has one thread.
  [[nodiscard]] Status prepare_recorder();
  [[nodiscard]] Status open_device();
  [[nodiscard]] Status choose_gpu();
  [[nodiscard]] Status open_sensors();
  [[nodiscard]] bool keeps_file() const { return request_.save || request_.needs_recording; }
  [[nodiscard]] Status prepare_file();
  [[nodiscard]] Status start_recorder();
  [[nodiscard]] Result<BenchRecorder> wait_for_recorder();
  /// In the pending file, with the recording if there is one.
  [[nodiscard]] Status store(const analysis::BenchRun& results);
  void note(const std::string& text);

  BenchRequest request_;
  bool simulated_;
  TimeAnchor started_;
  InterruptGuard interrupt_{0};
  std::vector<UniqueFd> reserved_descriptors_;
  std::vector<std::string> notes_;
  RecordingTarget target_;
  std::filesystem::path folder_;                   ///< empty = a temporary one
  std::unique_ptr<BenchFile> file_;                ///< null where none is kept
  std::unique_ptr<RecorderProcess> own_recorder_;  ///< forked, and without its order
  std::unique_ptr<bench::Runner> runner_;
  analysis::BenchDevice device_;
  std::string sampled_gpu_;                ///< as --gpu has it; empty = none
  std::optional<os::GpuDevice> real_gpu_;  ///< the device, where it is one of amdgpu's
  std::vector<std::unique_ptr<sampler::SensorReader>> sensors_;
  SessionObserver::Play play_;
  std::unique_ptr<BenchRecorder> recorder_;
  ProgressLine progress_;
  std::unique_ptr<SessionObserver> observer_;  // last: it uses the recorder
};

Status LiveSession::begin() {
  for (Status (LiveSession::*step)() :
       {&LiveSession::prepare_recorder, &LiveSession::open_device, &LiveSession::choose_gpu,
        &LiveSession::open_sensors, &LiveSession::prepare_file, &LiveSession::start_recorder}) {
    if (Status status = (this->*step)(); !status) {
      return status;
    }
  }
  observer_ = std::make_unique<SessionObserver>(BenchSensors(std::move(sensors_)), std::move(play_),
                                                recorder_.get(),
                                                [this](const std::string& text) { note(text); });
  return {};
}

Status LiveSession::prepare_recorder() {
  Result<std::vector<UniqueFd>> reserved = reserve_standard_descriptors();
  if (!reserved) {
    return tl::unexpected(reserved.error());
  }
  reserved_descriptors_ = std::move(*reserved);
  Result<std::optional<InvokingUser>> user = find_invoking_user();
  if (!user) {
    return tl::unexpected(user.error());
  }
  target_.user = std::move(*user);
  target_.before_file = prepare_writing(target_.user, {});
  if (request_.save) {
    const Result<std::filesystem::path> sessions = sessions_folder_of(target_.user);
    if (!sessions) {
      return fail(ErrorCode::kNotFound,
                  "neither XDG_DATA_HOME nor HOME says where results are kept; set one of them, or "
                  "use --no-save");
    }
    folder_ = machine_folder(*sessions);
  }
  if (keeps_file()) {
    // Vulkan's drivers make threads: this is the last moment to fork.
    Result<std::unique_ptr<RecorderProcess>> forked = RecorderProcess::fork(
        {make_reader_factory(), target_.before_file, /*discards_abandoned=*/true});
    if (!forked) {
      return tl::unexpected(forked.error());
    }
    own_recorder_ = std::move(*forked);
  }
  if (!target_.user) {
    return {};
  }
  // Only the recorder keeps what root may: drivers, their caches and our files are the user's.
  const Status become_user = become(*target_.user);
  return become_user ? take_environment(*target_.user) : become_user;
}

Status LiveSession::open_device() {
  Result<std::unique_ptr<bench::Runner>> runner =
      simulated_ ? open_simulated_runner(request_.gpu)
                 : bench::open_vulkan_runner(request_.device, kValidate);
  if (!runner) {
    return tl::unexpected(runner.error());
  }
  runner_ = std::move(*runner);
  const vulkan::DeviceFacts& facts = runner_->facts();
  device_.name = facts.listed.name;
  device_.pci = facts.listed.pci;
  device_.driver = facts.listed.driver;
  device_.driver_info = facts.listed.driver_info;
  device_.subgroup_sizes = facts.subgroup_sizes;
  if (device_.subgroup_sizes.empty() && facts.subgroup_size > 0) {
    device_.subgroup_sizes.push_back(facts.subgroup_size);
  }
  device_.simulated = runner_->simulated();
  if (!simulated_) {
    device_.vendor_id = facts.listed.vendor_id;
    device_.device_id = facts.listed.device_id;
  }
  return {};
}

Status LiveSession::choose_gpu() {
  if (simulated_) {
    sampled_gpu_ = simulated_gpu::with_bench_scenario(request_.gpu);
    return {};
  }
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus({});
  if (!gpus && request_.gpu.empty() && !request_.needs_recording) {
    note("no busy bits, clock and power beside the results: " + gpus.error().message);
    return {};
  }
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  const auto same = std::find_if(gpus->begin(), gpus->end(), [&](const os::GpuDevice& gpu) {
    return gpu.identity.pci == device_.pci;
  });
  if (same != gpus->end()) {
    real_gpu_ = *same;
    device_.revision_id = same->identity.revision_id;
    sampled_gpu_ = same->identity.pci;
  }
  if (!request_.gpu.empty()) {
    const Result<os::GpuDevice> wanted = os::select_gpu(*gpus, request_.gpu);
    if (!wanted) {
      return tl::unexpected(wanted.error());
    }
    sampled_gpu_ = wanted->identity.pci;
    if (sampled_gpu_ != device_.pci && request_.needs_recording) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("--gpu is {}, and the kernels run on {}: what one does says nothing of "
                      "the other; choose the same with --device",
                      wanted->identity.name, device_.name));
    }
    if (sampled_gpu_ != device_.pci) {
      note(fmt::format("busy bits are those of {}, and the kernels run on {}",
                       wanted->identity.name, device_.name));
    }
  } else if (request_.needs_recording && sampled_gpu_.empty()) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{} is no GPU with the amdgpu driver: it has no busy bits that could be "
                    "sampled while kernels run",
                    device_.name));
  } else if (request_.save && sampled_gpu_.empty()) {
    note(fmt::format("no busy bits beside the results: {} is no GPU with the amdgpu driver",
                     device_.name));
  }
  return {};
}

Status LiveSession::open_sensors() {
  if (simulated_) {
    Result<recorder::OpenedGpu> opened = make_reader_factory()({sampled_gpu_, "auto"});
    if (!opened) {
      return tl::unexpected(opened.error());
    }
    sensors_ = std::move(opened->sensors);
    play_ = std::move(opened->play);
  } else if (real_gpu_) {
    sensors_ = os::open_gpu_sensors(*real_gpu_, real_gpu_->identity.gc).readers;
  }
  return {};
}

Status LiveSession::prepare_file() {
  if (!keeps_file()) {
    return {};
  }
  Result<std::unique_ptr<BenchFile>> file =
      BenchFile::create({folder_, request_.kind, device_.name, started_.realtime_ns});
  if (!file) {
    return tl::unexpected(file.error());
  }
  file_ = std::move(*file);
  return {};
}

Status LiveSession::start_recorder() {
  if (!file_ || sampled_gpu_.empty()) {
    own_recorder_.reset();
    return {};
  }
  Result<BenchRecorder> recorder = wait_for_recorder();
  if (!recorder) {
    if (!request_.gpu.empty() || request_.needs_recording || cancelled()) {
      return tl::unexpected(recorder.error());
    }
    note("no busy bits beside the results: " + recorder.error().message);
    return {};
  }
  for (const std::string& text : recorder->ready().notes) {
    note(text);
  }
  recorder_ = std::make_unique<BenchRecorder>(std::move(*recorder));
  return {};
}

Result<BenchRecorder> LiveSession::wait_for_recorder() {
  RecordOptions options;
  options.gpu = sampled_gpu_;
  options.source = "auto";
  options.rate_hz = kRateHz;
  options.quiet = true;
  options.output = file_->path();
  options.command = request_.command;
  options.purpose = purpose_of(request_.kind);
  target_.file = file_->path();
  const auto is_cancelled = [this] { return cancelled(); };
  Result<std::unique_ptr<RecorderLink>> daemon =
      ask_daemon(options, target_, log_to_stderr("gputrace"));
  if (!daemon) {
    return tl::unexpected(daemon.error());
  }
  if (*daemon) {
    Result<BenchRecorder> recorder =
        BenchRecorder::wait_until_ready(std::move(*daemon), kDaemonReadyNs, is_cancelled);
    if (recorder || cancelled()) {
      own_recorder_.reset();
      return recorder;
    }
    note(fmt::format("gputraced does not record this: {}; recording without it",
                     recorder.error().message));
  }
  if (const Status started = own_recorder_->start(start_order(options, target_)); !started) {
    return tl::unexpected(started.error());
  }
  return BenchRecorder::wait_until_ready(std::move(own_recorder_), kOwnReadyNs, is_cancelled);
}

bench::MeasurementOptions LiveSession::options() {
  bench::MeasurementOptions options;
  if (request_.quick) {
    options.run_ns = 4e6;
    options.warm_up_ns = 60e6;
    options.point_limit_ns = 200e6;
  }
  options.cancelled = [this] { return cancelled(); };
  options.progress = [this](std::size_t done, std::size_t of, double seconds_left) {
    progress_.show(done, of, seconds_left);
  };
  return options;
}

Result<std::optional<std::filesystem::path>> LiveSession::finish(
    const analysis::BenchRun& results) {
  progress_.clear();
  if (!file_) {
    return std::optional<std::filesystem::path>();
  }
  Status stored = store(results);
  stored = stored ? file_->keep() : stored;
  if (!stored) {
    return fail(stored.error(), fmt::format("cannot keep {}", file_->final_path().string()));
  }
  return std::optional(file_->final_path());
}

Status LiveSession::store(const analysis::BenchRun& results) {
  const std::array runs{stored_run(results)};
  if (recorder_) {
    const Result<std::filesystem::path> recorded = recorder_->stop();
    for (const std::string& text : recorder_->take_warnings()) {
      note(text);
    }
    const Status added = recorded ? store::append_results(file_->path(), runs)
                                  : Status(tl::unexpected(recorded.error()));
    if (added || request_.needs_recording) {
      return added;
    }
    note("no busy bits beside the results: " + added.error().message);
    file_->discard_content();
  }
  store::SessionDescription description;
  description.kind = request_.kind;
  description.started = started_;
  description.command = request_.command;
  return store::create_result_file(file_->path(), store::OnExisting::kRefuse, description,
                                   {monotonic_now_ns(), std::nullopt, std::nullopt}, runs);
}

void LiveSession::note(const std::string& text) {
  if (notes_.size() < kMostNotes && std::find(notes_.begin(), notes_.end(), text) == notes_.end()) {
    notes_.push_back(text);
  }
}

}  // namespace

void print_notes(const BenchSession& session, std::size_t& printed) {
  for (; printed < session.notes().size(); ++printed) {
    fmt::print(stderr, "gputrace: note: {}\n",
               report::escape_for_terminal(session.notes()[printed], false));
  }
}

Result<std::unique_ptr<BenchSession>> BenchSession::open(const BenchRequest& request) {
  auto session = std::make_unique<LiveSession>(request);
  if (const Status begun = session->begin(); !begun) {
    return tl::unexpected(begun.error());
  }
  return std::unique_ptr<BenchSession>(std::move(session));
}

}  // namespace gputrace::commands
