#include "cli/commands/record/daemon_recorder.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <ctime>
#include <variant>
#include <vector>

#include "cli/commands/daemon_connection.h"
#include "daemon/base/time.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

namespace {

/// The message is there already when it is received.
constexpr std::int64_t kReceiveNs = kNsPerSecond;
constexpr std::int64_t kConnectNs = kNsPerSecond;
constexpr std::int64_t kReconnectNs = 2 * kNsPerSecond;
constexpr int kRetryMs = 50;

std::string clock_time(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kNsPerSecond);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

std::optional<ipc::Answer> answer_of(ipc::Reply reply) {
  if (auto* ready = std::get_if<ipc::ReadyAnswer>(&reply)) {
    return std::move(*ready);
  }
  if (auto* failed = std::get_if<ipc::FailedAnswer>(&reply)) {
    return std::move(*failed);
  }
  if (auto* warning = std::get_if<ipc::WarningAnswer>(&reply)) {
    return std::move(*warning);
  }
  if (auto* closed = std::get_if<ipc::ClosedAnswer>(&reply)) {
    return std::move(*closed);
  }
  if (const auto* point = std::get_if<ipc::PointAnswer>(&reply)) {
    return *point;
  }
  return std::nullopt;
}

/// Registers that the kernel lets only root read: a user's own recording would lack them.
std::vector<std::string> added_registers(const std::vector<store::StoredSegment>& segments) {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  std::vector<std::string> added;
  for (const store::StoredSegment& segment : segments) {
    const Result<regdb::RegisterMap> map = regdb.map_for_table(segment.description.regdb_table);
    if (!map) {
      continue;
    }
    for (const regdb::Register& known : map->registers) {
      const auto& read = segment.description.registers;
      const bool was_read = std::any_of(read.begin(), read.end(),
                                        [&](const auto& reg) { return reg.name == known.name; });
      if (was_read && !known.unprivileged &&
          std::find(added.begin(), added.end(), known.name) == added.end()) {
        added.push_back(known.name);
      }
    }
  }
  return added;
}

}  // namespace

Result<std::unique_ptr<RecorderLink>> DaemonRecorder::start(ipc::ControlClient daemon,
                                                            const RecordOptions& options,
                                                            SessionCopy copy) {
  ipc::RecordRequest request;
  request.gpu = options.gpu;
  request.source = options.source;
  request.rate_hz = options.rate_hz;
  request.sensor_rate_hz = options.sensor_rate_hz;
  request.purpose = options.purpose;
  request.label = options.label;
  if (options.command) {
    request.command = ipc::shorten_command(*options.command);
  }
  if (const Status sent = daemon.send(request); !sent) {
    return tl::unexpected(sent.error());
  }
  return std::make_unique<DaemonRecorder>(std::move(daemon), options.rate_hz, std::move(copy));
}

Result<std::optional<ipc::Answer>> DaemonRecorder::receive() {
  Result<std::optional<ipc::ReceivedReply>> received = daemon_.receive(kReceiveNs);
  if (!received && received.error().code == ErrorCode::kCorrupt) {
    return tl::unexpected(received.error());
  }
  std::optional<ipc::ReceivedReply> message = received ? std::move(*received) : std::nullopt;
  if (!message) {
    lost_realtime_ns_ = read_time_anchor().realtime_ns;
    return std::optional<ipc::Answer>();  // deliver() tells it, with what became of the file
  }
  std::optional<ipc::Answer> answer = answer_of(std::move(message->reply));
  if (!answer) {
    return fail(ErrorCode::kCorrupt, "gputraced sent an answer that nobody asked for");
  }
  if (const auto* ready = std::get_if<ipc::ReadyAnswer>(&*answer)) {
    if (!ipc::is_session_name(ready->file)) {
      return fail(ErrorCode::kIo, "gputraced named its session '" + ready->file +
                                      "', which is not the name of one");
    }
    name_ = ready->file;
  }
  return answer;
}

Result<std::filesystem::path> DaemonRecorder::fetch_from_next(std::int64_t deadline_ns) {
  const std::int64_t last_ns = std::min(deadline_ns, monotonic_now_ns() + kReconnectNs);
  for (;;) {
    const Result<ipc::ControlClient> next = connect_to_daemon(
        std::clamp<std::int64_t>(last_ns - monotonic_now_ns(), kNsPerMs, kConnectNs));
    if (next) {
      return fetch_session(*next, name_, copy_, deadline_ns);
    }
    if (monotonic_now_ns() >= last_ns) {
      return tl::unexpected(next.error());
    }
    ::poll(nullptr, 0, kRetryMs);
  }
}

Delivery DaemonRecorder::deliver(const RecordingEnd& end) {
  Delivery delivery;
  delivery.through = "gputraced";
  const std::string how_to_get = fmt::format("`gputrace fetch {}` gets it", name_);
  if (!end.closed && end.open) {
    delivery.warnings.push_back(fmt::format(
        "gputraced has not finished the recording within 3 s; once it has, {}", how_to_get));
    return delivery;
  }
  const bool cut = !end.closed;
  const Result<std::filesystem::path> file =
      end.open ? fetch_session(daemon_, name_, copy_, end.deadline_ns)
               : fetch_from_next(end.deadline_ns);
  const std::string ended =
      fmt::format("gputraced ended while it recorded, and the recording with it, at {}",
                  clock_time(lost_realtime_ns_.value_or(read_time_anchor().realtime_ns)));
  if (file) {
    delivery.file = *file;
    if (cut) {
      delivery.warnings.push_back(ended);
    }
    describe_file(*file, delivery);
  } else if (cut) {
    delivery.warnings.push_back(
        fmt::format("{}; its file is not here: {}. When gputraced runs "
                    "again, {}",
                    ended, file.error().message, how_to_get));
  } else {
    delivery.warnings.push_back(
        fmt::format("{}. gputraced keeps the recording: {}", file.error().message, how_to_get));
  }
  return delivery;
}

/// What only the file says: what the daemon read that a user cannot, and how often.
void DaemonRecorder::describe_file(const std::filesystem::path& file, Delivery& delivery) const {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  if (!session) {
    delivery.warnings.push_back(session.error().message);
    return;
  }
  const std::vector<std::string> added = added_registers(session->segments());
  if (!added.empty()) {
    delivery.through += fmt::format(": {} too", fmt::join(added, ", "));
  }
  double highest_hz = 0;
  double lowest_hz = rate_hz_;
  for (const store::StoredSegment& segment : session->segments()) {
    const double rate_hz = segment.description.rate_hz.value_or(rate_hz_);
    highest_hz = std::max(highest_hz, rate_hz);
    lowest_hz = std::min(lowest_hz, rate_hz);
  }
  if (highest_hz > rate_hz_) {
    delivery.notes.push_back(
        fmt::format("sampled at {:g} Hz instead of {:g}: another recording of this GPU asked for "
                    "more, and both share the reads",
                    highest_hz, rate_hz_));
  } else if (lowest_hz < rate_hz_) {
    delivery.notes.push_back(
        fmt::format("sampled at {:g} Hz instead of {:g}", lowest_hz, rate_hz_));
  }
}

}  // namespace gputrace::commands
