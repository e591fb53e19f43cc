#include "daemon/store/kept_runs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

namespace gputrace::store {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18U;
/// A head, three numbers and a value at their longest.
constexpr std::size_t kLongestRun = 50;
/// Whole numbers up to this have exact differences, and doubles hold them.
constexpr double kMostWhole = 0x1p52;

// Bits of a head beside the series.
constexpr std::uint64_t kSingle = 1;  ///< one reading, at one moment
constexpr std::uint64_t kWhole = 2;   ///< the value is a whole number
constexpr unsigned kHeadBits = 2;

std::uint64_t fold(std::int64_t value) {  // small for small numbers of either sign
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

std::int64_t unfold(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
}

void put(std::uint64_t value, std::vector<std::uint8_t>& to) {
  while (value >= 0x80) {
    to.push_back(static_cast<std::uint8_t>(value | 0x80U));
    value >>= 7U;
  }
  to.push_back(static_cast<std::uint8_t>(value));
}

/// Not -0, which is another value.
bool is_whole(double value) {
  return std::abs(value) <= kMostWhole && value == std::floor(value) &&
         !(value == 0 && std::signbit(value));
}

}  // namespace

class KeptRuns::Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> chunk)
      : at_(chunk.data()), end_(chunk.data() + chunk.size()) {}

  [[nodiscard]] bool more() const { return at_ != end_; }
  std::uint64_t number() {
    std::uint64_t value = *at_ & 0x7fU;
    for (unsigned shift = 7; (*at_++ & 0x80U) != 0; shift += 7) {
      value |= std::uint64_t{*at_ & 0x7fU} << shift;
    }
    return value;
  }
  double raw() {
    double value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

bool KeptRuns::begin() {
  if (state_ != State::kEmpty) {
    return false;
  }
  state_ = State::kFilling;
  return true;
}

void KeptRuns::forget() {
  *this = KeptRuns(most_bytes_);
}

bool KeptRuns::close_chunk() {
  if (!open_.empty()) {
    auto closed = compressor_.compress(std::as_bytes(std::span(open_)));
    if (!closed || kept_bytes_ + closed->size() + kChunkBytes > most_bytes_) {
      return false;  // what is in the open chunk stays there
    }
    closed->shrink_to_fit();
    kept_bytes_ += closed->size();
    closed_.push_back(std::move(*closed));
    open_.clear();
  }
  open_.reserve(kChunkBytes);
  return true;
}

bool KeptRuns::add(std::int64_t row, std::int64_t series, const SensorRun& run) {
  if (full_) {
    return false;
  }
  const bool room = open_.capacity() > 0 && open_.size() + kLongestRun <= kChunkBytes;
  if (!room && !close_chunk()) {
    full_ = true;
    return false;
  }
  std::vector<std::uint8_t>& chunk = open_;
  const auto index = static_cast<std::size_t>(series);
  last_.resize(std::max(last_.size(), index + 1));
  Last& last = last_[index];
  const bool single = run.readings == 1 && run.start_ns == run.end_ns;
  const bool whole = is_whole(run.value);
  put((std::uint64_t{index} << kHeadBits) | (single ? kSingle : 0) | (whole ? kWhole : 0), chunk);
  const std::int64_t gap_ns = run.start_ns - last.end_ns;
  put(fold(gap_ns - last.gap_ns), chunk);
  if (!single) {
    put(static_cast<std::uint64_t>(run.end_ns - run.start_ns), chunk);
    put(run.readings, chunk);
  }
  if (whole) {
    const auto value = static_cast<std::int64_t>(run.value);
    put(fold(value - last.value), chunk);
    last.value = value;
  } else {
    chunk.resize(chunk.size() + sizeof run.value);
    std::memcpy(&chunk[chunk.size() - sizeof run.value], &run.value, sizeof run.value);
  }
  last.gap_ns = gap_ns;
  last.end_ns = run.end_ns;
  last_row_ = row;
  return true;
}

Status KeptRuns::for_each(
    const std::function<Status(std::int64_t, const SensorRun&)>& visit) const {
  std::vector<Last> before(last_.size());
  const auto visit_chunk = [&](std::span<const std::uint8_t> chunk) -> Status {
    Reader reader(chunk);
    while (reader.more()) {
      const std::uint64_t head = reader.number();
      Last& last = before[head >> kHeadBits];
      SensorRun run;
      last.gap_ns += unfold(reader.number());
      run.start_ns = last.end_ns + last.gap_ns;
      run.end_ns = run.start_ns;
      run.readings = 1;
      if ((head & kSingle) == 0) {
        run.end_ns += static_cast<std::int64_t>(reader.number());
        run.readings = static_cast<std::uint32_t>(reader.number());
      }
      last.end_ns = run.end_ns;
      if ((head & kWhole) != 0) {
        last.value += unfold(reader.number());
        run.value = static_cast<double>(last.value);
      } else {
        run.value = reader.raw();
      }
      if (Status visited = visit(static_cast<std::int64_t>(head >> kHeadBits), run); !visited) {
        return visited;
      }
    }
    return {};
  };
  Decompressor decompressor;
  std::vector<std::uint8_t> chunk;
  for (const std::vector<std::byte>& closed : closed_) {
    const auto bytes = decompressor.decompress(closed, kChunkBytes);
    if (!bytes) {
      return tl::unexpected<Error>(bytes.error());
    }
    chunk.resize(bytes->size());
    std::memcpy(chunk.data(), bytes->data(), bytes->size());
    if (Status visited = visit_chunk(chunk); !visited) {
      return visited;
    }
  }
  return visit_chunk(open_);
}

}  // namespace gputrace::store
