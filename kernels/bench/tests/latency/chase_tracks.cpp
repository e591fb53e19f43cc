#include "kernels/bench/tests/latency/chase_tracks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace gputrace::bench {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kSeed = 1;

std::uint32_t bytes_of(ChaseLinks links) {
  switch (links) {
    case ChaseLinks::kAddresses:
      return 8;
    case ChaseLinks::kWords:
      return 4;
    case ChaseLinks::kVectors:
      return 16;
  }
  GPUTRACE_CHECK(false);
}

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// A finaliser of Stafford's (variant 13 of "Better Bit Mixing", 2011).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

/// One track in a buffer.
struct Segment {
  TrackWish wish;
  std::uint64_t first = 0;  ///< byte of the first node
  std::shared_ptr<const RandomCycle> cycle;

  [[nodiscard]] std::uint64_t place(std::uint32_t node) const {
    std::uint64_t place = first + node * wish.stride_bytes;
    if (wish.jittered && wish.stride_bytes > kNodeBytes) {
      place += mixed(node) % (wish.stride_bytes / kNodeBytes) * kNodeBytes;
    }
    return place;
  }
};

/// A buffer that tracks share.
struct NodeMemory {
  std::uint64_t bytes = 0;
  std::vector<std::shared_ptr<const Segment>> segments;
};

void write_links(const NodeMemory& nodes, ChaseLinks links, std::span<std::byte> memory,
                 std::uint64_t address) {
  for (const auto& segment : nodes.segments) {
    const RandomCycle& cycle = *segment->cycle;
    for (std::uint32_t i = 0; i < cycle.nodes(); ++i) {
      const std::uint64_t next = segment->place(cycle.at(std::uint64_t{i} + 1));
      std::byte* const to = &memory[segment->place(cycle.at(i))];
      if (links == ChaseLinks::kAddresses) {
        const std::uint64_t value = address + next;
        std::memcpy(to, &value, sizeof(value));
      } else {
        const auto value = static_cast<std::uint32_t>(next / bytes_of(links));
        std::memcpy(to, &value, sizeof(value));
      }
    }
  }
}

/// Places segments from the largest to the smallest: each slot of the lines is a memory of its own,
/// with a first free byte.
class Layout {
 public:
  Layout(ChaseLinks links, std::uint64_t line_bytes, std::uint64_t buffer_bytes)
      : slot_bytes_(bytes_of(links)), slots_(line_bytes / slot_bytes_), bytes_(buffer_bytes) {}

  std::pair<std::shared_ptr<NodeMemory>, std::shared_ptr<const Segment>> add(
      const TrackWish& wish) {
    GPUTRACE_CHECK(wish.bytes <= bytes_ && wish.bytes >= wish.stride_bytes);
    const std::uint64_t unit =
        std::max(wish.stride_bytes, wish.bytes >= kPageBytes ? kPageBytes : kNodeBytes);
    for (Slot& slot : open_) {
      const std::uint64_t first = rounded_up(slot.used, unit);
      if (first + wish.bytes <= bytes_) {
        return put(slot, first, wish);
      }
    }
    const auto memory = std::make_shared<NodeMemory>();
    memory->bytes = bytes_;
    for (std::uint64_t i = 0; i < slots_; ++i) {
      open_.push_back({.memory = memory, .offset = i * slot_bytes_, .used = 0});
    }
    return put(open_[open_.size() - slots_], 0, wish);
  }

 private:
  struct Slot {
    std::shared_ptr<NodeMemory> memory;
    std::uint64_t offset = 0;
    std::uint64_t used = 0;
  };

  static std::pair<std::shared_ptr<NodeMemory>, std::shared_ptr<const Segment>> put(
      Slot& slot, std::uint64_t first, const TrackWish& wish) {
    slot.used = first + wish.bytes;
    const auto segment = std::make_shared<const Segment>(
        Segment{.wish = wish,
                .first = first + slot.offset,
                .cycle = std::make_shared<const RandomCycle>(
                    static_cast<std::uint32_t>(wish.bytes / wish.stride_bytes), kSeed)});
    slot.memory->segments.push_back(segment);
    return {slot.memory, segment};
  }

  std::uint64_t slot_bytes_;
  std::uint64_t slots_;
  std::uint64_t bytes_;
  std::vector<Slot> open_;
};

