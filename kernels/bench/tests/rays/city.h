// A city of boxes, rays through it, and what they meet on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/vulkan/acceleration_structure.h"

namespace gputrace::bench {

using Point = std::array<double, 3>;

struct Building {
  Point low{};
  Point high{};
};

/// A square of buildings on a plane, 20 m from one to the next, no two alike.
class City {
 public:
  /// `side` buildings to an edge.
  explicit City(std::uint32_t side);

  /// Of two triangles for the ground and 12 a building.
  [[nodiscard]] const vulkan::TriangleMesh& mesh() const { return mesh_; }
  [[nodiscard]] std::uint32_t triangles() const {
    return static_cast<std::uint32_t>(mesh_.indices.size() / 3);
  }
  [[nodiscard]] const std::vector<Building>& buildings() const { return buildings_; }
  [[nodiscard]] double width() const;

 private:
  void add_box(const Building& box);
  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c);

  std::uint32_t side_;
  std::vector<Building> buildings_;
  vulkan::TriangleMesh mesh_;
};

enum class RayKind {
  kPrimary,  ///< from a camera above a corner, neighbours side by side
  kShadow,   ///< from walls, roofs and the ground towards the sun; whatever they meet ends them
  kRandom,   ///< from anywhere to anywhere
};

/// As rays.comp reads it.
struct Ray {
  std::array<float, 3> origin{};
  float least = 0;
  std::array<float, 3> direction{};  ///< of length 1
  float most = 0;
};

[[nodiscard]] std::vector<Ray> make_rays(const City& city, RayKind kind, std::uint32_t count);

/// As rays.comp writes it.
struct RayHit {
  float distance = -1;
  std::uint32_t triangle = 0;
};

/// What is wrong with a hit; absent if it is right within what fp32 and the edges of triangles
/// leave open: a ray through an edge may meet either side of it, or, where the edge is an outline,
/// nothing.
[[nodiscard]] std::optional<std::string> wrong_hit(const City& city, const Ray& ray,
                                                   bool any_hit_ends, const RayHit& hit);

}  // namespace gputrace::bench
