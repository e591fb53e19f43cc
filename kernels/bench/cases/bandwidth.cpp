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
constexpr std::uint32_t kLineVectors = 64;
constexpr double kGoldenSection = 0.6180339887;
/// On a GPU that does not tell its cores.
constexpr std::uint32_t kOwnGroups = 32;
constexpr std::uint64_t kSmallestRegion = 4096;
constexpr std::uint64_t kMiB = 1U << 20U;

struct Buffers {
  bool from = false;
  bool other = false;
  bool to = false;
};

Buffers buffers_of(Stream stream) {
  return {.from = stream == Stream::kRead || stream == Stream::kCopy || stream == Stream::kTriad,
          .other = stream == Stream::kTriad,
          .to = stream != Stream::kRead};
}

void add_formula(KernelCase& kernel, Stream stream) {
  const Buffers buffers = buffers_of(stream);
  const double mixed = mixed_reads(stream);
  const double loads =
      kAccesses * ((buffers.from ? 1.0 : 0.0) + (buffers.other ? 1.0 : 0.0)) + mixed;
  const double stores = buffers.to ? kAccesses - mixed : 0;
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

void add_buffers(KernelCase& kernel, const StreamShape& shape, std::uint32_t groups,
                 const Region& region) {
  const Buffers buffers = buffers_of(shape.stream);
  // Sums are of whole numbers: exact in any order.
  const bool is_summed = shape.stream == Stream::kRead || mixed_reads(shape.stream) > 0;
  const auto fill = is_summed ? fill_with_words : fill_with_floats;
  if (buffers.from) {
    kernel.buffers.push_back({.binding = kFrom,
                              .bytes = std::max(shape.buffer_bytes, region.shared_bytes),
                              .fill = fill,
                              .fill_at = nullptr,
                              .shared = region.shared});
  }
  if (buffers.to) {
    BufferNeed to{.binding = kTo, .bytes = shape.buffer_bytes, .fill = {}};
    if (mixed_reads(shape.stream) > 0) {
      to.fill = fill;
    }
    kernel.buffers.push_back(std::move(to));
  }
  if (buffers.other) {
    kernel.buffers.push_back({.binding = kOther, .bytes = shape.buffer_bytes, .fill = fill});
  }
  kernel.buffers.push_back(
      {.binding = kSums, .bytes = std::uint64_t{groups} * kernel.group_threads * 4, .fill = {}});
}

KernelCase make_kernel(const vulkan::DeviceFacts& facts, const StreamShape& shape,
                       std::uint32_t groups, const Region& region = {}) {
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
  add_buffers(kernel, shape, groups, region);
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
  // A core sees the region of its own group alone.
  const std::uint64_t seen_bytes = region.own ? region.bytes : shape.buffer_bytes;
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kFp32,
                                {.access = shape.once ? Access::kStream : Access::kResident,
                                 .footprint_bytes = used * static_cast<double>(seen_bytes),
                                 .step_each_trip = true});
  return kernel;
}

std::uint64_t least_bytes(const vulkan::DeviceFacts& facts) {
  return std::uint64_t{memory_group_threads(facts)} * kAccesses * kVectorBytes;
}

std::string size_name(std::uint64_t bytes) {
  return bytes >= kMiB ? fmt::format("{}MiB", bytes / kMiB) : fmt::format("{}KiB", bytes / 1024);
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
    case Stream::kMix25:
      return "mix25";
    case Stream::kMix75:
      return "mix75";
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

std::uint64_t least_region(const vulkan::DeviceFacts& facts, Stream stream) {
  return mixed_reads(stream) > 0 ? std::max(kSmallestRegion, least_bytes(facts)) : kSmallestRegion;
}

std::uint32_t own_groups(const vulkan::DeviceFacts& facts) {
  return std::clamp(facts.cores.value_or(kOwnGroups), 1U, std::max(facts.max_groups_x, 1U));
}

SizedCase cache_case(const vulkan::DeviceFacts& facts, Stream stream, const Region& region) {
  GPUTRACE_CHECK(std::has_single_bit(region.bytes) && region.bytes >= least_region(facts, stream));
  const auto vectors = static_cast<std::uint32_t>(region.bytes / kVectorBytes);
  StreamShape shape;
  shape.id = fmt::format("bandwidth.{}.{}{}", name_of(stream), size_name(region.bytes),
                         region.own ? ".own" : "");
  shape.stream = stream;
  shape.walk.group_threads = memory_group_threads(facts);
  shape.walk.mask = vectors - 1;
  SizedCase sized;
  sized.scale_trips = true;
  if (region.own) {
    sized.launch.groups = own_groups(facts);
    shape.walk.group_region = vectors;
  } else {
    sized.launch.groups =
        facts.is_cpu ? kCacheGroupsOfCpu : std::clamp(facts.max_groups_x, 1U, kCacheGroups);
    // Multiples of the golden section lie evenly, however many groups run at a time: to whole lines
    // of a cache; in a mix all groups read the same places, or what they read would be everything.
    const std::uint32_t whole =
        mixed_reads(stream) > 0 ? kAccesses * shape.walk.group_threads : kLineVectors;
    shape.walk.group_start =
        static_cast<std::uint32_t>(static_cast<double>(vectors) * kGoldenSection) / whole * whole;
  }
  shape.buffer_bytes = region.bytes * (region.own ? sized.launch.groups : 1);
  sized.kernel = make_kernel(facts, shape, sized.launch.groups, region);
  sized.kernel.description =
      fmt::format("{} of {} KiB{}, again and again", name_of(stream), region.bytes / 1024,
                  region.own ? " a group" : " by all groups");
  return sized;
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
