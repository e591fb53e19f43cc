// The thread that reads a GPU. It may hang in the driver for seconds, so nothing in the recorder
// waits for it, and the process leaves with _exit(2) while it may still be reading.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/sampler/block_queue.h"
#include "daemon/sampler/register_reader.h"
#include "daemon/sampler/sampling_loop.h"

namespace gputrace::recorder {

/// Something that makes sampling punctual and that this process may not have.
struct Refusal {
  std::string kind;  ///< of the event: "no_realtime", "no_locked_memory", "no_timer_slack"
  std::string text;
};

class ReadingThread {
 public:
  ReadingThread(std::unique_ptr<sampler::RegisterReader> reader,
                const sampler::SamplingOptions& options);
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;
  ~ReadingThread() = default;  ///< waits for the thread

  /// Starts sampling; returns what the thread could not get of scheduling and memory.
  [[nodiscard]] std::vector<Refusal> start();
  /// The loop submits the block in hand and closes the queue, as soon as a read in progress
  /// returns.
  void request_stop() { thread_.request_stop(); }
  std::uint32_t request_flush() noexcept { return loop_.request_flush(); }
  [[nodiscard]] std::int64_t read_began_ns() const noexcept { return loop_.read_began_ns(); }
  /// Waits for the thread, which has closed the queue or will; gives the reader back.
  [[nodiscard]] std::unique_ptr<sampler::RegisterReader> join() {
    thread_.join();
    return std::move(reader_);
  }

  [[nodiscard]] sampler::BlockQueue& queue() { return queue_; }

 private:
  void run(const std::stop_token& stop);

  std::unique_ptr<sampler::RegisterReader> reader_;
  sampler::BlockQueue queue_;
  MonotonicClock clock_;
  sampler::SamplingLoop loop_;
  std::promise<std::vector<Refusal>> prepared_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
