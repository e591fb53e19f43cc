#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "kernels/bench/tests/latency/chase_tracks.h"
#include "kernels/bench/tests/latency/latency.h"
#include "kernels/bench/tests/latency/latency_cases.h"
#include "tests/kernels/bench/bench_device.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t kAddress = 0x7fff'0000'0000;

/// The buffer of a track as it is uploaded.
std::vector<std::byte> memory_of(const ChaseTrack& track) {
  REQUIRE(track.nodes.has_value());
  const BufferNeed need = track.nodes.value_or(BufferNeed{});
  std::vector<std::byte> memory(need.bytes);
  if (need.fill_at) {
    need.fill_at(memory, kAddress);
  } else {
    need.fill(memory);
  }
  return memory;
}

/// The place that the node at `place` leads to.
std::uint64_t next_place(const std::vector<std::byte>& memory, ChaseLinks links,
                         std::uint64_t place) {
  if (links == ChaseLinks::kAddresses) {
    std::uint64_t address = 0;
    std::memcpy(&address, &memory.at(place), sizeof(address));
    return address - kAddress;
  }
  std::uint32_t index = 0;
  std::memcpy(&index, &memory.at(place), sizeof(index));
  return std::uint64_t{index} * (links == ChaseLinks::kWords ? 4 : 16);
}

std::vector<ChaseShape> all_shapes() {
  std::vector<ChaseShape> shapes;
  for (const Path path : kChasePaths) {
    shapes.push_back({.path = path});
    shapes.push_back({.path = path, .chains = 3});
    shapes.push_back({.path = path, .chains = kMaxChains});
    if (!is_uniform(path)) {
      shapes.push_back({.path = path, .full_wave = true});
    }
  }
  return shapes;
}

/// Through 16 KiB.
ChaseTrack small_track(Path path, const vulkan::DeviceFacts& facts) {
  return chase_tracks(path, facts, {16384}).front();
}

}  // namespace

TEST_CASE("a random cycle visits every node once before it returns") {
  const RandomCycle cycle(1000, 7);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.insert(cycle.at(i));
    CHECK(cycle.position_of(cycle.at(i)) == i);
  }
  CHECK(seen.size() == 1000);
  CHECK(cycle.at(1000) == cycle.at(0));
  CHECK(RandomCycle(1000, 8).at(0) != cycle.at(0));
}

TEST_CASE("tracks that share buffers each lead through their own nodes alone") {
  std::vector<TrackWish> wishes;
  for (const std::uint64_t stride : {64, 256, 4096}) {
    for (const std::uint64_t bytes : {65536, 32768, 16384, 65536, 55040 / 64 * 64}) {
      wishes.push_back(
          {.bytes = bytes / stride * stride, .stride_bytes = stride, .jittered = stride == 4096});
    }
  }
  for (const ChaseLinks links :
       {ChaseLinks::kAddresses, ChaseLinks::kWords, ChaseLinks::kVectors}) {
    const auto tracks = lay_tracks(wishes, links, 1, 65536);
    REQUIRE(tracks.size() == wishes.size());
    std::map<const void*, std::set<std::uint64_t>> taken;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      CAPTURE(i);
      const ChaseTrack& track = tracks[i];
      CHECK(track.bytes == wishes[i].bytes);
      CHECK(track.cycle->nodes() == wishes[i].bytes / wishes[i].stride_bytes);
      const auto memory = memory_of(track);
      CHECK(memory.size() <= 65536);
      std::uint64_t place = track.place(track.cycle->at(0));
      for (std::uint32_t hop = 1; hop <= track.cycle->nodes(); ++hop) {
        place = next_place(memory, links, place);
        REQUIRE(place == track.place(track.cycle->at(hop)));
        CHECK(taken[track.nodes->shared.get()].insert(place).second);
      }
    }
    // Fifteen tracks, 64 bytes of links a line.
    CHECK(taken.size() == (links == ChaseLinks::kAddresses ? 2
                           : links == ChaseLinks::kWords   ? 1
                                                           : 3));
  }
}

TEST_CASE("jittered tracks stay within their stride and use many lines of a page, plain ones one") {
  const auto tracks = lay_tracks({{.bytes = 1U << 20U, .stride_bytes = 4096, .jittered = true},
                                  {.bytes = 1U << 20U, .stride_bytes = 4096, .jittered = false}},
                                 ChaseLinks::kAddresses, 1, 1U << 20U);
  std::array<std::set<std::uint32_t>, 2> offsets;
  for (std::uint32_t node = 0; node < 256; ++node) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t place = tracks[i].place(node);
      CHECK(place / 4096 == node);
      offsets.at(i).insert(place % 4096 / 64);
    }
  }
  CHECK(offsets[0].size() > 50);
  CHECK(offsets[1].size() == 1);
}

TEST_CASE("an image has one node in every 64 bytes, however its texels are laid out in lines") {
  for (const vulkan::Format format : {vulkan::Format::kR32ui, vulkan::Format::kRg32f}) {
    const ChaseTrack track = image_track(64, 32, format);
    const std::uint32_t texels = 64 / static_cast<std::uint32_t>(vulkan::bytes_of(format));
    CHECK(track.cycle->nodes() == 64 * 32 / texels);
    for (std::uint32_t across = 1; across <= texels; across *= 2) {
      std::set<std::uint32_t> lines;
      for (std::uint32_t node = 0; node < track.cycle->nodes(); ++node) {
        const std::uint32_t place = track.place(node);
        const std::uint32_t line_x = (place & 0xffffU) / across;
        const std::uint32_t line_y = (place >> 16U) / (texels / across);
        CHECK(lines.insert(line_x + line_y * 1024).second);
      }
      CHECK(lines.size() == track.cycle->nodes());
    }
  }
}

