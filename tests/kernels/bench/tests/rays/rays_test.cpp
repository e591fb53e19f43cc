#include "kernels/bench/tests/rays/rays.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/tests/rays/rays_case.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

constexpr std::array kKinds{RayKind::kPrimary, RayKind::kShadow, RayKind::kRandom};

/// Straight down onto the roof of the first building, off its diagonal.
Ray ray_onto_roof(const City& city) {
  const Building& box = city.buildings().front();
  return {.origin = {static_cast<float>(std::lerp(box.low[0], box.high[0], 0.3)),
                     static_cast<float>(std::lerp(box.low[1], box.high[1], 0.3)), 200},
          .least = 0,
          .direction = {0, 0, -1},
          .most = 1e4F};
}

float roof_distance(const City& city) {
  return static_cast<float>(200 - city.buildings().front().high[2]);
}

}  // namespace

TEST_CASE("cities have 12 and 60 thousand triangles, all of them of an area") {
  CHECK(City(32).triangles() == 12'290);
  CHECK(City(71).triangles() == 60'494);
  const City city(4);
  const vulkan::TriangleMesh& mesh = city.mesh();
  for (std::uint32_t triangle = 0; triangle < city.triangles(); ++triangle) {
    std::array<const float*, 3> corners{};
    for (std::size_t i = 0; i < 3; ++i) {
      corners.at(i) = &mesh.vertices[std::size_t{mesh.indices[triangle * 3 + i]} * 3];
    }
    double area = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t u = (axis + 1) % 3;
      const std::size_t v = (axis + 2) % 3;
      const double part =
          static_cast<double>((corners[1][u] - corners[0][u]) * (corners[2][v] - corners[0][v]) -
                              (corners[1][v] - corners[0][v]) * (corners[2][u] - corners[0][u]));
      area += part * part;
    }
    CHECK(area > 1);
  }
}

TEST_CASE("a hit is right when the CPU meets that triangle at that distance, and none before it") {
  const City city(4);
  const Ray ray = ray_onto_roof(city);
  const float distance = roof_distance(city);
  // Of the first building's triangles the last two are its roof.
  std::optional<std::uint32_t> roof;
  for (std::uint32_t triangle = 0; triangle < city.triangles(); ++triangle) {
    if (!wrong_hit(city, ray, false, {.distance = distance, .triangle = triangle})) {
      CHECK_FALSE(roof);
      roof = triangle;
    }
  }
  REQUIRE(roof);
  const std::uint32_t right = roof.value_or(0);
  CHECK((right == 12 || right == 13));
  CHECK(wrong_hit(city, ray, false, {.distance = distance + 1, .triangle = right}));
  CHECK(wrong_hit(city, ray, false, {.distance = -1, .triangle = 0}));
  CHECK(wrong_hit(city, ray, true, {.distance = -1, .triangle = 0}));
  CHECK(wrong_hit(city, ray, false, {.distance = std::nanf(""), .triangle = right}));
  // The ground below the building is met too, and is not the nearest.
  for (const std::uint32_t ground : {0U, 1U}) {
    const RayHit farther{.distance = 200, .triangle = ground};
    const auto nearest = wrong_hit(city, ray, false, farther);
    const auto any = wrong_hit(city, ray, true, farther);
    CHECK(nearest);
    CHECK(
        (any.has_value() == (nearest.value_or("").find("the CPU does not") != std::string::npos)));
  }
}

TEST_CASE("a ray along an edge may meet either side") {
  const City city(4);
  const Building& box = city.buildings().front();
  Ray ray = ray_onto_roof(city);
  // The diagonal of the roof.
  ray.origin[0] = static_cast<float>(std::lerp(box.low[0], box.high[0], 0.4));
  ray.origin[1] = static_cast<float>(std::lerp(box.low[1], box.high[1], 0.6));
  const float distance = roof_distance(city);
  CHECK_FALSE(wrong_hit(city, ray, false, {.distance = distance, .triangle = 12}));
  CHECK_FALSE(wrong_hit(city, ray, false, {.distance = distance, .triangle = 13}));
}

TEST_CASE("rays are of length 1, the same each time, and of each kind some meet something") {
  const City city(8);
  for (const RayKind kind : kKinds) {
    CAPTURE(name_of(kind));
    const std::vector<Ray> rays = make_rays(city, kind, 1024);
    const std::vector<Ray> again = make_rays(city, kind, 1024);
    CHECK(std::memcmp(rays.data(), again.data(), rays.size() * sizeof(Ray)) == 0);
    std::size_t meets = 0;
    for (const Ray& ray : rays) {
      double square = 0;
      for (const float axis : ray.direction) {
        square += static_cast<double>(axis) * static_cast<double>(axis);
      }
      CHECK(square == doctest::Approx(1));
      meets += wrong_hit(city, ray, true, {.distance = -1, .triangle = 0}) ? 1U : 0U;
    }
    CHECK(meets > rays.size() / 10);
    CHECK(meets < rays.size());
  }
}

TEST_CASE("rays on a device meet what the CPU meets") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto city = std::make_shared<const City>(16);
  for (const RayKind kind : kKinds) {
    SizedCase sized = rays_case(runner->facts(), city, kind);
    CAPTURE(sized.kernel.id);
    bool spoiled = true;
    sized.kernel.check = [&, right = sized.kernel.check](const Launch& launch,
                                                         const Outputs& outputs) -> Status {
      Outputs changed = outputs;
      for (std::uint64_t i = 0; i < changed.buffers[1].size() / sizeof(RayHit); ++i) {
        auto hit = read_at<RayHit>(changed.buffers[1], i);
        hit.triangle = (hit.triangle + 1) % city->triangles();
        write_at(changed.buffers[1], i, hit);
      }
      spoiled = right(launch, changed).has_value();
      return right(launch, outputs);
    };
    const auto prepared = runner->prepare(sized.kernel);
    if (!runner->facts().ray_query) {
      REQUIRE_FALSE(prepared);
      CHECK(prepared.error().code == ErrorCode::kUnsupported);
      CHECK(prepared.error().message.find("VK_KHR_ray_query") != std::string::npos);
      MESSAGE("not run: ", prepared.error().message);
      continue;
    }
    REQUIRE_MESSAGE(prepared, test::error_text(prepared));
    const Status right = (*prepared)->check_result(sized.launch);
    CHECK_MESSAGE(right, test::error_text(right));
    CHECK_FALSE(spoiled);
  }
}

TEST_CASE("without ray queries the test is skipped, and names them") {
  test::FakeRunner runner;
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_rays(context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].status == analysis::TestStatus::kSkipped);
  CHECK(results[0].why.find("VK_KHR_ray_query") != std::string::npos);
}

TEST_CASE("rays a second, of three kinds in two cities; a spent share leaves the larger one out") {
  test::FakeRunner runner;
  runner.device.ray_query = true;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    return threads_of(kernel, launch) / 2;
  };
  MeasurementOptions options = runner.options();
  std::size_t points = 2;
  SUBCASE("all") {}
  SUBCASE("spent") {
    options.share_end_ns = runner.clock.now_ns();
    points = 1;
  }
  TestContext context{.runner = runner, .options = options, .quick = true};
  const auto results = run_rays(context);
  REQUIRE(results.size() == 1);
  CHECK(results[0].unit == "rays/s");
  REQUIRE(results[0].series.size() == 3);
  for (const analysis::BenchSeries& series : results[0].series) {
    REQUIRE(series.points.size() == points);
    CHECK(series.points[0].x == 12'290);
    CHECK(series.points[0].median.value_or(0) == doctest::Approx(2e9).epsilon(0.001));
  }
}

}  // namespace gputrace::bench
