// Time stamps: with one random instant a period, the offset inside the period is all there is to
// know (log2(1000) bits at 1 kHz); the period numbers compress to nothing.
#include <algorithm>
#include <bit>

#include "daemon/store/block_payload.h"

namespace gputrace::store {

namespace {

constexpr std::int64_t kMaxPeriodNs = 1'000'000'000'000;

/// First microsecond of a period.
std::int64_t period_start_us(std::int64_t period, std::int64_t period_ns) {
  return period * period_ns / 1000;
}
/// The last period that starts at or before a stamp.
std::int64_t period_of(std::int64_t us, std::int64_t period_ns) {
  return ((us + 1) * 1000 - 1) / period_ns;
}
unsigned offset_bits(std::int64_t period_ns) {
  return static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>((period_ns + 999) / 1000 - 1)));
}

}  // namespace

std::size_t max_times_size(std::size_t ticks) {
  return 16 + ticks * 10 + 40 * plane_bytes(ticks);
}

void write_times(ByteWriter& out, std::span<const std::int64_t> stamps_us, std::int64_t start_us,
                 std::int64_t period_ns) {
  period_ns = std::clamp<std::int64_t>(period_ns, 1000, kMaxPeriodNs);
  out.varint(static_cast<std::uint64_t>(period_ns));
  std::int64_t previous = period_of(start_us, period_ns);
  std::vector<std::uint64_t> offsets;
  for (const std::int64_t us : stamps_us) {
    const std::int64_t period = period_of(us, period_ns);
    out.varint(static_cast<std::uint64_t>(period - previous));
    previous = period;
    offsets.push_back(static_cast<std::uint64_t>(us - period_start_us(period, period_ns)));
  }
  Plane plane(plane_words(offsets.size()));
  for (unsigned bit = 0; bit < offset_bits(period_ns); ++bit) {
    std::fill(plane.begin(), plane.end(), 0);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      plane[i / 64] |= ((offsets[i] >> bit) & 1U) << (i % 64);
    }
    out.plane(plane, offsets.size());
  }
}

Status read_times(std::span<const std::byte> raw, std::int64_t start_us,
                  std::span<std::int64_t> stamps_us) {
  ByteReader in(raw);
  const auto period_ns = static_cast<std::int64_t>(in.varint_up_to(kMaxPeriodNs));
  if (!in.ok() || period_ns < 1000 || start_us < 0 || start_us > kMaxStampUs) {
    return fail(ErrorCode::kCorrupt, "time stamps without a period");
  }
  std::int64_t period = period_of(start_us, period_ns);
  const std::int64_t last_period = period_of(kMaxStampUs, period_ns);
  for (std::int64_t& us : stamps_us) {
    period += static_cast<std::int64_t>(
        in.varint_up_to(static_cast<std::uint64_t>(last_period - period)));
    us = period_start_us(period, period_ns);
  }
  if (!in.ok()) {
    return fail(ErrorCode::kCorrupt, "time stamps outside any session");
  }
  Plane plane(plane_words(stamps_us.size()));
  for (unsigned bit = 0; bit < offset_bits(period_ns); ++bit) {
    std::fill(plane.begin(), plane.end(), 0);
    in.plane(plane, stamps_us.size());
    for (std::size_t i = 0; i < stamps_us.size(); ++i) {
      stamps_us[i] += static_cast<std::int64_t>(((plane[i / 64] >> (i % 64)) & 1U) << bit);
    }
  }
  if (!in.at_end() || !std::is_sorted(stamps_us.begin(), stamps_us.end())) {
    return fail(ErrorCode::kCorrupt, "time stamps that do not fit their block");
  }
  return {};
}

}  // namespace gputrace::store
