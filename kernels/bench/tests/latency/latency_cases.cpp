#include "kernels/bench/tests/latency/latency_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace gputrace::bench {

namespace {

/// Of a wave; more have not been met.
constexpr std::uint32_t kMaxLanes = 64;
constexpr std::uint32_t kUsualLanes = 32;
/// Words from the place of a lane's chain to that of its next, as in the shader.
constexpr std::uint32_t kPlacesApart = 64;
/// What a path may hold of the memory.
constexpr std::uint64_t kMemoryShare = 8;
constexpr std::uint64_t kLeastMemory = 4096;
/// Of a uniform block, and of the local memory that a group asks for.
constexpr std::uint64_t kLargestBlock = 65536;
constexpr std::uint64_t kVectorBytes = 16;
constexpr std::uint64_t kWordBytes = 4;
/// What the shader copies to local memory in one trip.
constexpr std::uint64_t kCopiedBytes = 64;
/// Coordinates are packed into halves of a word.
constexpr std::uint64_t kLargestSide = 32768;

struct ChasePush {
  std::uint64_t base = 0;
  std::uint32_t trips = 0;
  std::uint32_t words = 0;
  std::array<float, 2> scale{};
};

std::uint32_t lanes_of_wave(const vulkan::DeviceFacts& facts) {
  return facts.subgroup_size == 0 ? kUsualLanes : std::min(facts.subgroup_size, kMaxLanes);
}

std::uint64_t rounded_down(std::uint64_t value, std::uint64_t unit) {
  return value / unit * unit;
}

/// All of it is bound, whatever part the cycle has.
std::uint64_t block_bytes(const vulkan::DeviceFacts& facts) {
  return rounded_down(std::min(kLargestBlock, facts.max_uniform_range), kNodeBytes);
}

std::uint64_t local_bytes(const vulkan::DeviceFacts& facts) {
  return rounded_down(std::min(kLargestBlock, std::uint64_t{facts.max_shared_bytes}), kCopiedBytes);
}

vulkan::Format format_of(Path path) {
  return path == Path::kSampled ? vulkan::Format::kRg32f : vulkan::Format::kR32ui;
}

/// Of an image with sides that are powers of two, the wider one of two.
std::pair<std::uint32_t, std::uint32_t> sides_of(std::uint64_t texels) {
  GPUTRACE_CHECK(std::has_single_bit(texels));
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(texels));
  const auto side = [](std::uint32_t of_bits) {
    return static_cast<std::uint32_t>(std::uint64_t{1} << of_bits);
  };
  return {side((bits + 1) / 2), side(bits / 2)};
}

std::uint64_t largest_image(Path path, const vulkan::DeviceFacts& facts) {
  const std::uint64_t side = std::min<std::uint64_t>(facts.max_image_side, kLargestSide);
  if (side < kSmallestImageSide) {
    return 0;
  }
  const std::uint64_t square = std::bit_floor(side);
  return square * square * vulkan::bytes_of(format_of(path));
}

/// Where a launch begins and what it leaves: each walker's position on the cycle.
struct Walkers {
  std::shared_ptr<const RandomCycle> cycle;
  std::function<std::uint32_t(std::uint32_t)> place;
  std::uint32_t lanes = 1;
  std::uint32_t chains = 1;

