#include "daemon/recorder/reading_thread.h"

#include <algorithm>
#include <utility>

namespace gputrace::recorder {

namespace {

constexpr std::int64_t kSlackNs = 1;
// Any real-time priority goes before all ordinary threads, and 1 is what the smallest RLIMIT_RTPRIO
// grants.
constexpr int kPriority = 1;

// The pool must outlast a writer that waits for a slow disk, and stay well under the usual
// RLIMIT_MEMLOCK of 8 MiB.
constexpr std::size_t kPoolBytes = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kFewestBlocks = 6;
constexpr std::size_t kMostBlocks = 32;

std::size_t pool_blocks(std::size_t registers, std::size_t ticks) {
  const std::size_t tick_bytes =
      sizeof(std::int64_t) + registers * (sizeof(std::uint32_t) + sizeof(sampler::SampleState));
  return std::clamp(kPoolBytes / (ticks * tick_bytes), kFewestBlocks, kMostBlocks);
}

}  // namespace

ReadingThread::ReadingThread(std::unique_ptr<sampler::RegisterReader> reader,
                             const sampler::SamplingOptions& options)
    : reader_(std::move(reader)),
      queue_(pool_blocks(reader_->registers().size(), sampler::block_capacity(options)),
             reader_->registers().size(), sampler::block_capacity(options)),
      loop_(*reader_, queue_, clock_, options) {}

std::vector<Refusal> ReadingThread::start() {
  std::future<std::vector<Refusal>> prepared = prepared_.get_future();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return prepared.get();
}

void ReadingThread::run(const std::stop_token& stop) {
  std::vector<Refusal> refused;
  const auto note = [&refused](const char* kind, const Status& status) {
    if (!status) {
      refused.push_back({kind, status.error().message});
    }
  };
  note("no_timer_slack", set_timer_slack(kSlackNs));
  note("no_realtime", set_fifo_scheduling(kPriority));
  note("no_locked_memory", loop_.pin_memory());
  prepared_.set_value(std::move(refused));
  loop_.run(stop);
}

}  // namespace gputrace::recorder
