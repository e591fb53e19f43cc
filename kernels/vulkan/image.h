// Textures to read from and targets to draw into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gputrace::vulkan {

enum class Format { kR8, kRgba8, kR16f, kRgba16f, kR11G11B10f, kR32ui, kRg32f, kD32f, kBc7 };

/// Of a texel, or of a 4 x 4 block of kBc7.
[[nodiscard]] std::size_t bytes_of(Format format);

struct TextureDescription {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Format format = Format::kRgba8;
  bool bilinear = false;  ///< else the nearest texel
};

struct TargetDescription {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Format format = Format::kRgba8;
};

/// Sampled with repeat, one level. Move-only.
class Texture {
 public:
  Texture(Texture&& other) noexcept;
  Texture& operator=(Texture&& other) noexcept;
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  ~Texture();

  struct Impl;
  explicit Texture(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Move-only.
class RenderTarget {
 public:
  RenderTarget(RenderTarget&& other) noexcept;
  RenderTarget& operator=(RenderTarget&& other) noexcept;
  RenderTarget(const RenderTarget&) = delete;
  RenderTarget& operator=(const RenderTarget&) = delete;
  ~RenderTarget();

  struct Impl;
  explicit RenderTarget(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::vulkan
