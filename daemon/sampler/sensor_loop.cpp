#include "daemon/sampler/sensor_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace gputrace::sampler {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class MonotonicSensorTime final : public SensorTime {
 public:
  [[nodiscard]] std::int64_t now_ns() noexcept override { return monotonic_now_ns(); }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  std::int64_t deadline_ns) override {
    if (deadline_ns == kNever) {
      changed.wait(lock);
    } else {  // steady_clock is CLOCK_MONOTONIC in libstdc++ and libc++
      changed.wait_until(
          lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns)));
    }
  }
};

std::vector<SensorSchedule::Source> sources_of(
    const std::vector<std::shared_ptr<SensorReader>>& readers) {
  std::vector<SensorSchedule::Source> sources;
  sources.reserve(readers.size());
  for (const auto& reader : readers) {
    sources.push_back(
        {std::string(reader->name()), reader->max_rate_hz(), reader->needs_gpu_awake()});
  }
  return sources;
}

}  // namespace

std::shared_ptr<SensorTime> monotonic_sensor_time() {
  return std::make_shared<MonotonicSensorTime>();
}

struct SensorLoop::Job {
  std::uint32_t source = 0;
  std::shared_ptr<SensorReader> reader;
  bool may_be_open = false;
  bool release_only = false;
};

struct SensorLoop::Done {
  SensorSchedule::Result result;
  std::vector<std::optional<double>> values;
};

/// A thread that reads, and what it was told to. All guarded by Shared::mutex, but jobs[next] is
/// read by the thread alone while it works on it.
struct SensorLoop::Worker {
  std::vector<Job> jobs;
  std::size_t next = 0;
  std::int64_t began_ns = 0;  ///< work on jobs[next]; 0 = it has not begun
  std::vector<Done> done;
  bool quit = false;
  bool left_behind = false;
  bool returned = false;
  std::thread thread;  ///< of the loop's thread alone
};

/// Lives as long as the last thread that was left behind.
struct SensorLoop::Shared {
  std::shared_ptr<SensorTime> time;
  std::function<bool()> gpu_is_awake;
  std::mutex mutex;
  std::condition_variable changed;  ///< for the loop's thread
  std::condition_variable work;     ///< for workers
  // All below: guarded by mutex.
  bool stop = false;
  bool new_rate = true;
  double rate_hz = 0;
  std::optional<Burst> burst;
};

SensorLoop::SensorLoop(std::vector<std::unique_ptr<SensorReader>> readers,
                       SensorLoopOptions options, SensorSink& sink,
                       std::shared_ptr<SensorTime> time)
    : readers_(std::make_move_iterator(readers.begin()), std::make_move_iterator(readers.end())),
      deadline_ns_(options.deadline_ns),
      sink_(sink),
      schedule_(sources_of(readers_), options),
      shared_(std::make_shared<Shared>()) {
  shared_->time = std::move(time);
  shared_->gpu_is_awake = std::move(options.gpu_is_awake);
  shared_->rate_hz = options.rate_hz;
  shared_->burst = options.burst;
  thread_ = std::thread([this] { run(); });
}

SensorLoop::~SensorLoop() {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->changed.notify_one();
  thread_.join();
}

void SensorLoop::set_rate(double rate_hz, const std::optional<Burst>& burst) {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->rate_hz = rate_hz;
    shared_->burst = burst;
    shared_->new_rate = true;
  }
  shared_->changed.notify_one();
}

