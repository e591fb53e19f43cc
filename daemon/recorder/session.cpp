#include "daemon/recorder/session.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <variant>

#include "daemon/recorder/disk_reserve.h"
#include "daemon/recorder/live_windows.h"
#include "daemon/recorder/writing_thread.h"
#include "daemon/sampler/sampling_loop.h"
#include "daemon/store/session_file.h"
#include "regdb/register_database.h"

namespace gputrace::recorder {

namespace {

constexpr int kMostNumbered = 1000;
constexpr double kMiB = 1024.0 * 1024.0;

/// The file of a recording that never began says nothing; one that cannot be removed stays.
void remove_session(const std::filesystem::path& file) {
  [[maybe_unused]] const Status removed = store::remove_session_file(file);
}

/// Another recording that began in the same second has taken the name: NAME-2, NAME-3, ...
std::filesystem::path numbered(const std::filesystem::path& file, int number) {
  return file.parent_path() /
         fmt::format("{}-{}{}", file.stem().string(), number, file.extension().string());
}

store::SessionKind kind_of(ipc::Purpose purpose) {
  switch (purpose) {
    case ipc::Purpose::kBackground:
      return store::SessionKind::kBackground;
    case ipc::Purpose::kRoofline:
      return store::SessionKind::kRoofline;
    case ipc::Purpose::kBench:
      return store::SessionKind::kBench;
    case ipc::Purpose::kCalibration:
      return store::SessionKind::kCalibration;
    case ipc::Purpose::kRecording:
    case ipc::Purpose::kLive:
      break;
  }
  return store::SessionKind::kRecording;
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

Result<store::SessionWriter> create_file(const ipc::StartOrder& order,
                                         const store::SegmentDescription& segment,
                                         const TimeAnchor& started) {
  store::SessionDescription description;
  description.kind = kind_of(order.purpose);
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

Status check_rate(double rate_hz) {
  if (rate_hz >= sampler::kMinRateHz && rate_hz <= sampler::kMaxRateHz) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} Hz is not a rate from {} to {} Hz", rate_hz, sampler::kMinRateHz,
                          sampler::kMaxRateHz));
}

Result<std::optional<sampler::Burst>> burst_of(const ipc::StartOrder& order) {
  const std::optional<ipc::Bursts>& bursts = order.bursts;
  if (!bursts) {
    return std::optional<sampler::Burst>();
  }
  if (bursts->length_s * order.rate_hz < 1 || bursts->length_s > bursts->every_s) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("bursts of {} s every {} s cannot be sampled at {} Hz: a burst is at "
                            "least a period long and at most as long as their distance",
                            bursts->length_s, bursts->every_s, order.rate_hz));
  }
  const auto ns = [](double seconds) {
    return static_cast<std::int64_t>(std::ceil(seconds * 1e9));
  };
  return std::optional(sampler::Burst{ns(bursts->length_s), ns(bursts->every_s)});
}

}  // namespace

void Session::run() {
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
  const ipc::StopOrder end = stop.value_or(
      ipc::StopOrder{std::nullopt, std::nullopt, /*discard=*/options_.discards_abandoned});
  const ipc::ClosedAnswer closed = output_->finish(end.exit_code, end.signal);
  if (end.discard && !closed.file.empty()) {
    remove_session(closed.file);
  }
  send(closed);
}

void Session::hang_up() const {
  ::shutdown(socket_.fd(), SHUT_RD);
}

