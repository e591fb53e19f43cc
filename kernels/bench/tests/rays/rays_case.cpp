#include "kernels/bench/tests/rays/rays_case.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kGroup = 64;
constexpr std::uint32_t kRays = 1U << 18U;
constexpr std::uint32_t kRaysOfCpu = 1U << 12U;
constexpr std::uint64_t kCheckedRays = 1000;
/// Of a triangle: a leaf and its share of the boxes above, in RADV's 64-byte nodes.
constexpr double kNodeBytes = 128;

struct RayRun {
  std::string id;
  std::shared_ptr<const City> city;
  RayKind kind = RayKind::kPrimary;
  std::uint32_t count = 0;
  /// Drawn when they are first needed: a list of kernels needs none. Not for several threads.
  std::shared_ptr<std::vector<Ray>> rays = std::make_shared<std::vector<Ray>>();

  [[nodiscard]] const std::vector<Ray>& drawn() const {
    if (rays->empty()) {
      *rays = make_rays(*city, kind, count);
    }
    return *rays;
  }
};

Status check(const RayRun& run, const Outputs& outputs) {
  const std::span<const std::byte> hits = outputs.buffers.at(1);
  const std::vector<Ray>& rays = run.drawn();
  for (const std::uint64_t i : sample_of(rays.size(), kCheckedRays)) {
    const auto wrong =
        wrong_hit(*run.city, rays[i], run.kind == RayKind::kShadow, read_at<RayHit>(hits, i));
    if (wrong) {
      return fail(ErrorCode::kCorrupt, fmt::format("{}: ray {} {}", run.id, i, *wrong));
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(RayKind kind) {
  switch (kind) {
    case RayKind::kPrimary:
      return "primary";
    case RayKind::kShadow:
      return "shadow";
    case RayKind::kRandom:
      break;
  }
  return "random";
}

std::uint32_t ray_count(const vulkan::DeviceFacts& facts) {
  return facts.is_cpu ? kRaysOfCpu : kRays;
}

SizedCase rays_case(const vulkan::DeviceFacts& facts, const std::shared_ptr<const City>& city,
                    RayKind kind) {
  const std::uint32_t count = ray_count(facts);
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = fmt::format("rays.{}", name_of(kind));
  kernel.description =
      fmt::format("{} rays in a city of {} triangles", name_of(kind), city->triangles());
  kernel.shader = "rays.comp";
  kernel.group_threads = kGroup;
  kernel.constants = {kGroup, kind == RayKind::kShadow ? 1U : 0U};
  kernel.needs = {Requirement::kRayQuery};
  kernel.scene = SceneNeed{.mesh = [city] { return city->mesh(); }};
  sized.launch.groups = count / kGroup;
  const RayRun run{.id = kernel.id, .city = city, .kind = kind, .count = count};
  kernel.buffers = {
      {.binding = 0,
       .bytes = std::uint64_t{count} * sizeof(Ray),
       .fill =
           [run](std::span<std::byte> to) {
             std::memcpy(to.data(), run.drawn().data(), to.size());
           },
       .shared = run.rays},
      {.binding = 1, .bytes = std::uint64_t{count} * sizeof(RayHit), .fill = nullptr}};
  // How often the search goes around is the ray's own affair: there is no formula.
  kernel.in_loops = {Operation::kRayTest};
  kernel.max_code_bytes = std::nullopt;
  kernel.read_bytes_once = sizeof(Ray);
  kernel.written_bytes_once = sizeof(RayHit);
  kernel.stimulus =
      stimulus_of(kernel, Arithmetic::kFp32,
                  {.access = Access::kRandom, .footprint_bytes = kNodeBytes * city->triangles()});
  kernel.check = [run](const Launch&, const Outputs& outputs) { return check(run, outputs); };
  return sized;
}

}  // namespace gputrace::bench
