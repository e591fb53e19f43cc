#include "daemon/recorder/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/ipc/message_socket.h"
#include "daemon/recorder/process_isolation.h"
#include "daemon/recorder/reading_thread.h"
#include "daemon/recorder/writing_thread.h"
#include "daemon/sampler/sampling_loop.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_writer.h"
#include "regdb/register_database.h"

namespace gputrace::recorder {

namespace {

constexpr int kMostNumbered = 1000;

/// The file of a recording that never began says nothing; one that cannot be removed stays.
void remove_session(const std::filesystem::path& file) {
  [[maybe_unused]] const Status removed = store::remove_session_file(file);
}

/// Another recording that began in the same second has taken the name: NAME-2, NAME-3, ...
std::filesystem::path numbered(const std::filesystem::path& file, int number) {
  return file.parent_path() /
         fmt::format("{}-{}{}", file.stem().string(), number, file.extension().string());
}

Result<store::SessionWriter> create_session(const ipc::StartOrder& order,
                                            const store::SessionDescription& description) {
  const store::OnExisting on_existing = order.on_existing == ipc::OnExisting::kReplace
                                            ? store::OnExisting::kReplace
                                            : store::OnExisting::kRefuse;
  std::filesystem::path file = order.file;
  for (int number = 2;; ++number) {
    Result<store::SessionWriter> writer =
        store::SessionWriter::create(file, on_existing, description);
    if (writer || writer.error().code != ErrorCode::kExists || number > kMostNumbered ||
        order.on_existing != ipc::OnExisting::kNumber) {
      return writer;
    }
    file = numbered(order.file, number);
  }
}

class Recorder {
 public:
  Recorder(const ipc::MessageSocket& socket, const RecorderOptions& options)
      : socket_(socket), options_(options) {}

  void run();

 private:
  [[nodiscard]] std::optional<ipc::StartOrder> wait_for_start();
  [[nodiscard]] Result<ipc::ReadyAnswer> start(const ipc::StartOrder& order);
  [[nodiscard]] Result<store::SessionWriter> create_file(const ipc::StartOrder& order,
                                                         const store::SegmentDescription& segment,
                                                         const TimeAnchor& started);
  /// Takes orders until the end; absent when the socket closed without a stop.
  [[nodiscard]] std::optional<ipc::StopOrder> take_orders();
  void send(const ipc::Answer& answer) {
    // Who cannot be reached is gone; the next receive says so.
    [[maybe_unused]] const Status sent = socket_.send(answer);
  }
  void warn(std::string text) { send(ipc::WarningAnswer{std::move(text), false}); }

