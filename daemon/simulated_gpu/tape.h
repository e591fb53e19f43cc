// The recording of one simulated period: which units are busy, by time. Reading a register is a
// look-up in it, the exact truth an integral of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/simulated_gpu/busy_recorder.h"
#include "daemon/simulated_gpu/units.h"

namespace gputrace::simulated_gpu {

/// Time (ns) in the upper half, UnitMask in the lower: the state from then until the next segment.
using TapeSegment = std::uint64_t;

/// A long dispatch keeps head and tail and repeats [body_begin_ns, body_end_ns) `repeats` times
/// more.
struct TapeShape {
  std::uint32_t length_ns = 0;  ///< as recorded
  std::uint32_t body_begin_ns = 0;
  std::uint32_t body_end_ns = 0;
  std::uint32_t repeats = 0;
};

class Tape {
 public:
  /// Takes the units' intervals out of the recorder. GUI_ACTIVE is set wherever any unit is busy.
  static Tape from_recording(BusyRecorder& busy, const TapeShape& shape);
  /// kCorrupt unless the segments begin at 0, their times increase and lie inside the shape.
  static Result<Tape> from_segments(std::vector<TapeSegment> segments, const TapeShape& shape);

  /// With the repeats.
  [[nodiscard]] std::uint64_t length_ns() const;
  /// `x_ns` < length_ns(). Allocates nothing; safe from any thread.
  [[nodiscard]] UnitMask state_at(std::uint64_t x_ns) const;
  /// Nanoseconds of [0, x_ns), x_ns <= length_ns(), in which `unit` is busy. Exact.
  [[nodiscard]] std::uint64_t busy_ns(std::uint64_t x_ns, Unit unit) const;

  [[nodiscard]] const TapeShape& shape() const { return shape_; }
  [[nodiscard]] std::span<const TapeSegment> segments() const {
    return std::span(segments_).first(segments_.size() - 1);
  }

 private:
  Tape(std::vector<TapeSegment> segments, const TapeShape& shape);
  void build_index();
  void build_prefix_sums();
  [[nodiscard]] std::uint32_t fold(std::uint64_t x_ns) const;
  [[nodiscard]] std::size_t segment_at(std::uint32_t x_ns) const;
  [[nodiscard]] std::uint64_t recorded_busy_ns(std::uint32_t x_ns, Unit unit) const;

  TapeShape shape_;
  std::vector<TapeSegment> segments_;      ///< and a sentinel later than all times
  unsigned bucket_shift_ = 0;              ///< a bucket spans 2^shift ns
  std::vector<std::uint32_t> bucket_;      ///< segment in force at the bucket's begin
  std::vector<std::uint64_t> prefix_sum_;  ///< busy ns a unit before every 64th segment
};

}  // namespace gputrace::simulated_gpu
