// The conversation about one session: start, marks, stop over its socket; samples into its file or
// to who watches.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/ipc/message.h"
#include "daemon/ipc/message_socket.h"
#include "daemon/recorder/recorder.h"
#include "daemon/recorder/sampling_pool.h"
#include "daemon/recorder/session_output.h"
#include "daemon/recorder/shared_sampling.h"
#include "daemon/store/session_writer.h"

namespace gputrace::recorder {

class Session {
 public:
  Session(ipc::MessageSocket socket, const RecorderOptions& options, SamplingPool& pool)
      : socket_(std::move(socket)), options_(options), pool_(pool), sampling_(pool.first()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  /// Returns when the session is over and its file finished.
  void run();
  /// Any thread: as if the other end had closed the socket; what was sent before is still obeyed.
  void hang_up() const;

 private:
  [[nodiscard]] std::optional<ipc::StartOrder> wait_for_start();
  [[nodiscard]] Result<ipc::ReadyAnswer> start(const ipc::StartOrder& order);
  [[nodiscard]] Result<ipc::ReadyAnswer> begin(const ipc::StartOrder& order, const GpuOnOffer& gpu);
  [[nodiscard]] Result<std::string> begin_file(const ipc::StartOrder& order, const GpuOnOffer& gpu,
                                               const SessionWish& wish);
  /// Takes orders until the end; absent when the socket closed without a stop.
  [[nodiscard]] std::optional<ipc::StopOrder> take_orders();
  [[nodiscard]] ipc::PointAnswer take_point(const ipc::PointOrder& order);
  void send(const ipc::Answer& answer) const {
    // Who cannot be reached is gone; the next receive says so.
    [[maybe_unused]] const Status sent = socket_.send(answer);
  }
  void warn(std::string text) const { send(ipc::WarningAnswer{std::move(text), false}); }

  ipc::MessageSocket socket_;
  const RecorderOptions& options_;
  SamplingPool& pool_;
  SharedSampling& sampling_;  ///< of the GPU that it begins with
  std::unique_ptr<SessionOutput> output_;
};

}  // namespace gputrace::recorder
