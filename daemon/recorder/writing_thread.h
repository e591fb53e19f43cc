// The thread that keeps a session: blocks and readings of its feed, orders, and the move to another
// GPU go into its file. When told to finish it closes the file without waiting for a read that
// hangs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/ipc/message.h"
#include "daemon/recorder/recording_file.h"
#include "daemon/recorder/sampling_pool.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/recorder/session_output.h"
#include "daemon/recorder/shared_sampling.h"

namespace gputrace::recorder {

class WritingThread final : public SessionOutput {
 public:
  /// Where samples come from.
  struct Place {
    SharedSampling* sampling = nullptr;
    std::shared_ptr<SessionFeed> feed;
  };
  /// What the session asks of another GPU, should its workload open one.
  struct Terms {
    SessionWish wish;
    std::string source;  ///< as GpuRequest::source
  };

  WritingThread(RecordingFile file, SamplingPool& pool, Place first, Terms terms);

  void add_event(store::Event event) override;
  void add_processes(ipc::ProcessesOrder processes) override;
  void switch_gpu(std::string pci) override;
  /// Leaves the sampling, closes the file, ends the thread. Returns what became of the file.
  [[nodiscard]] ipc::ClosedAnswer finish(std::optional<int> exit_code,
                                         std::optional<int> signal) override;

 private:
  struct Orders {
    std::vector<store::Event> events;
    std::vector<ipc::ProcessesOrder> processes;
    std::optional<std::string> switch_to;
    std::optional<store::SessionEnd> end;
  };

  void run();
  [[nodiscard]] Orders take_orders();
  void obey(Orders& orders);
  [[nodiscard]] bool has_more(const std::optional<store::SessionEnd>& end) const;
  // The move to another GPU: it is opened, joined, and what is left of the old one's samples taken.
  void begin_switch(std::string pci);
  void join_when_open(bool at_end);
  void move_when_left();
  void wake();
  void leave_all();

  // Of the writing thread alone.
  RecordingFile file_;
  SamplingPool& pool_;
  Terms terms_;
  bool switched_ = false;
  std::string switch_to_;
  std::shared_ptr<GpuOpening> opening_;
  std::int64_t left_ns_ = 0;  ///< when the old GPU's sampling was left
  std::string next_name_;
  bool left_after_end_ = false;
  ipc::ClosedAnswer closed_;

  std::mutex mutex_;
  Orders orders_;              ///< guarded by mutex_
  Place place_;                ///< changed by the writing thread, with mutex_
  std::optional<Place> next_;  ///< the same

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
