#include "cli/import/mangohud_frames.h"

#include <algorithm>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::import {

namespace {
constexpr std::size_t kRowsToDecide = 256;
/// A pause among fewer rows looks like a timer.
constexpr std::size_t kFewestToTell = 8;
constexpr std::size_t kBatch = 4096;
}  // namespace

Status MangoHudFrames::add(const store::Frame& frame) {
  if (decided_) {
    return write(frame);
  }
  batch_.push_back(frame);
  return batch_.size() < kRowsToDecide ? Status{} : decide();
}

/// Frames follow each other: the distance of rows is the time of the later frame, give or take what
/// a pause or a lost row does to single ones.
Status MangoHudFrames::decide() {
  decided_ = true;
  std::vector<double> shares;
  for (std::size_t i = 1; i < batch_.size(); ++i) {
    shares.push_back(static_cast<double>(batch_[i].end_ns - batch_[i - 1].end_ns) /
                     static_cast<double>(std::max<std::int64_t>(batch_[i].duration_ns, 1)));
  }
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  constexpr double kMaxShare = 1.5;
  if (shares.size() >= kFewestToTell && *middle > kMaxShare) {
    store::SensorSource source;
    source.name = "MangoHud frametime";
    source.sensors.push_back({"frame_time", "MangoHud frametime", "frametime", "ms",
                              sampler::SensorKind::kGauge, "",
                              "rows came by a timer: each has the time of the last frame"});
    Result<SensorSeries> series = SensorSeries::define(sink_, std::move(source), 2 * kNsPerSecond);
    if (!series) {
      return tl::unexpected(series.error());
    }
    series_.emplace(std::move(*series));
  }
  for (const store::Frame& frame : std::exchange(batch_, {})) {
    if (Status status = write(frame); !status) {
      return status;
    }
  }
  return {};
}

Status MangoHudFrames::write(const store::Frame& frame) {
  if (series_) {
    series_->count_read();
    return series_->add(0, frame.end_ns, static_cast<double>(frame.duration_ns) / 1e6);
  }
  ++frames_;
  batch_.push_back(frame);
  return batch_.size() < kBatch ? Status{} : flush();
}

Status MangoHudFrames::flush() {
  const Status added = sink_.add_frames(batch_);
  batch_.clear();
  return added;
}

Status MangoHudFrames::finish(std::int64_t start_ns, std::int64_t end_ns) {
  if (!decided_) {
    if (Status status = decide(); !status) {
      return status;
    }
  }
  return series_ ? series_->finish(start_ns, end_ns) : flush();
}

}  // namespace gputrace::import
