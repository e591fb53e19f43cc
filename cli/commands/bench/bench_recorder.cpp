#include "cli/commands/bench/bench_recorder.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "daemon/base/time.h"

namespace gputrace::commands {

namespace {

/// A point takes a socket's round trip, and 0.3 s where a simulated GPU computes its load first.
constexpr std::int64_t kPointNs = 10 * kNsPerSecond;
/// As long as `gputrace record` waits.
constexpr std::int64_t kClosingNs = 3 * kNsPerSecond;

bool never() {
  return false;
}

}  // namespace

template <class Kind>
Result<Kind> BenchRecorder::await(std::int64_t patience_ns,
                                  const std::function<bool()>& cancelled) {
  const std::int64_t deadline_ns = monotonic_now_ns() + patience_ns;
  while (open_) {
    const std::int64_t left_ns = deadline_ns - monotonic_now_ns();
    pollfd readable{link_->fd(), POLLIN, 0};
    const int ready =
        ::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(left_ns, 0) / kNsPerMs));
    if (ready < 0 && errno == EINTR && !cancelled()) {
      continue;
    }
    if (ready <= 0) {
      return fail(ErrorCode::kBusy,
                  ready < 0 ? "interrupted" : "the recorder does not answer in time");
    }
    Result<std::optional<ipc::Answer>> received = link_->receive();
    if (!received) {
      warnings_.push_back(received.error().message);
      open_ = received.error().code == ErrorCode::kCorrupt;
      continue;
    }
    std::optional<ipc::Answer>& answer = *received;
    if (!answer) {
      open_ = false;
    } else if (auto* wanted = std::get_if<Kind>(&*answer)) {
      return std::move(*wanted);
    } else if (auto* failed = std::get_if<ipc::FailedAnswer>(&*answer)) {
      return tl::unexpected<Error>(std::move(failed->error));
    } else if (auto* warning = std::get_if<ipc::WarningAnswer>(&*answer)) {
      warnings_.push_back(std::move(warning->text));
    }
  }
  return fail(ErrorCode::kIo, "the recorder has ended");
}

Result<BenchRecorder> BenchRecorder::wait_until_ready(std::unique_ptr<RecorderLink> link,
                                                      std::int64_t patience_ns,
                                                      const std::function<bool()>& cancelled) {
  BenchRecorder recorder(std::move(link));
  Result<ipc::ReadyAnswer> ready = recorder.await<ipc::ReadyAnswer>(patience_ns, cancelled);
  if (!ready) {
    // One that comes too late leaves no file.
    [[maybe_unused]] const Status dropped =
        recorder.link_->stop({std::nullopt, std::nullopt, /*discard=*/true});
    return tl::unexpected(ready.error());
  }
  recorder.ready_ = std::move(*ready);
  return recorder;
}

Status BenchRecorder::send_point(const ipc::PointOrder& order) {
  const Status sent = link_->point(order);
  open_ = open_ && (sent || sent.error().code == ErrorCode::kBusy);
  return sent;
}

Status BenchRecorder::await_point() {
  const Result<ipc::PointAnswer> answer = await<ipc::PointAnswer>(kPointNs, never);
  return answer ? Status() : tl::unexpected(answer.error());
}

void BenchRecorder::discard() {
  if (!std::exchange(stopped_, true)) {
    [[maybe_unused]] const Status told =
        link_->stop({std::nullopt, std::nullopt, /*discard=*/true});
  }
}

Result<std::filesystem::path> BenchRecorder::stop() {
  stopped_ = true;
  RecordingEnd end;
  end.deadline_ns = monotonic_now_ns() + kClosingNs;
  Error missing{ErrorCode::kIo, "the recorder has ended"};
  if (const Status told = link_->stop({std::nullopt, std::nullopt, /*discard=*/false}); told) {
    Result<ipc::ClosedAnswer> closed = await<ipc::ClosedAnswer>(kClosingNs, never);
    if (closed) {
      end.closed = std::move(*closed);
    } else {
      missing = closed.error();
    }
  } else {
    open_ = false;
    missing = told.error();
  }
  end.open = open_;
  Delivery delivery = link_->deliver(end);
  warnings_.insert(warnings_.end(), delivery.warnings.begin(), delivery.warnings.end());
  if (end.closed && end.closed->cut) {
    warnings_.push_back(*end.closed->cut);
  }
  if (!delivery.file) {
    return tl::unexpected<Error>(std::move(missing));
  }
  return std::move(*delivery.file);
}

std::vector<std::string> BenchRecorder::take_warnings() {
  return std::exchange(warnings_, {});
}

}  // namespace gputrace::commands
