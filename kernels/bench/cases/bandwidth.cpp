#include "kernels/bench/cases/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/stream_check.h"

namespace gputrace::bench {
namespace {

// bandwidth.glsl
constexpr std::uint32_t kFrom = 0;
constexpr std::uint32_t kTo = 1;
constexpr std::uint32_t kOther = 2;
constexpr std::uint32_t kSums = 3;
/// Of a thread that streams: few, so that many groups share the work. A software rasteriser has few
/// cores, and groups cost it more.
constexpr std::uint32_t kStreamTrips = 4;
constexpr std::uint32_t kStreamTripsOfCpu = 64;
constexpr std::uint32_t kCacheGroups = 8192;
constexpr std::uint32_t kCacheGroupsOfCpu = 512;
constexpr double kGoldenSection = 0.6180339887;
/// Of all groups' own regions together.
constexpr std::uint64_t kPrivateBytes = 128U << 20U;
constexpr std::uint64_t kSmallestRegion = 4096;
constexpr std::uint64_t kMiB = 1U << 20U;

struct Buffers {
  bool from = false;
  bool other = false;
  bool to = false;
};

Buffers buffers_of(Stream stream) {
  return {.from = stream != Stream::kWrite,
          .other = stream == Stream::kTriad,
          .to = stream != Stream::kRead};
}

void add_formula(KernelCase& kernel, Stream stream) {
  const Buffers buffers = buffers_of(stream);
  const double loads = kAccesses * ((buffers.from ? 1.0 : 0.0) + (buffers.other ? 1.0 : 0.0));
  const double stores = buffers.to ? kAccesses : 0;
  if (loads > 0) {
    kernel.formula.push_back({.operation = Operation::kLoad16, .per_trip = loads});
  }
  if (stores > 0) {
    kernel.formula.push_back({.operation = Operation::kStore16, .per_trip = stores});
  }
  if (stream == Stream::kTriad) {
    constexpr double kFmas = kAccesses * kVectorWords;
    kernel.formula.push_back({.operation = Operation::kFmaF32, .per_trip = kFmas});
    kernel.flops_per_trip = 2 * kFmas;
  }
  kernel.formula.push_back({.operation = Operation::kStore4, .once = 1});
  kernel.read_bytes_per_trip = loads * kVectorBytes;
  kernel.written_bytes_per_trip = stores * kVectorBytes;
  kernel.written_bytes_once = sizeof(std::uint32_t);
}

void add_buffers(KernelCase& kernel, const StreamShape& shape, std::uint32_t groups) {
  const Buffers buffers = buffers_of(shape.stream);
  // Sums are of whole numbers: exact in any order.
  const auto fill = shape.stream == Stream::kRead ? fill_with_words : fill_with_floats;
  if (buffers.from) {
    kernel.buffers.push_back({.binding = kFrom, .bytes = shape.buffer_bytes, .fill = fill});
  }
  if (buffers.to) {
    kernel.buffers.push_back({.binding = kTo, .bytes = shape.buffer_bytes, .fill = {}});
  }
  if (buffers.other) {
    kernel.buffers.push_back({.binding = kOther, .bytes = shape.buffer_bytes, .fill = fill});
  }
  kernel.buffers.push_back(
      {.binding = kSums, .bytes = std::uint64_t{groups} * kernel.group_threads * 4, .fill = {}});
}

KernelCase make_kernel(const vulkan::DeviceFacts& facts, const StreamShape& shape,
                       std::uint32_t groups) {
  const Buffers buffers = buffers_of(shape.stream);
  KernelCase kernel;
  kernel.id = shape.id;
  // RADV makes the same code of both. A software rasteriser loads each word of each lane by itself.
  const bool wide = facts.is_cpu && facts.int64;
  kernel.shader = wide ? "bandwidth64.comp" : "bandwidth.comp";
  if (wide) {
    kernel.needs = {Requirement::kInt64};
  }
  kernel.group_threads = shape.walk.group_threads;
  kernel.constants = {kernel.group_threads, static_cast<std::uint32_t>(shape.stream)};
  add_buffers(kernel, shape, groups);
  kernel.push = [walk = shape.walk](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at(push, 0, launch.trips);
    write_at(push, 1, walk.mask);
    write_at(push, 2, walk.group_region);
    write_at(push, 3, walk.group_start);
    write_at(push, 4, kTriadFactor);
    return push;
  };
  add_formula(kernel, shape.stream);
  kernel.check = [shape](const Launch& launch, const Outputs& outputs) {
    return check_stream(shape, launch, outputs);
  };
  const double used = (buffers.from ? 1 : 0) + (buffers.other ? 1 : 0) + (buffers.to ? 1 : 0);
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kFp32,
                                {.access = shape.once ? Access::kStream : Access::kResident,
                                 .footprint_bytes = used * static_cast<double>(shape.buffer_bytes),
                                 .step_each_trip = true});
  return kernel;
}

std::uint64_t least_bytes(const vulkan::DeviceFacts& facts) {
  return std::uint64_t{memory_group_threads(facts)} * kAccesses * kVectorBytes;
}

std::string size_name(std::uint64_t bytes) {
  return bytes >= kMiB ? fmt::format("{}MiB", bytes / kMiB) : fmt::format("{}KiB", bytes / 1024);
}

/// A cache's group and region.
SizedCase make_cache_case(const vulkan::DeviceFacts& facts, Stream stream, std::uint64_t bytes,
                          bool is_private) {
  GPUTRACE_CHECK(std::has_single_bit(bytes) && bytes >= kSmallestRegion);
  const auto vectors = static_cast<std::uint32_t>(bytes / kVectorBytes);
  StreamShape shape;
  shape.id = fmt::format("bandwidth.{}.{}{}", name_of(stream), size_name(bytes),
                         is_private ? ".private" : "");
  shape.stream = stream;
  shape.walk.group_threads = memory_group_threads(facts);
  shape.walk.mask = vectors - 1;
  std::uint32_t groups =
      facts.is_cpu ? kCacheGroupsOfCpu : std::min(kCacheGroups, facts.max_groups_x);
  if (is_private) {
    groups = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        std::min(kPrivateBytes, facts.max_storage_range) / bytes, 1, groups));
    shape.walk.group_region = vectors;
    shape.buffer_bytes = bytes * groups;
  } else {
    // Multiples of the golden section lie evenly, however many groups run at a time; to whole
    // lines of a cache.
    shape.walk.group_start =
        static_cast<std::uint32_t>(static_cast<double>(vectors) * kGoldenSection) & ~63U;
    shape.buffer_bytes = bytes;
  }
  SizedCase sized;
  sized.launch.groups = groups;
  sized.scale_trips = true;
  sized.kernel = make_kernel(facts, shape, groups);
  sized.kernel.description = fmt::format("{} of {} KiB{}, again and again", name_of(stream),
                                         bytes / 1024, is_private ? " a group" : " by all groups");
  return sized;
}

}  // namespace

