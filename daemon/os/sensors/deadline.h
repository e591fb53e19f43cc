// Waits only so long for a call that the driver may never finish: firmware that has stopped
// answering holds every reader of its sensors.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace gputrace::os {

/// For a source of sensors that is looked for. Sensors answer within some milliseconds, but on a
/// busy machine this process may not run for a second. Driver and firmware give up after seconds.
inline constexpr std::chrono::milliseconds kProbeDeadline = std::chrono::seconds(2);

/// What `work` returns, on a thread of its own; absent when it took longer. The thread is then left
/// behind with all that `work` holds. Without threads (EAGAIN) the caller does the work itself.
template <class T>
[[nodiscard]] std::optional<T> within(std::chrono::milliseconds deadline,
                                      const std::function<T()>& work) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<T> result;
  };
  const auto shared = std::make_shared<Shared>();
  try {
    std::thread([shared, work] {
      T result = work();
      const std::scoped_lock lock(shared->mutex);
      shared->result = std::move(result);
      shared->done.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    return work();
  }
  std::unique_lock lock(shared->mutex);
  shared->done.wait_for(lock, deadline, [&] { return shared->result.has_value(); });
  return std::exchange(shared->result, std::nullopt);
}

}  // namespace gputrace::os
