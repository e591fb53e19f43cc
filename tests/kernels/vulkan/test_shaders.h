// The shaders beside the tests, compiled when the tests are built, and short forms of what most
// tests do with a device.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/vulkan/device.h"
#include "kernels/vulkan/pipeline.h"
#include "kernels/vulkan/work.h"

namespace gputrace::vulkan {

/// SPIR-V of a file in shaders/, by its name.
[[nodiscard]] std::span<const std::uint32_t> test_shader(std::string_view name);

inline constexpr std::int64_t kTestTimeoutNs = 60'000'000'000;
inline constexpr std::uint32_t kThreads = 64;

template <class T>
T take(Result<T> result) {
  REQUIRE_MESSAGE(result, result.error().message);
  return std::move(*result);
}

/// Of 4-byte values.
template <class T>
PushConstants push_values(std::initializer_list<T> values) {
  static_assert(sizeof(T) == 4);
  PushConstants push{};
  std::memcpy(push.data(), std::data(values), values.size() * sizeof(T));
  return push;
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

inline std::vector<std::uint32_t> counting(std::size_t count, std::uint32_t from) {
  std::vector<std::uint32_t> words(count);
  std::iota(words.begin(), words.end(), from);
  return words;
}

inline Buffer buffer_of(Device& device, std::span<const std::uint32_t> words,
                        MemoryUse use = MemoryUse::kDevice) {
  Buffer buffer = take(device.create_buffer(words.size_bytes(), use));
  const Status uploaded = device.upload(buffer, std::as_bytes(words));
  REQUIRE_MESSAGE(uploaded, uploaded.error().message);
  return buffer;
}

inline std::vector<std::uint32_t> words_in(Device& device, const Buffer& buffer) {
  return values_of<std::uint32_t>(take(device.download(buffer, 0, buffer.size())));
}

inline RunTime run(Device& device, const Work& work) {
  return take(device.run({&work, 1}, kTestTimeoutNs));
}

}  // namespace gputrace::vulkan