  /// All as far apart on the cycle as they can be.
  [[nodiscard]] std::uint64_t first(std::uint32_t lane, std::uint32_t chain) const {
    const std::uint64_t walkers = std::uint64_t{lanes} * chains;
    return (std::uint64_t{lane} * chains + chain) * cycle->nodes() / walkers;
  }
  /// The words of the places buffer, in its order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t chain = 0; chain < chains; ++chain) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        visit(std::size_t{chain} * kPlacesApart + lane, lane, chain);
      }
    }
  }

  void write(std::span<std::byte> memory) const {
    for_each([&](std::size_t word, std::uint32_t lane, std::uint32_t chain) {
      const std::uint32_t value = place(cycle->at(first(lane, chain)));
      std::memcpy(&memory[word * sizeof(value)], &value, sizeof(value));
    });
  }

  [[nodiscard]] Status check(const std::string& id, const Launch& launch,
                             std::span<const std::byte> places) const {
    const std::uint64_t hops =
        std::uint64_t{kHopsPerTrip} * launch.trips * std::uint64_t{launch.repeats};
    Status status;
    for_each([&](std::size_t word, std::uint32_t lane, std::uint32_t chain) {
      std::uint32_t found = 0;
      std::memcpy(&found, &places[word * sizeof(found)], sizeof(found));
      const std::uint32_t expected = place(cycle->at(first(lane, chain) + hops));
      if (status && found != expected) {
        status = fail(ErrorCode::kCorrupt,
                      fmt::format("{}: after {} hops chain {} of lane {} is at place {:#x}, and on "
                                  "the CPU at {:#x}",
                                  id, hops, chain, lane, found, expected));
      }
    });
    return status;
  }
};

/// Chains, since a queueing model knows waves that each follow one.
Stimulus describe(const std::string& id, const ChaseShape& shape, std::uint32_t lanes,
                  const ChaseTrack& track, double hop_bytes, const Launch& launch) {
  Stimulus stimulus;
  stimulus.kernel = id;
  stimulus.threads = static_cast<double>(lanes) * shape.chains * launch.groups * launch.repeats;
  stimulus.launches = launch.repeats;
  stimulus.group_threads = lanes;
  stimulus.steps = kHopsPerTrip * static_cast<double>(launch.trips);
  stimulus.access = Access::kChase;
  stimulus.path = shape.path;
  stimulus.read_bytes = stimulus.steps * hop_bytes;
  stimulus.footprint_bytes = static_cast<double>(track.bytes);
  stimulus.stride_bytes =
      track.stride_bytes > kNodeBytes ? static_cast<double>(track.stride_bytes) : 0;
  return stimulus;
}

std::string_view shader_of(Path path, bool addresses) {
  switch (path) {
    case Path::kVector:
    case Path::kScalar:
      return addresses ? "chase_address.comp" : "chase_index.comp";
    case Path::kConstant:
      return "chase_constant.comp";
    case Path::kTexel:
      return "chase_texel.comp";
    case Path::kImage:
      return "chase_image.comp";
    case Path::kSampled:
      return "chase_sampled.comp";
    case Path::kLocal:
      return "chase_local.comp";
  }
  return {};
}

/// What a hop is for the driver's compiler, and how many bytes it asks for.
std::pair<Operation, double> hop_of(Path path, bool addresses) {
  switch (path) {
    case Path::kVector:
      return addresses ? std::pair{Operation::kLoad8, 8.0} : std::pair{Operation::kLoad4, 4.0};
    case Path::kScalar:
      return {Operation::kScalarLoad, addresses ? 8.0 : 4.0};
    case Path::kConstant:
      return {Operation::kScalarLoad, 4.0};
    case Path::kTexel:
      return {Operation::kLoad4, 4.0};
    case Path::kImage:
      return {Operation::kSample, 4.0};
    case Path::kSampled:
      return {Operation::kSample, 8.0};
    case Path::kLocal:
      return {Operation::kSharedLoad, 4.0};
  }
  GPUTRACE_CHECK(false);
}

/// Nothing but the loads: one more in a trip would be part of every figure.
void claim(KernelCase& kernel, const ChaseShape& shape, bool addresses) {
  const auto [operation, hop_bytes] = hop_of(shape.path, addresses);
  const double loads = static_cast<double>(kHopsPerTrip) * shape.chains;
  kernel.formula = {{.operation = operation, .per_trip = loads, .once = 0}};
  // RADV loads descriptors anew in each trip, while the hop before is under way.
  kernel.formula.front().at_least = operation == Operation::kScalarLoad && !addresses;
  if (operation == Operation::kLoad4) {
    // The places are words too.
    kernel.formula.front().once = static_cast<double>(shape.chains);
    kernel.read_bytes_once = kWordBytes * static_cast<double>(shape.chains);
  }
  kernel.read_bytes_per_trip = loads * hop_bytes;
}

