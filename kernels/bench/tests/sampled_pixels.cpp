#include "kernels/bench/tests/sampled_pixels.h"

#include <random>

namespace gputrace::bench {

std::vector<std::pair<std::uint32_t, std::uint32_t>> sampled_pixels(
    const vulkan::TargetDescription& target) {
  constexpr std::size_t kSamples = 1000;
  const std::uint32_t right = target.width - 1;
  const std::uint32_t bottom = target.height - 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pixels{
      {0, 0}, {right, 0}, {0, bottom}, {right, bottom}};
  std::mt19937 random(target.width);
  while (pixels.size() < kSamples) {
    const auto x = static_cast<std::uint32_t>(random() % target.width);
    pixels.emplace_back(x, static_cast<std::uint32_t>(random() % target.height));
  }
  return pixels;
}

}  // namespace gputrace::bench
