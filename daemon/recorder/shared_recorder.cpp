// The recorder of gputraced: one GPU, many sessions.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "daemon/ipc/message_socket.h"
#include "daemon/ipc/recorder_control.h"
#include "daemon/recorder/process_isolation.h"
#include "daemon/recorder/recorder.h"
#include "daemon/recorder/sampling_pool.h"
#include "daemon/recorder/session.h"

namespace gputrace::recorder {

namespace {

constexpr std::int64_t kHealthNs = kNsPerSecond;
// gputraced gives its recorders 2 s at its own end.
constexpr std::chrono::milliseconds kFinishing{1900};
// More sessions than the daemon's limits allow are a fault of the daemon, not a reason to run out
// of threads.
constexpr std::size_t kMostSessions = 256;

/// The sessions of the process, each on a thread of its own.
class Sessions {
 public:
  Sessions(const RecorderOptions& options, SamplingPool& pool) : options_(options), pool_(pool) {}

  void add(UniqueFd socket) {
    const std::scoped_lock lock(mutex_);
    join_ended();
    if (running_.size() >= kMostSessions) {
      return;  // the socket closes: the session ends before it began
    }
    Running& running =
        running_.emplace_back(ipc::MessageSocket(std::move(socket)), options_, pool_);
    running.thread = std::thread([this, &running] {
      running.session->run();
      const std::scoped_lock ended(mutex_);
      running.session.reset();  // the other end learns that it is over
      running.ended = true;
      ended_.notify_all();
    });
  }

  /// Ends all; waits so long for their files.
  void finish_all() {
    std::unique_lock lock(mutex_);
    for (const Running& running : running_) {
      if (running.session) {
        running.session->hang_up();
      }
    }
    ended_.wait_for(lock, kFinishing, [this] {
      return std::all_of(running_.begin(), running_.end(),
                         [](const Running& running) { return running.ended; });
    });
  }

 private:
  struct Running {
    Running(ipc::MessageSocket socket, const RecorderOptions& options, SamplingPool& pool)
        : session(std::make_unique<Session>(std::move(socket), options, pool)) {}
    std::unique_ptr<Session> session;
    std::thread thread;
    bool ended = false;
  };

  void join_ended() {
    for (auto running = running_.begin(); running != running_.end();) {
      if (running->ended) {
        running->thread.join();
        running = running_.erase(running);
      } else {
        ++running;
      }
    }
  }

  const RecorderOptions& options_;
  SamplingPool& pool_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Running> running_;  ///< guarded by mutex_
};

void drain(const UniqueFd& news) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(news.get(), &count, sizeof count);
}

void serve(const UniqueFd& control, const UniqueFd& news, const SamplingPool& pool,
           Sessions& sessions) {
  std::int64_t next_report_ns = 0;
  for (;;) {
    const std::int64_t wait_ns = next_report_ns - monotonic_now_ns();
    std::array<pollfd, 2> ready{{{control.get(), POLLIN, 0}, {news.get(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), wait_ns > 0 ? static_cast<int>(wait_ns / kNsPerMs) + 1 : 0);
    if (ready[0].revents != 0) {
      Result<std::optional<UniqueFd>> received = ipc::receive_session_socket(control.get());
      if (!received && received.error().code != ErrorCode::kCorrupt) {
        return;
      }
      if (received) {
        std::optional<UniqueFd>& socket = *received;
        if (!socket) {
          return;
        }
        sessions.add(std::move(*socket));
      }
    }
    const bool changed = ready[1].revents != 0;
    if (changed) {
      drain(news);
    }
    if (changed || monotonic_now_ns() >= next_report_ns) {
      // Who cannot be reached is gone, which the next receive says, or is slow and reads another.
      [[maybe_unused]] const Status sent = ipc::send_health(control.get(), pool.health());
      next_report_ns = monotonic_now_ns() + kHealthNs;
    }
  }
}

}  // namespace

void run_shared_recorder(UniqueFd control, const RecorderOptions& options) {
  isolate_process(control.get());
  const UniqueFd news(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  GPUTRACE_CHECK(static_cast<bool>(news));
  SamplingPool pool(options.open_gpu, [&news] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(news.get(), &one, sizeof one);
  });
  Sessions sessions(options, pool);
  serve(control, news, pool, sessions);
  sessions.finish_all();
  ::_exit(0);  // before any destructor: a thread may hang in the driver for good
}

}  // namespace gputrace::recorder
