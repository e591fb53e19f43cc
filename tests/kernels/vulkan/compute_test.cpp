#include <doctest/doctest.h>

#include <numeric>

#include "kernels/vulkan/device.h"
#include "tests/kernels/vulkan/test_shaders.h"
#include "tests/support/vulkan_device.h"

namespace gputrace::vulkan {

namespace {

constexpr std::uint32_t kThreads = 64;

std::vector<std::uint32_t> counting(std::size_t count, std::uint32_t from) {
  std::vector<std::uint32_t> words(count);
  std::iota(words.begin(), words.end(), from);
  return words;
}

template <class T>
T take(Result<T> result) {
  REQUIRE_MESSAGE(result, result.error().message);
  return std::move(*result);
}

Buffer buffer_of(Device& device, std::span<const std::uint32_t> words, MemoryUse use) {
  Buffer buffer = take(device.create_buffer(words.size_bytes(), use));
  const Status uploaded = device.upload(buffer, std::as_bytes(words));
  REQUIRE_MESSAGE(uploaded, uploaded.error().message);
  return buffer;
}

}  // namespace

TEST_CASE("a shader sees its buffers, its constants and what is pushed") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  constexpr std::uint32_t kCount = 1000;
  const Buffer source = buffer_of(*device, counting(kCount, 5), MemoryUse::kDevice);
  const Buffer target = take(device->create_buffer(kCount * 4, MemoryUse::kDevice));
  const Buffer block = buffer_of(*device, counting(4, 40), MemoryUse::kDevice);
  const Buffer texels = buffer_of(*device, counting(kCount, 100), MemoryUse::kDevice);
  const Pipeline pipeline = take(
      device->create_pipeline(ComputeShader{.spirv = kDoubleShader, .constants = {kThreads, 7}}));
  Dispatch dispatch{.pipeline = &pipeline,
                    .bindings = {.storage = {&source, &target}},
                    .push = push_words({3, kCount, 0}),
                    .groups_x = (kCount + kThreads - 1) / kThreads};
  const auto run = [&](std::uint32_t i) {
    const std::array<Work, 1> work{dispatch};
    const RunTime time = take(device->run(work, kTestTimeoutNs));
    CHECK(time.wall_ns > 0);
    return words_of(take(device->download(target, 0, kCount * 4)))[i];
  };
  CHECK(run(0) == 5 * 7 + 3);
  CHECK(run(999) == 1004 * 7 + 3);
  dispatch.push = push_words({3, kCount, 1});
  dispatch.bindings.uniform = &block;
  dispatch.bindings.texel = &texels;
  CHECK(run(999) == 1004 * 7 + 3 + 42 + 1099);
}

TEST_CASE("repeated dispatches wait for each other, and so does what follows them") {
  std::optional<Device> device = test::lavapipe_or_skip();
  if (!device) {
    return;
  }
  constexpr std::uint32_t kCount = 256;
  const Buffer words = buffer_of(*device, counting(kCount, 0), MemoryUse::kDevice);
  const Buffer copied = take(device->create_buffer(kCount * 4, MemoryUse::kReadBack));
  const Pipeline pipeline =
      take(device->create_pipeline(ComputeShader{.spirv = kCountShader, .constants = {kThreads}}));
  const Dispatch dispatch{.pipeline = &pipeline,
                          .bindings = {.storage = {&words}},
                          .push = push_words({3, 1, 1}),
                          .groups_x = kCount / kThreads,
                          .repeat = 4};
  Dispatch other = dispatch;
  other.push = push_words({2, 5, 1});
  other.repeat = 1;
  const std::array<Work, 3> work{dispatch, other,
                                 Copy{.from = &words, .to = &copied, .bytes = kCount * 4}};
  take(device->run(work, kTestTimeoutNs));
  const std::vector<std::uint32_t> got = words_of(take(device->download(copied, 0, kCount * 4)));
  for (std::uint32_t i = 0; i < kCount; ++i) {
    CHECK(got[i] == (i * 81 + 40) * 2 + 5);
  }
}

}  // namespace gputrace::vulkan