/// Of `bits` bits.
std::uint32_t reversed(std::uint32_t value, std::uint32_t bits) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < bits; ++i) {
    result = result << 1U | (value >> i & 1U);
  }
  return result;
}

/// The nodes of an image. Squares of `side` texels hold `side` nodes at the points of Hammersley's
/// set: each 1 x side, 2 x side/2, ... side x 1 texels have exactly one of them, and one of these
/// shapes is that of 64 bytes in memory.
struct ImageNodes {
  std::uint32_t side;
  std::uint32_t width;

  [[nodiscard]] std::uint32_t place(std::uint32_t node) const {
    const auto bits = static_cast<std::uint32_t>(std::countr_zero(side));
    const std::uint32_t square = node / side;
    const std::uint32_t in_square = node % side;
    const std::uint32_t across = width / side;
    const std::uint32_t x = square % across * side + in_square;
    const std::uint32_t y = square / across * side + reversed(in_square, bits);
    return x | y << 16U;
  }
};

}  // namespace

std::vector<ChaseTrack> lay_tracks(const std::vector<TrackWish>& wishes, ChaseLinks links,
                                   std::uint32_t binding, std::uint64_t buffer_bytes) {
  std::uint64_t line_bytes = kNodeBytes;
  for (const TrackWish& wish : wishes) {
    line_bytes = std::min(line_bytes, wish.stride_bytes);
  }
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a].bytes > wishes[b].bytes; });
  Layout layout(links, line_bytes, buffer_bytes);
  std::vector<ChaseTrack> tracks(wishes.size());
  for (const std::size_t i : order) {
    const auto [memory, segment] = layout.add(wishes[i]);
    ChaseTrack& track = tracks[i];
    track.bytes = wishes[i].bytes;
    track.stride_bytes = wishes[i].stride_bytes;
    track.cycle = segment->cycle;
    track.place = [segment = segment](std::uint32_t node) {
      return static_cast<std::uint32_t>(segment->place(node));
    };
    BufferNeed need{.binding = binding, .bytes = memory->bytes, .fill = nullptr};
    need.shared = memory;
    if (links == ChaseLinks::kAddresses) {
      need.fill_at = [memory = memory, links](std::span<std::byte> to, std::uint64_t address) {
        write_links(*memory, links, to, address);
      };
    } else {
      need.fill = [memory = memory, links](std::span<std::byte> to) {
        write_links(*memory, links, to, 0);
      };
    }
    track.nodes = std::move(need);
  }
  return tracks;
}

ChaseTrack image_track(std::uint32_t width, std::uint32_t height, vulkan::Format format) {
  GPUTRACE_CHECK(std::has_single_bit(width) && std::has_single_bit(height) &&
                 std::min(width, height) >= kSmallestImageSide);
  const auto texel_bytes = static_cast<std::uint32_t>(vulkan::bytes_of(format));
  const ImageNodes nodes{.side = kNodeBytes / texel_bytes, .width = width};
  ChaseTrack track;
  track.bytes = std::uint64_t{width} * height * texel_bytes;
  track.cycle = std::make_shared<const RandomCycle>(
      static_cast<std::uint32_t>(track.bytes / kNodeBytes), kSeed);
  track.place = [nodes](std::uint32_t node) { return nodes.place(node); };
  track.image = TextureNeed{
      .description = {.width = width, .height = height, .format = format},
      .texels =
          [nodes, cycle = track.cycle, height, format, bytes = track.bytes] {
            std::vector<std::byte> texels(bytes);
            const auto index_of = [&](std::uint32_t place) {
              return std::size_t{place >> 16U} * nodes.width + (place & 0xffffU);
            };
            for (std::uint32_t i = 0; i < cycle->nodes(); ++i) {
              const std::uint32_t next = nodes.place(cycle->at(std::uint64_t{i} + 1));
              const std::size_t texel = index_of(nodes.place(cycle->at(i)));
              if (format == vulkan::Format::kR32ui) {
                std::memcpy(&texels[texel * sizeof(next)], &next, sizeof(next));
              } else {
                const std::array<float, 2> centre{
                    (static_cast<float>(next & 0xffffU) + 0.5F) / static_cast<float>(nodes.width),
                    (static_cast<float>(next >> 16U) + 0.5F) / static_cast<float>(height)};
                std::memcpy(&texels[texel * sizeof(centre)], centre.data(), sizeof(centre));
              }
            }
            return texels;
          },
      .shared = track.cycle};
  return track;
}

}  // namespace gputrace::bench
