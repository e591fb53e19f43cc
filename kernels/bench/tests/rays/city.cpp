#include "kernels/bench/tests/rays/city.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {
namespace {

constexpr double kBlock = 20;  ///< m from a building to the next
constexpr double kLeastWidth = 8;
constexpr double kWidths = 6;
constexpr double kLeastHeight = 5;
constexpr double kHeights = 55;
constexpr float kFar = 1e4F;
constexpr double kAbove = 0.05;  ///< of a surface, where shadow rays begin
constexpr std::uint32_t kGroundTriangles = 2;
constexpr std::uint32_t kBoxTriangles = 12;
constexpr std::uint32_t kImageWidth = 128;

// What a comparison leaves open: of positions in m, of edges as a share of the triangle.
constexpr double kOff = 0.02;
constexpr double kEdge = 4e-3;
/// A ray that meets a triangle at a smaller angle than this may slip by.
constexpr double kGrazing = 0.02;

Point minus(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Point scaled(const Point& a, double by) {
  return {a[0] * by, a[1] * by, a[2] * by};
}
Point normalized(const Point& a) {
  return scaled(a, 1 / std::sqrt(dot(a, a)));
}
Point widened(const std::array<float, 3>& a) {
  return {a[0], a[1], a[2]};
}
std::array<float, 3> narrowed(const Point& a) {
  return {static_cast<float>(a[0]), static_cast<float>(a[1]), static_cast<float>(a[2])};
}

/// Where a ray meets a triangle, if it comes near (Moeller and Trumbore, 1997).
struct Meeting {
  double distance = 0;
  double off = 0;        ///< that the distance may be
  bool is_sure = false;  ///< not at an edge, not grazing, not at the ray's ends
};

std::optional<Meeting> meet(const std::array<Point, 3>& corners, const Ray& ray) {
  const Point direction = widened(ray.direction);
  const Point along = minus(corners[1], corners[0]);
  const Point beside = minus(corners[2], corners[0]);
  const Point normal = cross(along, beside);
  const double steepness = dot(direction, normal);
  const double cosine = std::abs(steepness) / std::sqrt(dot(normal, normal));
  constexpr double kParallel = 1e-6;
  if (cosine < kParallel) {
    return std::nullopt;
  }
  const Point from = minus(widened(ray.origin), corners[0]);
  const double distance = -dot(from, normal) / steepness;
  const Point at = {from[0] + distance * direction[0], from[1] + distance * direction[1],
                    from[2] + distance * direction[2]};
  const double size = dot(normal, normal);
  const double u = dot(cross(at, beside), normal) / size;
  const double v = dot(cross(along, at), normal) / size;
  const double inside = std::min({u, v, 1 - u - v});
  const double off = kOff / cosine;
  if (inside < -kEdge / cosine || distance < static_cast<double>(ray.least) - off ||
      distance > static_cast<double>(ray.most) + off) {
    return std::nullopt;
  }
  return Meeting{.distance = distance,
                 .off = off,
                 .is_sure = inside > kEdge / cosine && cosine > kGrazing &&
                            distance > static_cast<double>(ray.least) + off &&
                            distance < static_cast<double>(ray.most) - off};
}

/// Whether a ray comes near a box (Kay and Kajiya, 1986).
bool comes_near(const Building& box, const Ray& ray) {
  double enters = 0;
  double leaves = kFar;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double from = ray.origin.at(axis);
    const double over = 1 / static_cast<double>(ray.direction.at(axis));
    const double one = (box.low.at(axis) - 1 - from) * over;
    const double other = (box.high.at(axis) + 1 - from) * over;
    enters = std::max(enters, std::min(one, other));
    leaves = std::min(leaves, std::max(one, other));
  }
  return enters <= leaves;
}

std::array<Point, 3> corners_of(const vulkan::TriangleMesh& mesh, std::uint32_t triangle) {
  std::array<Point, 3> corners{};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::size_t vertex = std::size_t{mesh.indices[std::size_t{triangle} * 3 + i]} * 3;
    corners.at(i) = {mesh.vertices[vertex], mesh.vertices[vertex + 1], mesh.vertices[vertex + 2]};
  }
  return corners;
}

class RayMaker {
 public:
  RayMaker(const City& city, RayKind kind, std::uint32_t count)
      : city_(city), kind_(kind), count_(count) {}

  Ray make(std::uint32_t number) {
    switch (kind_) {
      case RayKind::kPrimary:
        return primary(number);
      case RayKind::kShadow:
        return shadow(number);
      case RayKind::kRandom:
        break;
    }
    return anywhere();
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  static Ray from_to(const Point& origin, const Point& direction) {
    return {.origin = narrowed(origin),
            .least = 0,
            .direction = narrowed(normalized(direction)),
            .most = kFar};
  }

  [[nodiscard]] Ray primary(std::uint32_t number) const {
    constexpr double kEyeHeight = 120;
    constexpr double kDown = -0.35;
    constexpr double kHalfField = 0.7;
    const double width = city_.width();
    const double rows = std::max(1.0, static_cast<double>(count_) / kImageWidth);
    const std::uint32_t row = number / kImageWidth;
    const double across = (number % kImageWidth + 0.5) / kImageWidth * 2 * kHalfField - kHalfField;
    const double down = (row + 0.5) / rows * 2 * kHalfField - kHalfField;
    const double angle = std::numbers::pi / 4 + across;
    return from_to({-0.05 * width, -0.05 * width, kEyeHeight},
                   {std::cos(angle), std::sin(angle), kDown - down});
  }

  /// Neighbouring threads begin at one building.
  Ray shadow(std::uint32_t number) {
    const auto& buildings = city_.buildings();
    const Building& box = buildings[std::size_t{number} * buildings.size() / std::max(count_, 1U)];
    const auto face = static_cast<std::size_t>(uniform() * 6);
    Point at{};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      at.at(axis) = std::lerp(box.low.at(axis), box.high.at(axis), uniform());
    }
    constexpr std::size_t kRoof = 4;
    if (face < kRoof) {
      const std::size_t axis = face / 2;
      at.at(axis) = face % 2 == 0 ? box.low.at(axis) - kAbove : box.high.at(axis) + kAbove;
    } else if (face == kRoof) {
      at[2] = box.high[2] + kAbove;
    } else {
      at = {box.high[0] + uniform() * kAbove + 1, at[1], kAbove};
    }
    // The sun is no point.
    return from_to(at, {0.6 + 0.01 * uniform(), 0.37 + 0.01 * uniform(), 0.55});
  }

