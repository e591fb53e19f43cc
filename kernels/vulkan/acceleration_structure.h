// Triangles in the hierarchy that ray queries search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace gputrace::vulkan {

struct TriangleMesh {
  std::vector<float> vertices;         ///< x, y, z of each
  std::vector<std::uint32_t> indices;  ///< three a triangle, whose number is what a hit reports
};

/// One mesh, opaque, in its own coordinates: a bottom level with one instance above. Move-only.
class AccelerationStructure {
 public:
  AccelerationStructure(AccelerationStructure&& other) noexcept;
  AccelerationStructure& operator=(AccelerationStructure&& other) noexcept;
  AccelerationStructure(const AccelerationStructure&) = delete;
  AccelerationStructure& operator=(const AccelerationStructure&) = delete;
  ~AccelerationStructure();

  /// Of both levels, as the driver built them.
  [[nodiscard]] std::uint64_t bytes() const;

  struct Impl;
  explicit AccelerationStructure(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::vulkan