std::string_view name_of(Stream stream) {
  switch (stream) {
    case Stream::kRead:
      return "read";
    case Stream::kWrite:
      return "write";
    case Stream::kCopy:
      return "copy";
    case Stream::kTriad:
      return "triad";
  }
  return "";
}

SizedCase dram_case(const vulkan::DeviceFacts& facts, Stream stream, std::uint64_t bytes,
                    const StreamGroups& groups) {
  const std::string groups_suffix =
      groups.most ? fmt::format(".groups{}", *groups.most) : std::string();
  StreamShape shape;
  shape.id = fmt::format("bandwidth.{}.dram{}{}", name_of(stream), group_suffix(groups.threads),
                         groups_suffix);
  shape.stream = stream;
  shape.once = true;
  shape.walk.group_threads = groups.threads.value_or(memory_group_threads(facts));
  // A trip of all groups at once must fit in the range.
  const std::uint64_t trip_bytes =
      std::uint64_t{shape.walk.group_threads} * kAccesses * kVectorBytes;
  shape.buffer_bytes =
      std::bit_floor(std::clamp(bytes, trip_bytes, std::max(trip_bytes, facts.max_storage_range)));
  const auto vectors = static_cast<std::uint32_t>(shape.buffer_bytes / kVectorBytes);
  std::uint64_t trips = facts.is_cpu ? kStreamTripsOfCpu : kStreamTrips;
  trips = std::min(trips, shape.buffer_bytes / trip_bytes);
  const std::uint32_t most = std::min(facts.max_groups_x, groups.most.value_or(UINT32_MAX));
  while (shape.buffer_bytes / (trip_bytes * trips) > std::max(most, 1U) && trips * 2 <= kMaxTrips) {
    trips *= 2;
  }
  shape.walk.mask = vectors - 1;
  shape.walk.group_start = static_cast<std::uint32_t>(trips * kAccesses * shape.walk.group_threads);
  SizedCase sized;
  sized.launch.groups = static_cast<std::uint32_t>(shape.buffer_bytes / (trip_bytes * trips));
  sized.launch.trips = static_cast<std::uint32_t>(trips);
  sized.kernel = make_kernel(facts, shape, sized.launch.groups);
  sized.kernel.description =
      fmt::format("{} of {} KiB, each byte once", name_of(stream), shape.buffer_bytes / 1024);
  return sized;
}

SizedCase cache_case(const vulkan::DeviceFacts& facts, Stream stream, std::uint64_t bytes) {
  return make_cache_case(facts, stream, bytes, false);
}

SizedCase private_cache_case(const vulkan::DeviceFacts& facts, Stream stream, std::uint64_t bytes) {
  return make_cache_case(facts, stream, bytes, true);
}

std::uint64_t dram_bytes(const vulkan::DeviceFacts& facts, bool quick) {
  const std::uint64_t wanted = facts.is_cpu ? 64 * kMiB : (quick ? 128 : 512) * kMiB;
  std::uint64_t bytes = std::min(wanted, facts.max_storage_range);
  // A null device has no memory, and compiles alone. A triad needs three such buffers.
  if (facts.memory_bytes != 0) {
    bytes = std::min(bytes, facts.memory_bytes / 8);
  }
  return std::bit_floor(std::max(bytes, least_bytes(facts)));
}

std::vector<std::uint64_t> working_sets(const vulkan::DeviceFacts& facts, bool quick) {
  std::vector<std::uint64_t> sizes;
  const std::uint64_t largest = dram_bytes(facts, quick);
  for (std::uint64_t bytes = kSmallestRegion; bytes <= largest; bytes *= quick ? 4 : 2) {
    sizes.push_back(bytes);
  }
  return sizes;
}

}  // namespace gputrace::bench
