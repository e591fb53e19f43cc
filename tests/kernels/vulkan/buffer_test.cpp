#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

std::vector<std::byte> noise(std::size_t bytes) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t) + 1);
  std::generate(words.begin(), words.end(), random);
  std::vector<std::byte> data(bytes);
  std::memcpy(data.data(), words.data(), bytes);
  return data;
}

}  // namespace

TEST_CASE("what was uploaded comes back, whatever its size") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  // The last one is copied in more than one part.
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5}, kMiB + 3, 16 * kMiB + 1}) {
    for (const MemoryUse use : {MemoryUse::kDevice, MemoryUse::kReadBack}) {
      const std::vector<std::byte> data = noise(bytes);
      const Buffer buffer = take(device->create_buffer(bytes, use));
      CHECK(buffer.size() == bytes);
      REQUIRE(device->upload(buffer, data));
      CHECK(take(device->download(buffer, 0, bytes)) == data);
      const std::size_t from = bytes / 3;
      const std::vector<std::byte> rest(data.begin() + static_cast<std::ptrdiff_t>(from),
                                        data.end());
      CHECK(take(device->download(buffer, from, bytes - from)) == rest);
    }
  }
}

TEST_CASE("a new buffer holds zeros, and an upload changes its begin alone") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  for (const MemoryUse use : {MemoryUse::kDevice, MemoryUse::kReadBack}) {
    const Buffer buffer = take(device->create_buffer(9, use));
    const std::vector<std::byte> two{std::byte{1}, std::byte{2}};
    REQUIRE(device->upload(buffer, two));
    REQUIRE(device->upload(buffer, {}));
    std::vector<std::byte> expected(9);
    expected[0] = std::byte{1};
    expected[1] = std::byte{2};
    CHECK(take(device->download(buffer, 0, 9)) == expected);
  }
}

TEST_CASE("sizes that do not fit are refused") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Buffer buffer = take(device->create_buffer(16, MemoryUse::kDevice));
  const Status more = device->upload(buffer, std::vector<std::byte>(17));
  REQUIRE(!more);
  CHECK(more.error().code == ErrorCode::kInvalidArgument);
  for (const auto& [offset, bytes] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 17}, {17, 0}, {8, ~std::uint64_t{0}}}) {
    const auto got = device->download(buffer, offset, bytes);
    REQUIRE(!got);
    CHECK(got.error().code == ErrorCode::kInvalidArgument);
  }
  const auto none = device->create_buffer(0, MemoryUse::kDevice);
  REQUIRE(!none);
  CHECK(none.error().code == ErrorCode::kInvalidArgument);
  const auto huge = device->create_buffer(std::uint64_t{1} << 50U, MemoryUse::kDevice);
  REQUIRE(!huge);
  CHECK((huge.error().code == ErrorCode::kUnsupported || huge.error().code == ErrorCode::kNoSpace));
}

TEST_CASE("a buffer larger than a shader can see is refused when it is bound") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const std::uint64_t most = device->facts().max_storage_range;
  if (most > (std::uint64_t{1} << 30U)) {
    MESSAGE("skipped: shaders of this device see more than 1 GiB");
    return;
  }
  const Buffer buffer = take(device->create_buffer(most + 4, MemoryUse::kDevice));
  const Pipeline pipeline = take(device->create_pipeline(
      ComputeShader{.spirv = test_shader("count.comp"), .constants = {kThreads}}));
  const Work work = Dispatch{.pipeline = &pipeline, .bindings = {.storage = {&buffer}}};
  const auto result = device->run({&work, 1}, kTestTimeoutNs);
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::kUnsupported);
  CHECK(result.error().message.find(std::to_string(most)) != std::string::npos);
}

TEST_CASE("buffers have addresses where the device offers them") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  const Buffer one = take(device->create_buffer(64, MemoryUse::kDevice));
  const Buffer other = take(device->create_buffer(64, MemoryUse::kDevice));
  if (device->facts().buffer_addresses) {
    CHECK(one.address() != 0);
    CHECK(one.address() != other.address());
  } else {
    CHECK(one.address() == 0);
  }
}

}  // namespace gputrace::vulkan
