#include "daemon/recorder/live_windows.h"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::recorder {

namespace {

constexpr std::int64_t kPopNs = 100 * kNsPerMs;
// Blocks that were cut short are put together to about a second.
constexpr std::int64_t kWindowNs = 950 * kNsPerMs;

void count(std::span<const std::uint32_t> words, std::span<const sampler::SampleState> states,
           ipc::RegisterWindow& counts) {
  for (std::size_t tick = 0; tick < words.size(); ++tick) {
    if (states[tick] == sampler::SampleState::kAsleep) {
      ++counts.asleep;
    } else if (sampler::is_unknown(states[tick])) {
      ++counts.unknown;
    } else {
      ++counts.valid;
      for (unsigned bit = 0; bit < counts.busy.size(); ++bit) {
        counts.busy[bit] += words[tick] >> bit & 1U;
      }
    }
  }
}

}  // namespace

LiveWindows::LiveWindows(SharedSampling& sampling, std::shared_ptr<SessionFeed> feed,
                         std::function<Status(const ipc::Answer&)> send)
    : sampling_(sampling), feed_(std::move(feed)), send_(std::move(send)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

ipc::ClosedAnswer LiveWindows::finish(std::optional<int> /*exit_code*/,
                                      std::optional<int> /*signal*/) {
  sampling_.leave(feed_);
  thread_.request_stop();  // nobody looks at the last part of a second
  feed_->wake();
  thread_.join();
  ipc::ClosedAnswer closed;
  closed.samples = kept_ticks_;
  closed.missed = missed_;
  closed.dropped = dropped_ticks_;
  closed.seconds =
      first_ns_ ? static_cast<double>(last_ns_ - *first_ns_) / static_cast<double>(kNsPerSecond)
                : 0;
  return closed;
}

void LiveWindows::run(const std::stop_token& stop) {
  while (!stop.stop_requested() && !feed_->closed()) {
    if (const std::optional<FeedItem> item = feed_->pop(kPopNs)) {
      take(*item);
    }
  }
}

void LiveWindows::take(const FeedItem& item) {
  for (const Notice& notice : item.notices) {
    if (!notice.warning.empty()) {
      [[maybe_unused]] const Status sent = send_(ipc::WarningAnswer{notice.warning, false});
    }
  }
  if (!item.block) {
    return;
  }
  if (item.segment != segment_ && window_) {
    send_window();
  }
  segment_ = item.segment;
  add(*segment_, *item.block);
  if (window_ && window_->end_ns - window_->start_ns >= kWindowNs) {
    send_window();
  }
}

void LiveWindows::add(const SharedSegment& segment, const sampler::SampleBlock& block) {
  if (!window_) {
    window_ = ipc::WindowAnswer{block.start_ns, block.end_ns, {}};
    for (const sampler::OfferedRegister& reg : segment.registers) {
      window_->registers.push_back({reg.name, 0, 0, 0, {}});
    }
  }
  window_->end_ns = block.end_ns;
  for (std::size_t reg = 0; reg < block.register_count; ++reg) {
    count(block.words_of(reg), block.states_of(reg), window_->registers[reg]);
  }
  window_ticks_ += block.size;
  kept_ticks_ += block.size;
  missed_ += block.missed;
  dropped_ticks_ += block.dropped_ticks;
  first_ns_ = first_ns_.value_or(block.start_ns);
  last_ns_ = block.end_ns;
}

void LiveWindows::send_window() {
  if (!window_) {
    return;
  }
  if (const Status sent = send_(*window_); !sent) {
    dropped_ticks_ += window_ticks_;
  }
  window_.reset();
  window_ticks_ = 0;
}

}  // namespace gputrace::recorder
