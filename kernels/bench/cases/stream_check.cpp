#include "kernels/bench/cases/stream_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {
namespace {

constexpr std::uint64_t kCheckedThreads = 256;
constexpr std::uint64_t kCheckedTrips = 16;
/// Vectors that a check reads at most.
constexpr std::uint64_t kAffordable = 4'000'000;

/// What the first `reads` accesses of each of a thread's trips add up to.
std::uint32_t sum_of(const Walk& walk, std::uint32_t group, std::uint32_t lane, std::uint32_t trips,
                     std::uint32_t reads) {
  std::array<std::uint32_t, kVectorWords> sum{};
  for (std::uint32_t trip = 0; trip < trips; ++trip) {
    const std::uint32_t place = walk.place(group, lane, trip);
    for (std::uint32_t access = 0; access < reads; ++access) {
      const std::uint64_t vector = walk.vector(group, place, access);
      for (std::uint64_t word = 0; word < kVectorWords; ++word) {
        sum.at(word) += pattern_word(vector * kVectorWords + word);
      }
    }
  }
  return sum[0] + 3 * sum[1] + 5 * sum[2] + 7 * sum[3];
}

Status check_sums(const StreamShape& shape, const Launch& launch, std::span<const std::byte> sums) {
  const std::uint32_t threads = shape.walk.group_threads;
  const std::uint32_t reads = shape.stream == Stream::kRead ? kAccesses : mixed_reads(shape.stream);
  const std::uint64_t affordable =
      kAffordable / (std::uint64_t{kAccesses} * std::max(launch.trips, 1U));
  for (const std::uint64_t thread :
       sample_of(static_cast<std::uint64_t>(launch.groups) * threads,
                 std::clamp<std::uint64_t>(affordable, 2, kCheckedThreads))) {
    const auto group = static_cast<std::uint32_t>(thread / threads);
    const auto lane = static_cast<std::uint32_t>(thread % threads);
    const std::uint32_t wanted = sum_of(shape.walk, group, lane, launch.trips, reads);
    const auto got = read_at<std::uint32_t>(sums, thread);
    if (got != wanted) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: thread {} read a sum of {:#010x}, the CPU {:#010x}", shape.id,
                              thread, got, wanted));
    }
  }
  return {};
}

/// Every thread that sums nothing up leaves the place that it came to.
Status check_places(const StreamShape& shape, const Launch& launch,
                    std::span<const std::byte> places) {
  const std::uint32_t threads = shape.walk.group_threads;
  for (const std::uint64_t thread :
       sample_of(static_cast<std::uint64_t>(launch.groups) * threads, kCheckedThreads)) {
    const std::uint32_t wanted =
        shape.walk.place(static_cast<std::uint32_t>(thread / threads),
                         static_cast<std::uint32_t>(thread % threads), launch.trips);
    const auto got = read_at<std::uint32_t>(places, thread);
    if (got != wanted) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: thread {} came to vector {} instead of {}",
                                                   shape.id, thread, got, wanted));
    }
  }
  return {};
}

/// What a vector that was written says of who wrote it last.
struct Writer {
  std::uint32_t trip = 0;
  std::uint32_t group = 0;
  std::uint32_t place = 0;
  std::uint32_t mask = 0;
};

/// One that `visitor` wrote, or in a region that is shared anybody else whose way led there.
bool is_written(const StreamShape& shape, const Launch& launch, const Writer& visitor,
                std::uint64_t vector, const Writer& found) {
  if (shape.once && (found.trip != visitor.trip || found.group != visitor.group ||
                     found.place != visitor.place)) {
    return false;
  }
  const Walk& walk = shape.walk;
  if (found.trip >= launch.trips || found.group >= launch.groups || found.mask != walk.mask) {
    return false;
  }
  if (!shape.once && walk.group_region == 0) {
    return true;  // groups race, and a vector may be of two of them
  }
  const std::uint32_t lane = found.place - walk.place(found.group, 0, found.trip);
  bool led_here = false;
  for (std::uint32_t access = mixed_reads(shape.stream); access < kAccesses; ++access) {
    led_here = led_here || walk.vector(found.group, found.place, access) == vector;
  }
  return led_here && lane < walk.group_threads;
}