std::vector<std::uint32_t> constants_of(const ChaseShape& shape, std::uint32_t lanes,
                                        const vulkan::DeviceFacts& facts) {
  std::vector<std::uint32_t> constants{lanes, is_uniform(shape.path) ? 1U : 0U, shape.chains};
  if (shape.path == Path::kConstant) {
    constants.push_back(static_cast<std::uint32_t>(block_bytes(facts) / kVectorBytes));
  } else if (shape.path == Path::kLocal) {
    constants.push_back(static_cast<std::uint32_t>(local_bytes(facts) / kWordBytes));
  }
  return constants;
}

}  // namespace

std::string_view name_of(Path path) {
  switch (path) {
    case Path::kVector:
      return "vector";
    case Path::kScalar:
      return "uniform";
    case Path::kConstant:
      return "constant";
    case Path::kTexel:
      return "texel";
    case Path::kImage:
      return "image";
    case Path::kSampled:
      return "sampled";
    case Path::kLocal:
      return "local";
  }
  return "?";
}

std::string name_of(const ChaseShape& shape) {
  if (shape.full_wave) {
    return "full wave";
  }
  return shape.chains == 1 ? "1 chain" : fmt::format("{} chains", shape.chains);
}

std::string size_in_id(std::uint64_t bytes) {
  return bytes % 1024 == 0 ? fmt::format("{}KiB", bytes / 1024) : fmt::format("{}B", bytes);
}

bool is_uniform(Path path) {
  return path == Path::kScalar || path == Path::kConstant;
}

double hops_of_dispatch(const Launch& launch) {
  return static_cast<double>(kHopsPerTrip) * launch.trips;
}

std::uint64_t chase_range(Path path, const vulkan::DeviceFacts& facts) {
  switch (path) {
    case Path::kVector:
    case Path::kScalar:
      return facts.max_storage_range;
    case Path::kConstant:
      return block_bytes(facts);
    case Path::kTexel:
      return facts.max_texel_elements * kWordBytes;
    case Path::kImage:
    case Path::kSampled:
      return largest_image(path, facts);
    case Path::kLocal:
      return local_bytes(facts);
  }
  return 0;
}

std::uint64_t largest_chase(Path path, const vulkan::DeviceFacts& facts) {
  const bool in_memory = path != Path::kConstant && path != Path::kLocal;
  const std::uint64_t of_memory = std::max(facts.memory_bytes / kMemoryShare, kLeastMemory);
  return std::min(chase_range(path, facts), in_memory ? of_memory : kLargestBlock);
}

std::vector<ChaseTrack> chase_tracks(Path path, const vulkan::DeviceFacts& facts,
                                     const std::vector<std::uint64_t>& sizes) {
  std::vector<ChaseTrack> tracks;
  tracks.reserve(sizes.size());
  if (path == Path::kImage || path == Path::kSampled) {
    const vulkan::Format format = format_of(path);
    for (const std::uint64_t bytes : sizes) {
      const auto [width, height] = sides_of(bytes / vulkan::bytes_of(format));
      tracks.push_back(image_track(width, height, format));
    }
    return tracks;
  }
  if (sizes.empty()) {
    return tracks;
  }
  const std::uint64_t stride = path == Path::kLocal ? kWordBytes : kNodeBytes;
  std::vector<TrackWish> wishes;
  wishes.reserve(sizes.size());
  for (const std::uint64_t bytes : sizes) {
    wishes.push_back({.bytes = bytes, .stride_bytes = stride, .jittered = false});
  }
  const std::uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
  switch (path) {
    case Path::kConstant:
      return lay_tracks(wishes, ChaseLinks::kVectors, vulkan::kUniformBinding, block_bytes(facts));
    case Path::kTexel:
      return lay_tracks(wishes, ChaseLinks::kWords, vulkan::kTexelBinding, largest);
    case Path::kLocal:
      // Each a buffer: the shader copies it from its begin.
      for (const TrackWish& wish : wishes) {
        tracks.push_back(lay_tracks({wish}, ChaseLinks::kWords, 1, wish.bytes).front());
      }
      return tracks;
    default:
      return lay_tracks(
          wishes, facts.buffer_addresses ? ChaseLinks::kAddresses : ChaseLinks::kWords, 1, largest);
  }
}

