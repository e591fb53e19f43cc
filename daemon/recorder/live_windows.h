// A session that keeps nothing: counts of each second's samples for somebody who watches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "daemon/ipc/message.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/recorder/session_output.h"
#include "daemon/recorder/shared_sampling.h"

namespace gputrace::recorder {

class LiveWindows final : public SessionOutput {
 public:
  /// `send` is called on a thread of this object and must not wait; a window that it fails to send
  /// is skipped, and its ticks are counted as dropped.
  LiveWindows(SharedSampling& sampling, std::shared_ptr<SessionFeed> feed,
              std::function<Status(const ipc::Answer&)> send);

  void add_event(store::Event /*event*/) override {}
  void add_processes(ipc::ProcessesOrder /*processes*/) override {}
  void switch_gpu(std::string /*pci*/) override {}  ///< who watches chose the GPU
  [[nodiscard]] ipc::ClosedAnswer finish(std::optional<int> exit_code,
                                         std::optional<int> signal) override;

 private:
  void run(const std::stop_token& stop);
  void take(const FeedItem& item);
  void add(const SharedSegment& segment, const sampler::SampleBlock& block);
  void send_window();

  SharedSampling& sampling_;
  std::shared_ptr<SessionFeed> feed_;
  std::function<Status(const ipc::Answer&)> send_;
  std::shared_ptr<const SharedSegment> segment_;
  std::optional<ipc::WindowAnswer> window_;
  std::uint64_t window_ticks_ = 0;
  std::uint64_t kept_ticks_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t dropped_ticks_ = 0;
  std::optional<std::int64_t> first_ns_;
  std::int64_t last_ns_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
