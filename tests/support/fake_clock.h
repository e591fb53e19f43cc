// A clock that tests move. Safe to share between threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::test {

class FakeClock final : public Clock {
 public:
  enum class Sleep {
    kAdvances,  ///< sleep_until() moves the clock to the deadline and returns at once
    kByHand,    ///< sleep_until() waits until another thread has moved the clock, or wake()
  };

  explicit FakeClock(std::int64_t start_ns = kNsPerSecond, Sleep sleep = Sleep::kAdvances)
      : now_ns_(start_ns), sleep_(sleep) {}

  /// Runs in every sleep_until(), after the clock was moved: to oversleep (advance()) or to stop
  /// what is being tested. Set it before threads share the clock.
  void on_sleep(std::function<void(FakeClock&)> hook) { hook_ = std::move(hook); }

  void advance(std::int64_t ns) {
    {
      const std::scoped_lock lock(mutex_);
      now_ns_ += ns;
    }
    moved_.notify_all();
  }

  /// Ends one sleep_until() early, as a signal handler would.
  void wake() {
    {
      const std::scoped_lock lock(mutex_);
      ++wakes_;
    }
    moved_.notify_all();
  }

  [[nodiscard]] std::int64_t now_ns() noexcept override { return now_ns_.load(); }

  void sleep_until(std::int64_t deadline_ns) noexcept override {
    {
      std::unique_lock lock(mutex_);
      if (sleep_ == Sleep::kByHand) {
        moved_.wait(lock, [&] { return now_ns_ >= deadline_ns || wakes_ > 0; });
        wakes_ -= wakes_ > 0 ? 1 : 0;
      } else if (now_ns_ < deadline_ns) {
        now_ns_ = deadline_ns;
      }
    }
    if (hook_) {
      hook_(*this);
    }
  }

 private:
  std::atomic<std::int64_t> now_ns_;
  const Sleep sleep_;
  std::function<void(FakeClock&)> hook_;
  std::mutex mutex_;
  std::condition_variable moved_;
  int wakes_ = 0;
};

}  // namespace gputrace::test