TEST_CASE("texels of a sampled image are the centres of the next ones, exactly") {
  const ChaseTrack track = image_track(128, 64, vulkan::Format::kRg32f);
  REQUIRE(track.image.has_value());
  const auto texels = track.image->texels();
  std::uint32_t place = track.place(track.cycle->at(0));
  for (std::uint32_t hop = 1; hop <= track.cycle->nodes(); ++hop) {
    std::array<float, 2> centre{};
    std::memcpy(centre.data(), &texels[((place >> 16U) * 128 + (place & 0xffffU)) * 8],
                sizeof(centre));
    place = track.place(track.cycle->at(hop));
    CHECK(centre[0] * 128 == static_cast<float>(place & 0xffffU) + 0.5F);
    CHECK(centre[1] * 64 == static_cast<float>(place >> 16U) + 0.5F);
  }
}

TEST_CASE("chases end where the CPU says, on every path and over several dispatches") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const bool addresses : {true, false}) {
    vulkan::DeviceFacts facts = runner->facts();
    facts.buffer_addresses = facts.buffer_addresses && addresses;
    for (const ChaseShape& shape : all_shapes()) {
      const bool reads_buffer = shape.path == Path::kVector || shape.path == Path::kScalar;
      if (!addresses && !reads_buffer) {
        continue;
      }
      const KernelCase kernel = chase_case(shape, facts, small_track(shape.path, facts));
      CAPTURE(kernel.id);
      CAPTURE(addresses);
      const auto prepared = runner->prepare(kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status exact = (*prepared)->check_result({.groups = 1, .trips = 333, .repeats = 3});
      CHECK_MESSAGE(exact, test::error_text(exact));
    }
  }
}

TEST_CASE("a run begins where the one before ended, not at the same node again") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const Path path : kChasePaths) {
    const ChaseTrack track = small_track(path, runner->facts());
    const auto prepared = runner->prepare(chase_case({.path = path}, runner->facts(), track));
    REQUIRE_MESSAGE(prepared, test::error_text(prepared));
    for (const std::uint32_t trips : {5U, 7U, 11U}) {
      REQUIRE((*prepared)->run({.groups = 1, .trips = trips, .repeats = 1}));
    }
    const auto left = (*prepared)->read_back();
    REQUIRE_MESSAGE(left, test::error_text(left));
    std::uint32_t place = 0;
    std::memcpy(&place, left->buffers[0].data(), sizeof(place));
    CHECK(place == track.place(track.cycle->at((5U + 7U + 11U) * kHopsPerTrip)));
  }
}

TEST_CASE("cases of one path share what they read, and it is gone with them") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const vulkan::DeviceFacts& facts = runner->facts();
  int fills = 0;
  auto tracks = chase_tracks(Path::kTexel, facts, {32768, 16384});
  for (ChaseTrack& track : tracks) {
    REQUIRE(track.nodes.has_value());
    track.nodes->fill = [&fills, fill = track.nodes->fill](std::span<std::byte> memory) {
      ++fills;
      fill(memory);
    };
  }
  for (int again = 0; again < 2; ++again) {
    for (const ChaseTrack& track : tracks) {
      const auto prepared = runner->prepare(chase_case({.path = Path::kTexel}, facts, track));
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status exact = (*prepared)->check_result({.groups = 1, .trips = 9, .repeats = 1});
      CHECK_MESSAGE(exact, test::error_text(exact));
    }
  }
  CHECK(fills == 1);
}

TEST_CASE("a chase that ends one hop early is found") {
  vulkan::DeviceFacts facts;
  facts.max_storage_range = 1U << 20U;
  const ChaseTrack track = small_track(Path::kVector, facts);
  const KernelCase kernel = chase_case({}, facts, track);
  const Launch launch{.groups = 1, .trips = 10, .repeats = 2};
  const auto ends_after = [&](std::uint64_t hops) {
    Outputs outputs;
    outputs.buffers.emplace_back(4);
    const std::uint32_t place = track.place(track.cycle->at(hops));
    std::memcpy(outputs.buffers[0].data(), &place, sizeof(place));
    return kernel.check(launch, outputs);
  };
  CHECK(ends_after(320));
  const Status wrong = ends_after(319);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kCorrupt);
  CHECK(wrong.error().message.find("after 320 hops") != std::string::npos);
}

TEST_CASE("without buffer addresses nodes hold indices, and a stimulus names the path") {
  vulkan::DeviceFacts facts;
  facts.max_storage_range = facts.max_texel_elements = facts.max_uniform_range = 1U << 20U;
  facts.max_shared_bytes = 32768;
  facts.max_image_side = 1024;
  CHECK(chase_case({}, facts, small_track(Path::kVector, facts)).shader == "chase_index.comp");
  facts.buffer_addresses = true;
  CHECK(chase_case({}, facts, small_track(Path::kVector, facts)).shader == "chase_address.comp");
  for (const Path path : kChasePaths) {
    const KernelCase kernel = chase_case({.path = path}, facts, small_track(path, facts));
    const Stimulus stimulus = kernel.stimulus({.groups = 1, .trips = 3, .repeats = 2});
    CHECK(stimulus.access == Access::kChase);
    CHECK(stimulus.path == path);
    CHECK(stimulus.footprint_bytes == 16384);
    CHECK(stimulus.steps == 48);
    CHECK(stimulus.threads == 2);
  }
}
