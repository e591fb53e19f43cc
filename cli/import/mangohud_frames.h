// The frames of a MangoHud log. MangoHud writes a row for each frame (log_interval=0) or, by a
// timer, one row now and then with the time of the last frame; only the file's times tell which.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/import/sensor_series.h"
#include "cli/import/session_sink.h"

namespace gputrace::import {

class MangoHudFrames {
 public:
  explicit MangoHudFrames(SessionSink& sink) : sink_(sink) {}

  /// In order of time.
  Status add(const store::Frame& frame);
  Status finish(std::int64_t start_ns, std::int64_t end_ns);

  /// Frames that were written.
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// Rows came by a timer: their frame times are a series, not frames.
  [[nodiscard]] bool sampled() const { return series_.has_value(); }

 private:
  Status decide();
  Status write(const store::Frame& frame);
  Status flush();

  SessionSink& sink_;
  bool decided_ = false;
  std::vector<store::Frame> batch_;
  std::optional<SensorSeries> series_;
  std::uint64_t frames_ = 0;
};

}  // namespace gputrace::import