std::optional<ipc::StartOrder> Session::wait_for_start() {
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

Result<ipc::ReadyAnswer> Session::start(const ipc::StartOrder& order) {
  if (const Status status = check_rate(order.rate_hz); !status) {
    return tl::unexpected(status.error());
  }
  const Result<GpuOnOffer> gpu = sampling_.open({order.gpu, order.source});
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  Result<ipc::ReadyAnswer> ready = begin(order, *gpu);
  if (!ready) {
    sampling_.close_if_unused();
  }
  return ready;
}

Result<ipc::ReadyAnswer> Session::begin(const ipc::StartOrder& order, const GpuOnOffer& gpu) {
  if (gpu.is_asleep && order.purpose == ipc::Purpose::kBackground) {
    return fail(ErrorCode::kBusy,
                gpu.identity.name + " is asleep, and monitoring follows only a GPU that is awake");
  }
  if (options_.before_file) {
    if (const Status status = options_.before_file(); !status) {
      return tl::unexpected(status.error());
    }
  }
  const Result<std::optional<sampler::Burst>> burst = burst_of(order);
  if (!burst) {
    return tl::unexpected(burst.error());
  }
  std::string file;
  if (order.purpose == ipc::Purpose::kLive) {
    output_ = std::make_unique<LiveWindows>(
        sampling_, sampling_.join({.rate_hz = order.rate_hz, .burst = *burst}),
        [this](const ipc::Answer& answer) { return socket_.send(answer); });
  } else {
    Result<std::string> begun =
        begin_file(order, gpu, {order.rate_hz, *burst, order.sensor_rate_hz});
    if (!begun) {
      return tl::unexpected(begun.error());
    }
    file = std::move(*begun);
  }
  return ipc::ReadyAnswer{std::move(file),       gpu.identity.name, gpu.identity.simulated,
                          gpu.identity.scenario, gpu.load_seconds,  gpu.notes,
                          gpu.identity.pci};
}

Result<std::string> Session::begin_file(const ipc::StartOrder& order, const GpuOnOffer& gpu,
                                        const SessionWish& wish) {
  DiskReserve reserve(std::filesystem::path(order.file).parent_path(), order.reserve_bytes);
  // Monitoring waits for room instead: nobody is there to try again.
  if (order.purpose != ipc::Purpose::kBackground && !reserve.may_write()) {
    return fail(
        ErrorCode::kNoSpace,
        fmt::format("cannot record to {}: {:.0f} MiB are left on the disk, and {:.0f} MiB "
                    "are kept in reserve; remove old sessions or record to another disk",
                    order.file, static_cast<double>(reserve.free_bytes().value_or(0)) / kMiB,
                    static_cast<double>(order.reserve_bytes) / kMiB));
  }
  const TimeAnchor started = read_time_anchor();
  const store::SegmentDescription segment{
      .gpu = gpu.identity,
      .start_ns = started.monotonic_ns,
      .rate_hz = sampling_.rate_with(order.rate_hz),
      .regdb_table = gpu.regdb_table,
      .regdb_revision = regdb::RegisterDatabase::built_in().revision(),
      .registers = gpu.registers,
      .reason = "start"};
  Result<store::SessionWriter> writer = create_file(order, segment, started);
  if (!writer) {
    return tl::unexpected(writer.error());
  }
  std::string file = writer->path().string();
  output_ = std::make_unique<WritingThread>(
      RecordingFile(std::move(*writer), segment, started, std::move(reserve),
                    [this](const ipc::WarningAnswer& answer) { send(answer); }),
      pool_, WritingThread::Place{&sampling_, sampling_.join(wish)},
      WritingThread::Terms{wish, order.source});
  return file;
}

std::optional<ipc::StopOrder> Session::take_orders() {
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
      output_->add_event({mark->time_ns, mark->kind, mark->text});
    } else if (const auto* processes = std::get_if<ipc::ProcessesOrder>(&*received)) {
      output_->add_processes(*processes);
    } else if (const auto* other = std::get_if<ipc::SwitchOrder>(&*received)) {
      output_->switch_gpu(other->gpu);
    } else if (const auto* point = std::get_if<ipc::PointOrder>(&*received)) {
      send(take_point(*point));
    } else {
      warn("a second start order was ignored");
    }
  }
}

ipc::PointAnswer Session::take_point(const ipc::PointOrder& order) {
  const std::int64_t came_ns = monotonic_now_ns();
  const Result<bool> played = sampling_.play(order.stimulus.value_or(std::string()));
  if (!played) {
    warn(
        fmt::format("the simulated GPU does not play {}: {}", order.label, played.error().message));
    return {};
  }
  // A simulated GPU does it from the return of play() on; a real one from some time after the
  // order was sent.
  const std::int64_t time_ns =
      *played && order.stimulus ? monotonic_now_ns() : std::min(order.time_ns, came_ns);
  output_->add_event(
      {time_ns, order.stimulus ? "point_begin" : "point_end", ipc::point_event_text(order)});
  return {time_ns};
}

}  // namespace gputrace::recorder