  Ray anywhere() {
    const double width = city_.width();
    const double cosine = 2 * uniform() - 1;
    const double sine = std::sqrt(1 - cosine * cosine);
    const double angle = 2 * std::numbers::pi * uniform();
    return from_to({uniform() * width, uniform() * width, 0.1 + uniform() * kHeights},
                   {sine * std::cos(angle), sine * std::sin(angle), cosine});
  }

  const City& city_;
  RayKind kind_;
  std::uint32_t count_;
  std::mt19937_64 random_{1};
};

/// What the CPU finds along a ray, of the triangles that it comes near.
struct Search {
  std::optional<double> sure;  ///< the nearest that is not to be missed
  std::optional<Meeting> claimed;
};

Search search(const City& city, const Ray& ray, const RayHit& hit) {
  Search found;
  const auto look = [&](std::uint32_t triangle) {
    const auto meeting = meet(corners_of(city.mesh(), triangle), ray);
    if (!meeting) {
      return;
    }
    if (meeting->is_sure && meeting->distance + meeting->off < found.sure.value_or(kFar)) {
      found.sure = meeting->distance + meeting->off;
    }
    if (triangle == hit.triangle && hit.distance >= 0) {
      found.claimed = meeting;
    }
  };
  for (std::uint32_t triangle = 0; triangle < kGroundTriangles; ++triangle) {
    look(triangle);
  }
  const auto& buildings = city.buildings();
  for (std::uint32_t i = 0; i < buildings.size(); ++i) {
    if (comes_near(buildings[i], ray)) {
      for (std::uint32_t triangle = 0; triangle < kBoxTriangles; ++triangle) {
        look(kGroundTriangles + i * kBoxTriangles + triangle);
      }
    }
  }
  return found;
}

}  // namespace

City::City(std::uint32_t side) : side_(side) {
  const auto width = static_cast<float>(this->width());
  mesh_.vertices = {0, 0, 0, width, 0, 0, 0, width, 0, width, width, 0};
  add_triangle(0, 1, 2);
  add_triangle(1, 3, 2);
  for (std::uint32_t i = 0; i < side * side; ++i) {
    const auto drawn = [&](std::uint64_t which) {
      return static_cast<double>(pattern_float(std::uint64_t{i} * 4 + which)) - 0.5;
    };
    const std::uint32_t row = i / side;
    const double x = (i % side + 0.5) * kBlock;
    const double y = (row + 0.5) * kBlock;
    const double half_x = (kLeastWidth + kWidths * drawn(0)) / 2;
    const double half_y = (kLeastWidth + kWidths * drawn(1)) / 2;
    buildings_.push_back({.low = {x - half_x, y - half_y, 0},
                          .high = {x + half_x, y + half_y, kLeastHeight + kHeights * drawn(2)}});
    add_box(buildings_.back());
  }
}

double City::width() const {
  return kBlock * side_;
}

void City::add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  mesh_.indices.insert(mesh_.indices.end(), {a, b, c});
}

/// Corner i is at the high end of an axis where that bit of i is set.
void City::add_box(const Building& box) {
  const auto first = static_cast<std::uint32_t>(mesh_.vertices.size() / 3);
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool high = (corner >> axis & 1U) != 0;
      mesh_.vertices.push_back(static_cast<float>((high ? box.high : box.low).at(axis)));
    }
  }
  constexpr std::array<std::array<std::uint32_t, 4>, 6> kFaces{
      {{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1, 4, 5}, {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}};
  for (const auto& face : kFaces) {
    add_triangle(first + face[0], first + face[1], first + face[2]);
    add_triangle(first + face[1], first + face[3], first + face[2]);
  }
}

std::vector<Ray> make_rays(const City& city, RayKind kind, std::uint32_t count) {
  RayMaker maker(city, kind, count);
  std::vector<Ray> rays(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    rays[i] = maker.make(i);
  }
  return rays;
}

std::optional<std::string> wrong_hit(const City& city, const Ray& ray, bool any_hit_ends,
                                     const RayHit& hit) {
  const Search found = search(city, ray, hit);
  const double distance = hit.distance;
  if (!(distance >= 0)) {
    return found.sure ? std::optional(
                            fmt::format("meets nothing, the CPU a triangle at {:.3f}", *found.sure))
                      : std::nullopt;
  }
  if (!found.claimed || std::abs(found.claimed->distance - distance) > found.claimed->off) {
    return fmt::format("meets triangle {} at {:.3f}, where the CPU does not", hit.triangle,
                       distance);
  }
  if (!any_hit_ends && found.sure && *found.sure < distance - found.claimed->off) {
    return fmt::format("meets triangle {} at {:.3f}, the CPU one at {:.3f} before it", hit.triangle,
                       distance, *found.sure);
  }
  return std::nullopt;
}

}  // namespace gputrace::bench
