// One GPU and its one sampling loop for all sessions that want its samples: opens the GPU, runs the
// loop at the highest rate that any session asked, and gives each its part. Looks for a GPU that
// vanished. Neither the sampling thread nor a session ever waits for another session.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/ipc/message.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/recorder/reading_thread.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/recorder/shared_sensors.h"
#include "daemon/recorder/state_watch.h"
#include "daemon/sampler/burst.h"

namespace gputrace::recorder {

/// What a session is told of the GPU before it joins.
struct GpuOnOffer {
  sampler::GpuIdentity identity;
  std::string regdb_table;
  std::vector<sampler::OfferedRegister> registers;
  std::vector<std::string> notes;
  double load_seconds = 0;
  bool is_asleep = false;  ///< nothing of it is open
};

/// What a session asks of the loops.
struct SessionWish {
  double rate_hz = 0;
  std::optional<sampler::Burst> burst = std::nullopt;
  double sensor_rate_hz = 0;  ///< 0 = no sensors
};

/// Never destroyed: its process leaves with _exit(2), since a thread that hangs in the driver
/// cannot be joined.
class SharedSampling {
 public:
  /// `changed` is called on any thread when health() has news.
  SharedSampling(ReaderFactory open_gpu, std::function<void()> changed);
  SharedSampling(const SharedSampling&) = delete;
  SharedSampling& operator=(const SharedSampling&) = delete;
  ~SharedSampling() = default;

  /// Opens the GPU unless it is open. kBusy while a read or an opening hangs. The request of the
  /// first session counts: all sessions share one reader.
  [[nodiscard]] Result<GpuOnOffer> open(const GpuRequest& request);
  /// The rate of the loop if a session joined that asks for this one.
  [[nodiscard]] double rate_with(double rate_hz) const;
  /// Samples from now on, inside the bursts if there are any. Begins or restarts the loops.
  [[nodiscard]] std::shared_ptr<SessionFeed> join(const SessionWish& asked);
  /// Samples up to now still come; then the feed is closed, unless a read hangs.
  void leave(const std::shared_ptr<SessionFeed>& feed);
  /// Closes the GPU if a session that opened it could not go on and there is no other.
  void close_if_unused();

  /// Makes a simulated GPU do what a bench's stimulus says; empty = the end of it. False: this GPU
  /// plays nothing. The sampling goes on meanwhile.
  [[nodiscard]] Result<bool> play(std::string_view stimulus);

  [[nodiscard]] ipc::HealthReport health() const;
  /// PCI address of the GPU that is open or was asked for last; may be empty.
  [[nodiscard]] std::string gpu() const;
  /// No session, and no GPU is open or being opened.
  [[nodiscard]] bool is_idle() const;

 private:
  struct Wish {
    double rate_hz = 0;
    std::optional<sampler::Burst> burst;
    bool operator==(const Wish&) const = default;
  };
  struct Member {
    std::shared_ptr<SessionFeed> feed;
    Wish wish;
    std::int64_t joined_ns = 0;
    bool waits_for_loop = false;  ///< the running one was not started for its rate
    bool told_refusals = false;
    std::optional<std::int64_t> left_ns;
    std::optional<std::uint32_t> flush;  ///< answered: all up to left_ns has come
  };

  // The distributing thread (distributing.cpp).
  void run();
  [[nodiscard]] ReadingThread* next_loop();
  void start_loop(std::unique_lock<std::mutex>& lock, const Wish& wanted);
  void distribute(ReadingThread& reading);
  void distribute_block(const sampler::SampleBlock& block);
  void begin_segment(const sampler::SampleBlock& block);
  void give(Member& member, const sampler::SampleBlock& block,
            const sampler::SamplingTotals& added);
  void end_loop(ReadingThread& reading);
  void look_for_gpu(std::unique_lock<std::mutex>& lock);
  void miss_gpu(const std::optional<Error>& error);

  // With mutex_ held.
  [[nodiscard]] std::optional<Wish> wish() const;
  void adjust_loop();
  void tell(const Notice& notice);
  void tell_refusals();
  [[nodiscard]] std::size_t active() const;
  [[nodiscard]] std::int64_t stuck_ns() const;
  const GpuOnOffer& take_gpu(OpenedGpu&& opened);
  void go_on_after_sleep(const GpuOnOffer& offer, std::int64_t now_ns);

  ReaderFactory open_gpu_;
  std::function<void()> changed_;
  std::mutex opening_mutex_;  ///< one opening at a time; taken before mutex_

  mutable std::mutex mutex_;
  std::condition_variable work_;
  // All below: guarded by mutex_.
  std::optional<GpuOnOffer> gpu_;                 ///< open
  SharedSensors sensors_;                         ///< of the GPU that is open
  std::function<Status(std::string_view)> play_;  ///< OpenedGpu::play of the GPU that is open
  GpuRequest request_;
  std::optional<std::int64_t> opening_since_ns_;
  std::unique_ptr<sampler::RegisterReader> reader_;  ///< while no loop has it
  std::unique_ptr<ReadingThread> reading_;
  bool starting_ = false;  ///< the reader is with a loop that is being made
  bool stopping_ = false;  ///< the loop was told to end
  Wish running_;
  std::vector<Refusal> refused_;
  std::vector<Member> members_;
  /// The name of the GPU that is looked for, if it slept and its reader is over.
  std::optional<std::string> woken_;
  bool gone_ = false;
  std::int64_t gone_since_ns_ = 0;
  std::int64_t look_again_ns_ = 0;
  std::string next_reason_;  ///< of the segment that the next loop begins
  std::shared_ptr<const SharedSegment> segment_;
  sampler::SamplingTotals totals_;  ///< of the loop's segment, at the last block
  StateWatch states_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gputrace::recorder