void SensorLoop::run() {
  std::unique_lock lock(shared_->mutex);
  while (!shared_->stop) {
    const std::int64_t now_ns = shared_->time->now_ns();
    if (std::exchange(shared_->new_rate, false)) {
      burst_ = shared_->burst;
      period_ns_ = shared_->rate_hz > 0 ? static_cast<double>(kNsPerSecond) / shared_->rate_hz : 0;
      grid_ns_ = now_ns;
      tick_ = 0;
      if (period_ns_ > 0) {
        schedule_.set_period(period_ns_);
      }
    }
    look_after_stuck(now_ns);
    if (period_ns_ == 0) {
      rest(lock);
      continue;
    }
    std::int64_t tick_ns = next_tick_ns();
    if (burst_ && burst_->window_from(tick_ns) > tick_ns) {
      grid_ns_ = burst_->window_from(tick_ns);
      tick_ = 0;
      tick_ns = grid_ns_;
    }
    if (now_ns < tick_ns) {
      shared_->time->wait_until(lock, shared_->changed, tick_ns);
      continue;
    }
    tick(lock, tick_ns);
    advance(shared_->time->now_ns());
  }
  if (worker_) {
    const bool busy = worker_->next < worker_->jobs.size();
    worker_->quit = true;
    worker_->left_behind = busy;
    if (busy) {
      stuck_.push_back(std::exchange(worker_, nullptr));
    }
  }
  for (const auto& worker : stuck_) {
    worker->jobs.resize(worker->next + 1);  // it holds the reader of its read, and no other
    worker->thread.detach();                // whoever waited for it might wait for ever
  }
  lock.unlock();
  if (worker_) {
    shared_->work.notify_all();
    worker_->thread.join();
  }
}

std::int64_t SensorLoop::next_tick_ns() const noexcept {
  return grid_ns_ + std::llround(static_cast<double>(tick_) * period_ns_);
}

void SensorLoop::advance(std::int64_t now_ns) noexcept {
  ++tick_;
  if (now_ns > next_tick_ns()) {
    tick_ =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(now_ns - grid_ns_) / period_ns_));
  }
}

/// Waits for a rate. The device may sleep meanwhile.
void SensorLoop::rest(std::unique_lock<std::mutex>& lock) {
  std::vector<Job> jobs;
  for (std::uint32_t source = 0; source < readers_.size(); ++source) {
    if (readers_[source]->needs_gpu_awake() && schedule_.may_be_open(source) &&
        !schedule_.hangs(source)) {
      jobs.push_back({source, readers_[source], true, /*release_only=*/true});
    }
  }
  perform_all(lock, std::move(jobs));
  if (!shared_->stop && !shared_->new_rate) {
    shared_->time->wait_until(lock, shared_->changed, kNever);
  }
}

void SensorLoop::tick(std::unique_lock<std::mutex>& lock, std::int64_t tick_ns) {
  due_.clear();
  schedule_.due(tick_ns, due_);
  std::vector<Job> jobs = worker_ ? std::move(worker_->jobs) : std::vector<Job>();  // its memory
  jobs.clear();
  for (const std::uint32_t source : due_) {
    jobs.push_back({source, readers_[source], schedule_.may_be_open(source), false});
  }
  readings_.reserve(due_.size());
  perform_all(lock, std::move(jobs));
  if (!due_.empty() && !shared_->stop) {
    deliver(lock);
  }
}

void SensorLoop::perform_all(std::unique_lock<std::mutex>& lock, std::vector<Job> jobs) {
  while (!jobs.empty()) {
    if (!worker_) {
      worker_ = std::make_shared<Worker>();
      worker_->thread = std::thread([shared = shared_, worker = worker_] { work(shared, worker); });
    }
    worker_->jobs = std::exchange(jobs, {});
    worker_->next = 0;
    shared_->work.notify_all();
    while (worker_->next < worker_->jobs.size()) {
      if (shared_->stop) {
        return;
      }
      const std::int64_t now_ns = shared_->time->now_ns();
      const std::int64_t began_ns = worker_->began_ns;
      if (began_ns != 0 && now_ns - began_ns >= deadline_ns_) {
        jobs = leave_behind(now_ns);
        break;
      }
      shared_->time->wait_until(lock, shared_->changed,
                                (began_ns != 0 ? began_ns : now_ns) + deadline_ns_);
    }
    if (worker_) {
      take_done(*worker_);
    }
  }
}