/// The value that a copy or a triad made of the patterns in its sources.
bool is_moved(Stream stream, float value, float got) {
  if (stream == Stream::kCopy) {
    return got == value;
  }
  return std::ranges::any_of(fp32_multiply_adds(), [&](const MultiplyAdd<float>& way) {
    return got == way.of(kTriadFactor, value, value);
  });
}

Status check_vector(const StreamShape& shape, const Launch& launch, const Writer& visitor,
                    std::uint64_t vector, std::span<const std::byte> to) {
  const std::uint64_t at = vector * kVectorWords;
  if (shape.stream == Stream::kWrite || mixed_reads(shape.stream) > 0) {
    const Writer found{.trip = read_at<std::uint32_t>(to, at),
                       .group = read_at<std::uint32_t>(to, at + 1),
                       .place = read_at<std::uint32_t>(to, at + 2),
                       .mask = read_at<std::uint32_t>(to, at + 3)};
    if (!is_written(shape, launch, visitor, vector, found)) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("{}: trip {} of group {} should have written vector {}; it holds trip "
                      "{}, group {}, place {}",
                      shape.id, visitor.trip, visitor.group, vector, found.trip, found.group,
                      found.place));
    }
    return {};
  }
  for (std::uint64_t word = at; word < at + kVectorWords; ++word) {
    const auto got = read_at<float>(to, word);
    if (!is_moved(shape.stream, pattern_float(word), got)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: trip {} of group {} made {} of {} at float {}", shape.id,
                              visitor.trip, visitor.group, got, pattern_float(word), word));
    }
  }
  return {};
}

Status check_written(const StreamShape& shape, const Launch& launch,
                     std::span<const std::byte> to) {
  const Walk& walk = shape.walk;
  for (const std::uint64_t thread :
       sample_of(static_cast<std::uint64_t>(launch.groups) * walk.group_threads, kCheckedThreads)) {
    const auto group = static_cast<std::uint32_t>(thread / walk.group_threads);
    const auto lane = static_cast<std::uint32_t>(thread % walk.group_threads);
    for (const std::uint64_t trip : sample_of(launch.trips, kCheckedTrips)) {
      const std::uint32_t place = walk.place(group, lane, static_cast<std::uint32_t>(trip));
      const Writer visitor{.trip = static_cast<std::uint32_t>(trip),
                           .group = group,
                           .place = place,
                           .mask = walk.mask};
      for (std::uint32_t access = mixed_reads(shape.stream); access < kAccesses; ++access) {
        if (const Status right =
                check_vector(shape, launch, visitor, walk.vector(group, place, access), to);
            !right) {
          return right;
        }
      }
    }
  }
  return {};
}

}  // namespace

std::uint32_t mixed_reads(Stream stream) {
  if (stream == Stream::kMix25) {
    return 1;
  }
  return stream == Stream::kMix75 ? kAccesses - 1 : 0;
}

Status check_stream(const StreamShape& shape, const Launch& launch, const Outputs& outputs) {
  const std::vector<std::byte>& sums = outputs.buffers.back();
  if (shape.stream == Stream::kRead) {
    return check_sums(shape, launch, sums);
  }
  const bool is_mix = mixed_reads(shape.stream) > 0;
  Status proven = is_mix ? check_sums(shape, launch, sums) : check_places(shape, launch, sums);
  if (!proven) {
    return proven;
  }
  const bool has_source = !is_mix && shape.stream != Stream::kWrite;
  return check_written(shape, launch, outputs.buffers.at(has_source ? 1 : 0));
}

}  // namespace gputrace::bench
