#include "daemon/simulated_gpu/tape.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gputrace::simulated_gpu {

namespace {

constexpr TapeSegment kSentinel = ~TapeSegment{0};
constexpr std::size_t kSegmentsPerSum = 64;
constexpr UnitMask kAllUnits = (UnitMask{1} << kUnitCount) - 1;

std::uint32_t time_of(TapeSegment segment) {
  return static_cast<std::uint32_t>(segment >> 32U);
}
UnitMask mask_of(TapeSegment segment) {
  return static_cast<UnitMask>(segment);
}
TapeSegment make_segment(std::uint32_t time_ns, UnitMask mask) {
  return TapeSegment{time_ns} << 32U | mask;
}

/// A unit begins or ends being busy. Ordered by time; the rest makes the order total.
struct Edge {
  std::uint32_t time_ns = 0;
  std::uint8_t unit = 0;
  bool rising = false;
  [[nodiscard]] std::uint64_t key() const {
    return std::uint64_t{time_ns} << 32U | std::uint64_t{unit} << 1U | (rising ? 1U : 0U);
  }
};

std::vector<Edge> collect_edges(BusyRecorder& busy, std::uint32_t length_ns) {
  std::vector<Edge> edges;
  for (std::uint8_t unit = 0; unit < kUnitCount; ++unit) {
    for (const BusyInterval& interval : busy.take(static_cast<Unit>(unit))) {
      const auto begin = static_cast<std::uint32_t>(std::max(0.0, interval.first));
      const auto end = std::min(static_cast<std::uint32_t>(interval.second), length_ns);
      if (end > begin) {
        edges.push_back({begin, unit, true});
        edges.push_back({end, unit, false});
      }
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.key() < b.key(); });
  return edges;
}

}  // namespace

Tape Tape::from_recording(BusyRecorder& busy, const TapeShape& shape) {
  const std::vector<Edge> edges = collect_edges(busy, shape.length_ns);
  std::vector<TapeSegment> segments{make_segment(0, 0)};
  UnitMask mask = 0;
  for (std::size_t i = 0; i < edges.size();) {
    const std::uint32_t time_ns = edges[i].time_ns;
    for (; i < edges.size() && edges[i].time_ns == time_ns; ++i) {
      const UnitMask bit = UnitMask{1} << edges[i].unit;
      mask = edges[i].rising ? mask | bit : mask & ~bit;
    }
    const UnitMask shown = mask == 0 ? 0 : mask | bit_of(Unit::kGui);
    if (time_of(segments.back()) == time_ns) {
      segments.back() = make_segment(time_ns, shown);
    } else if (mask_of(segments.back()) != shown) {
      segments.push_back(make_segment(time_ns, shown));
    }
  }
  return Tape(std::move(segments), shape);
}

Result<Tape> Tape::from_segments(std::vector<TapeSegment> segments, const TapeShape& shape) {
  const bool shape_holds = shape.length_ns > 0 && shape.body_end_ns <= shape.length_ns &&
                           (shape.repeats == 0 || shape.body_begin_ns < shape.body_end_ns);
  if (!shape_holds || segments.empty() || time_of(segments.front()) != 0 ||
      time_of(segments.back()) > shape.length_ns) {
    return fail(ErrorCode::kCorrupt, "a tape's shape does not hold");
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool later = i == 0 || time_of(segments[i]) > time_of(segments[i - 1]);
    if (!later || (mask_of(segments[i]) & ~kAllUnits) != 0) {
      return fail(ErrorCode::kCorrupt, "a tape's segments are out of order");
    }
  }
  return Tape(std::move(segments), shape);
}

Tape::Tape(std::vector<TapeSegment> segments, const TapeShape& shape)
    : shape_(shape), segments_(std::move(segments)) {
  segments_.push_back(kSentinel);
  build_index();
  build_prefix_sums();
}

void Tape::build_index() {
  // About one bucket a segment: a look-up then walks one or two segments.
  constexpr unsigned kMinShift = 4;
  constexpr unsigned kMaxShift = 20;
  const std::size_t wanted = 2 * segments().size() + 64;
  bucket_shift_ = kMinShift;
  while ((shape_.length_ns >> bucket_shift_) > wanted && bucket_shift_ < kMaxShift) {
    ++bucket_shift_;
  }
  bucket_.resize((shape_.length_ns >> bucket_shift_) + 1);
  std::size_t segment = 0;
  for (std::size_t i = 0; i < bucket_.size(); ++i) {
    const std::uint64_t begin_ns = std::uint64_t{i} << bucket_shift_;
    while ((segments_[segment + 1] >> 32U) <= begin_ns) {
      ++segment;
    }
    bucket_[i] = static_cast<std::uint32_t>(segment);
  }
}

