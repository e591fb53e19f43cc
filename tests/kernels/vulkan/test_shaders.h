// The shaders beside the tests, compiled when the tests are built.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/vulkan/device.h"
#include "kernels/vulkan/pipeline.h"
#include "kernels/vulkan/work.h"

namespace gputrace::vulkan {

inline constexpr std::uint32_t kDoubleShader[] = {
#include "shaders/double.comp.inc"
};

inline constexpr std::uint32_t kCountShader[] = {
#include "shaders/count.comp.inc"
};

inline constexpr std::int64_t kTestTimeoutNs = 60'000'000'000;

inline PushConstants push_words(std::initializer_list<std::uint32_t> words) {
  PushConstants push{};
  std::memcpy(push.data(), std::data(words), words.size() * sizeof(std::uint32_t));
  return push;
}

inline std::vector<std::uint32_t> words_of(std::span<const std::byte> bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

}  // namespace gputrace::vulkan