/// Returns what that worker had still to do.
std::vector<SensorLoop::Job> SensorLoop::leave_behind(std::int64_t now_ns) {
  take_done(*worker_);
  const auto rest = worker_->jobs.begin() + static_cast<std::ptrdiff_t>(worker_->next) + 1;
  std::vector<Job> jobs(std::make_move_iterator(rest),
                        std::make_move_iterator(worker_->jobs.end()));
  worker_->jobs.erase(rest, worker_->jobs.end());
  worker_->left_behind = true;
  schedule_.hang(worker_->jobs.back().source, worker_->began_ns, now_ns);
  stuck_.push_back(std::exchange(worker_, nullptr));
  return jobs;
}

void SensorLoop::take_done(Worker& worker) {
  for (Done& done : worker.done) {
    schedule_.finish(done.result);
    if (done.result.outcome == SensorSchedule::Outcome::kRead) {
      readings_.push_back(
          {done.result.source, done.result.begin_ns, done.result.end_ns, std::move(done.values)});
    }
  }
  worker.done.clear();
}

void SensorLoop::look_after_stuck(std::int64_t now_ns) {
  std::erase_if(stuck_, [&](const std::shared_ptr<Worker>& worker) {
    if (worker->returned) {
      schedule_.return_late(worker->jobs.back().source, now_ns);
      worker->thread.join();  // it ends without the lock
    }
    return worker->returned;
  });
}

void SensorLoop::deliver(std::unique_lock<std::mutex>& lock) {
  std::vector<SensorReading> readings = std::exchange(readings_, {});
  std::vector<SensorNotice> notices = schedule_.take_notices();
  lock.unlock();
  sink_.take(std::move(readings), std::move(notices), schedule_.states());
  lock.lock();
}

void SensorLoop::work(const std::shared_ptr<Shared>& shared,
                      const std::shared_ptr<Worker>& worker) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->work.wait(lock,
                      [&worker] { return worker->quit || worker->next < worker->jobs.size(); });
    if (worker->quit) {
      return;
    }
    while (worker->next < worker->jobs.size()) {
      const Job& job = worker->jobs[worker->next];
      worker->began_ns = shared->time->now_ns();
      lock.unlock();
      Done done;
      perform(job, *shared, done);
      lock.lock();
      if (worker->left_behind) {
        worker->returned = true;
        shared->changed.notify_one();
        return;
      }
      worker->began_ns = 0;
      worker->done.push_back(std::move(done));
      ++worker->next;
    }
    shared->changed.notify_one();
  }
}

void SensorLoop::perform(const Job& job, Shared& shared, Done& done) {
  using Outcome = SensorSchedule::Outcome;
  SensorReader& reader = *job.reader;
  const auto sleeps = [&] {
    return job.release_only ||
           (reader.needs_gpu_awake() && shared.gpu_is_awake && !shared.gpu_is_awake());
  };
  done.result.source = job.source;
  if (sleeps()) {
    if (job.may_be_open) {
      reader.release();
    }
    done.result.outcome = Outcome::kAsleep;
    return;
  }
  done.values.resize(reader.sensors().size());
  done.result.begin_ns = shared.time->now_ns();
  SensorOutcome outcome = reader.read(done.values);
  if (reader.sensors().size() > done.values.size()) {  // that read has found them
    done.values.resize(reader.sensors().size());
    outcome = reader.read(done.values);
  }
  done.result.end_ns = shared.time->now_ns();
  if (outcome == SensorOutcome::kRead) {
    done.result.outcome = Outcome::kRead;
  } else if (outcome == SensorOutcome::kRejected) {
    done.result.outcome = Outcome::kRejected;
    done.result.error = reader.last_error();
  } else if (sleeps()) {  // it fell asleep in between: no fault of the source
    reader.release();
    done.result.outcome = Outcome::kAsleep;
  } else {
    done.result.outcome = Outcome::kFailed;
    done.result.error = reader.last_error();
  }
}

}  // namespace gputrace::sampler