void Tape::build_prefix_sums() {
  // A segment changes one or two units: only those are looked at.
  std::array<std::uint64_t, kUnitCount> ended{};     // busy ns of runs that have ended
  std::array<std::uint32_t, kUnitCount> begin_ns{};  // of the run in hand
  UnitMask before = 0;
  const std::size_t count = segments().size();
  prefix_sum_.reserve((count / kSegmentsPerSum + 1) * kUnitCount);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t time_ns = time_of(segments_[i]);
    if (i % kSegmentsPerSum == 0) {
      for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
        const bool running = (before >> unit & 1U) != 0;
        prefix_sum_.push_back(ended[unit] + (running ? time_ns - begin_ns[unit] : 0));
      }
    }
    const UnitMask state = mask_of(segments_[i]);
    for (UnitMask changed = state ^ before; changed != 0; changed &= changed - 1) {
      const auto unit = static_cast<std::size_t>(std::countr_zero(changed));
      if ((state >> unit & 1U) != 0) {
        begin_ns[unit] = time_ns;
      } else {
        ended[unit] += time_ns - begin_ns[unit];
      }
    }
    before = state;
  }
}

std::uint64_t Tape::length_ns() const {
  return shape_.length_ns +
         std::uint64_t{shape_.repeats} * (shape_.body_end_ns - shape_.body_begin_ns);
}

std::uint32_t Tape::fold(std::uint64_t x_ns) const {
  if (x_ns < shape_.body_end_ns || shape_.repeats == 0) {
    return static_cast<std::uint32_t>(x_ns);
  }
  const std::uint64_t body = shape_.body_end_ns - shape_.body_begin_ns;
  const std::uint64_t past = x_ns - shape_.body_end_ns;
  if (past < body * shape_.repeats) {
    return static_cast<std::uint32_t>(shape_.body_begin_ns + past % body);
  }
  return static_cast<std::uint32_t>(x_ns - body * shape_.repeats);
}

std::size_t Tape::segment_at(std::uint32_t x_ns) const {
  std::size_t segment = bucket_[x_ns >> bucket_shift_];
  while ((segments_[segment + 1] >> 32U) <= x_ns) {
    ++segment;
  }
  return segment;
}

UnitMask Tape::state_at(std::uint64_t x_ns) const {
  return mask_of(segments_[segment_at(fold(x_ns))]);
}

std::uint64_t Tape::recorded_busy_ns(std::uint32_t x_ns, Unit unit) const {
  if (x_ns == 0) {
    return 0;
  }
  const std::size_t last = segment_at(x_ns - 1);
  const std::size_t first = last - last % kSegmentsPerSum;
  std::uint64_t sum = prefix_sum_[first / kSegmentsPerSum * kUnitCount + index_of(unit)];
  const auto busy = [&](std::size_t i) { return (segments_[i] & bit_of(unit)) != 0; };
  for (std::size_t i = first; i < last; ++i) {
    if (busy(i)) {
      sum += time_of(segments_[i + 1]) - time_of(segments_[i]);
    }
  }
  return busy(last) ? sum + x_ns - time_of(segments_[last]) : sum;
}

std::uint64_t Tape::busy_ns(std::uint64_t x_ns, Unit unit) const {
  const std::uint64_t to_body_end = recorded_busy_ns(shape_.body_end_ns, unit);
  if (x_ns <= shape_.body_end_ns || shape_.repeats == 0) {
    return recorded_busy_ns(static_cast<std::uint32_t>(x_ns), unit);
  }
  const std::uint64_t to_body_begin = recorded_busy_ns(shape_.body_begin_ns, unit);
  const std::uint64_t body_busy = to_body_end - to_body_begin;
  const std::uint64_t body = shape_.body_end_ns - shape_.body_begin_ns;
  const std::uint64_t past = x_ns - shape_.body_end_ns;
  if (past < body * shape_.repeats) {
    const auto part_end = static_cast<std::uint32_t>(shape_.body_begin_ns + past % body);
    return to_body_end + past / body * body_busy + recorded_busy_ns(part_end, unit) - to_body_begin;
  }
  return shape_.repeats * body_busy +
         recorded_busy_ns(static_cast<std::uint32_t>(x_ns - body * shape_.repeats), unit);
}

}  // namespace gputrace::simulated_gpu