KernelCase chase_case(const ChaseShape& shape, const vulkan::DeviceFacts& facts,
                      const ChaseTrack& track) {
  const std::string who = shape.full_wave ? "wave" : fmt::format("c{}", shape.chains);
  return chase_case(
      fmt::format("latency.{}.{}.{}", name_of(shape.path), who, size_in_id(track.bytes)), shape,
      facts, track);
}

KernelCase chase_case(std::string id, const ChaseShape& shape, const vulkan::DeviceFacts& facts,
                      const ChaseTrack& track) {
  const bool buffer_path = shape.path == Path::kVector || shape.path == Path::kScalar;
  const bool addresses = buffer_path && facts.buffer_addresses;
  const std::uint32_t lanes = shape.full_wave ? lanes_of_wave(facts) : 1;
  GPUTRACE_CHECK(!shape.full_wave || !is_uniform(shape.path));

  KernelCase kernel;
  kernel.id = std::move(id);
  kernel.description = fmt::format("chase of {} through {} KiB, {} path", name_of(shape),
                                   track.bytes / 1024, name_of(shape.path));
  kernel.shader = shader_of(shape.path, addresses);
  kernel.constants = constants_of(shape, lanes, facts);
  kernel.group_threads = lanes;
  if (addresses) {
    kernel.needs = {Requirement::kBufferAddresses, Requirement::kInt64};
  }

  const Walkers walkers{
      .cycle = track.cycle, .place = track.place, .lanes = lanes, .chains = shape.chains};
  BufferNeed places{
      .binding = 0, .bytes = kPlacesApart * kWordBytes * shape.chains, .fill = nullptr};
  places.fill = [walkers](std::span<std::byte> memory) { walkers.write(memory); };
  kernel.buffers = {std::move(places)};
  if (track.nodes) {
    kernel.buffers.push_back(*track.nodes);
  }
  kernel.texture = track.image;
  ChasePush push{.words = static_cast<std::uint32_t>(track.bytes / kWordBytes)};
  if (track.image) {
    push.scale = {1.0F / static_cast<float>(track.image->description.width),
                  1.0F / static_cast<float>(track.image->description.height)};
  }
  kernel.push = [addresses, push](const Launch& launch,
                                  std::span<const vulkan::Buffer* const> buffers) {
    ChasePush now = push;
    now.base = addresses ? buffers[1]->address() : 0;
    now.trips = launch.trips;
    vulkan::PushConstants bytes{};
    std::memcpy(bytes.data(), &now, sizeof(now));
    return bytes;
  };
  claim(kernel, shape, addresses);
  kernel.check = [id = kernel.id, walkers](const Launch& launch, const Outputs& outputs) {
    return walkers.check(id, launch, outputs.buffers[0]);
  };
  ChaseTrack described = track;
  described.nodes.reset();
  described.image.reset();
  kernel.stimulus = [id = kernel.id, shape, lanes, described,
                     hop_bytes = hop_of(shape.path, addresses).second](const Launch& launch) {
    return describe(id, shape, lanes, described, hop_bytes, launch);
  };
  return kernel;
}

}  // namespace gputrace::bench