  const ipc::MessageSocket& socket_;
  const RecorderOptions& options_;
  std::unique_ptr<ReadingThread> reading_;
  std::unique_ptr<WritingThread> writing_;
};

void Recorder::run() {
  const std::optional<ipc::StartOrder> order = wait_for_start();
  if (!order) {
    return;
  }
  const Result<ipc::ReadyAnswer> ready = start(*order);
  if (!ready) {
    send(ipc::FailedAnswer{ready.error()});
    return;
  }
  std::optional<ipc::StopOrder> stop;
  if (const Status sent = socket_.send(*ready); sent) {
    stop = take_orders();
  } else {
    stop = ipc::StopOrder{std::nullopt, std::nullopt, /*discard=*/true};  // nobody waits any more
  }
  const ipc::StopOrder end = stop.value_or(ipc::StopOrder{});
  const ipc::ClosedAnswer closed = writing_->finish(end.exit_code, end.signal);
  if (end.discard) {
    remove_session(closed.file);
  }
  send(closed);
}

std::optional<ipc::StartOrder> Recorder::wait_for_start() {
  const Result<std::optional<ipc::Order>> order = socket_.receive_order();
  if (!order) {
    send(ipc::FailedAnswer{order.error()});
    return std::nullopt;
  }
  const std::optional<ipc::Order>& received = *order;
  if (!received) {
    return std::nullopt;
  }
  if (const auto* start_order = std::get_if<ipc::StartOrder>(&*received)) {
    return *start_order;
  }
  send(ipc::FailedAnswer{{ErrorCode::kInvalidArgument, "the first order was not start"}});
  return std::nullopt;
}

Result<ipc::ReadyAnswer> Recorder::start(const ipc::StartOrder& order) {
  if (!(order.rate_hz >= sampler::kMinRateHz && order.rate_hz <= sampler::kMaxRateHz)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} Hz is not a rate from {} to {} Hz", order.rate_hz,
                            sampler::kMinRateHz, sampler::kMaxRateHz));
  }
  Result<OpenedGpu> gpu = options_.open_gpu({order.gpu, order.source});
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  const auto registers = gpu->reader->registers();
  if (registers.empty()) {
    return fail(ErrorCode::kUnsupported, gpu->identity.name + " offers no register to read");
  }
  if (options_.before_file) {
    if (const Status status = options_.before_file(); !status) {
      return tl::unexpected(status.error());
    }
  }
  const TimeAnchor started = read_time_anchor();
  const store::SegmentDescription segment{
      .gpu = gpu->identity,
      .start_ns = started.monotonic_ns,
      .rate_hz = order.rate_hz,
      .regdb_table = gpu->regdb_table,
      .regdb_revision = regdb::RegisterDatabase::built_in().revision(),
      .registers = {registers.begin(), registers.end()},
      .reason = "start"};
  Result<store::SessionWriter> writer = create_file(order, segment, started);
  if (!writer) {
    return tl::unexpected(writer.error());
  }
  const std::string file = writer->path().string();
  sampler::SamplingOptions sampling;
  sampling.rate_hz = order.rate_hz;
  sampling.seed = static_cast<std::uint64_t>(started.realtime_ns);
  reading_ = std::make_unique<ReadingThread>(std::move(gpu->reader), sampling);
  const std::vector<Refusal> refused = reading_->start();
  writing_ =
      std::make_unique<WritingThread>(std::move(*writer), segment, started, *reading_,
                                      [this](const ipc::WarningAnswer& answer) { send(answer); });
  for (const Refusal& refusal : refused) {
    writing_->add_event({started.monotonic_ns, refusal.kind, refusal.text});
  }
  writing_->start();
  return ipc::ReadyAnswer{file,
                          gpu->identity.name,
                          gpu->identity.simulated,
                          gpu->identity.scenario,
                          gpu->load_seconds,
                          gpu->notes};
}

Result<store::SessionWriter> Recorder::create_file(const ipc::StartOrder& order,
                                                   const store::SegmentDescription& segment,
                                                   const TimeAnchor& started) {
  store::SessionDescription description;
  description.kind = store::SessionKind::kRecording;
  description.label = order.label;
  description.command = order.command;
  description.started = started;
  Result<store::SessionWriter> writer = create_session(order, description);
  if (!writer) {
    return writer;
  }
  Status status = writer->begin_segment(segment);
  if (status) {
    status = writer->write_anchor(started);
  }
  if (status) {
    status = writer->commit();
  }
  if (!status) {
    remove_session(writer->path());
    writer = tl::unexpected(status.error());
  }
  return writer;
}

std::optional<ipc::StopOrder> Recorder::take_orders() {
  for (;;) {
    const Result<std::optional<ipc::Order>> order = socket_.receive_order();
    if (!order && order.error().code == ErrorCode::kCorrupt) {
      warn(order.error().message);
      continue;
    }
    if (!order) {
      return std::nullopt;
    }
    const std::optional<ipc::Order>& received = *order;
    if (!received) {
      return std::nullopt;
    }
    if (const auto* stop = std::get_if<ipc::StopOrder>(&*received)) {
      return *stop;
    }
    if (const auto* mark = std::get_if<ipc::MarkOrder>(&*received)) {
      writing_->add_event({mark->time_ns, "mark", mark->text});
    } else {
      warn("a second start order was ignored");
    }
  }
}

}  // namespace

void run_recorder(UniqueFd socket, const RecorderOptions& options) {
  isolate_process(socket.get());
  const ipc::MessageSocket messages(std::move(socket));
  Recorder recorder(messages, options);
  recorder.run();
  ::_exit(0);  // before any destructor: the reading thread may never end
}

}  // namespace gputrace::recorder
