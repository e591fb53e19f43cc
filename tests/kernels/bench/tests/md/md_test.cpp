#include "kernels/bench/tests/md/md.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "kernels/bench/tests/md/md_case.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/fake_runner.h"

namespace gputrace::bench {
namespace {

std::shared_ptr<const Atoms> atoms_of(std::uint32_t side) {
  return std::make_shared<const Atoms>(make_atoms(side));
}

std::uint32_t entry_of(const NeighbourLists& lists, std::uint32_t count, std::uint32_t atom,
                       std::uint32_t entry) {
  return lists.words[(std::size_t{entry} / 4 * count + atom) * 4 + entry % 4];
}

double distance_between(const Atoms& atoms, std::uint32_t a, std::uint32_t b) {
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double box = atoms.box();
    const double apart = static_cast<double>(atoms.numbers[std::size_t{a} * 4 + axis]) -
                         static_cast<double>(atoms.numbers[std::size_t{b} * 4 + axis]);
    const double nearest = apart - box * std::nearbyint(apart / box);
    square += nearest * nearest;
  }
  return std::sqrt(square);
}

Status checked(Runner& runner, const SizedCase& sized, const Launch& launch) {
  const auto prepared = runner.prepare(sized.kernel);
  REQUIRE_MESSAGE(prepared, test::error_text(prepared));
  return (*prepared)->check_result(launch);
}

const analysis::DerivedValue* find(const analysis::TestResult& test, const std::string& what) {
  const auto found = std::ranges::find(test.derived, what, &analysis::DerivedValue::what);
  return found == test.derived.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("lists hold every atom within their radius, once, around the edges too") {
  const Atoms atoms = make_atoms(8);
  const NeighbourLists lists = list_neighbours(atoms);
  std::uint64_t pairs = 0;
  for (std::uint32_t atom = 0; atom < atoms.count(); ++atom) {
    std::set<std::uint32_t> listed;
    for (std::uint32_t entry = 0; entry < lists.trips * 8; ++entry) {
      const std::uint32_t other = entry_of(lists, atoms.count(), atom, entry);
      if (other != atom) {
        CHECK(listed.insert(other).second);
      }
    }
    pairs += listed.size();
    for (std::uint32_t other = 0; other < atoms.count(); ++other) {
      const double apart = distance_between(atoms, atom, other);
      if (other != atom && std::abs(apart - kListRadius) > 1e-4) {
        REQUIRE((apart < kListRadius) == listed.contains(other));
      }
    }
  }
  CHECK(pairs == lists.pairs);
}

TEST_CASE("forces in the reference add up to nothing, and no two atoms are too near") {
  const Atoms atoms = make_atoms(8);
  std::array<double, 3> sum{};
  double most = 0;
  for (std::uint32_t atom = 0; atom < atoms.count(); ++atom) {
    const Force force = force_on(atoms, atom);
    for (std::size_t axis = 0; axis < sum.size(); ++axis) {
      sum.at(axis) += force.of.at(axis);
      most = std::max(most, std::abs(force.of.at(axis)));
    }
  }
  CHECK(most > 0.1);
  CHECK(most < 1000);
  for (const double axis : sum) {
    CHECK(std::abs(axis) < 1e-9 * most * atoms.count());
  }
}

TEST_CASE("forces on a device are those of double to five digits, by pairs and by lists") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const std::uint32_t side : {8U, 12U}) {
    const auto atoms = atoms_of(side);
    const auto lists = std::make_shared<const NeighbourLists>(list_neighbours(*atoms));
    for (const bool listed : {false, true}) {
      const auto seen = std::make_shared<ForceError>();
      const SizedCase sized =
          listed ? md_list_case(atoms, lists, seen) : md_pairs_case(atoms, seen);
      CAPTURE(sized.kernel.id);
      const Status right = checked(*runner, sized, sized.launch);
      CHECK_MESSAGE(right, test::error_text(right));
      CHECK(seen->compared == 24);
      CHECK(seen->rms < 1e-5);
      CHECK(seen->rms > 0);
      Launch shorter = sized.launch;
      --shorter.trips;
      CHECK_FALSE(checked(*runner, sized, shorter));
    }
  }
}

TEST_CASE("one neighbour too few is found") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  const auto atoms = atoms_of(8);
  NeighbourLists lists = list_neighbours(*atoms);
  std::uint32_t nearest = 0;
  double least = kListRadius;
  for (std::uint32_t entry = 0; entry < 8; ++entry) {
    const std::uint32_t other = entry_of(lists, atoms->count(), 0, entry);
    if (other != 0 && distance_between(*atoms, 0, other) < least) {
      least = distance_between(*atoms, 0, other);
      nearest = entry;
    }
  }
  REQUIRE(least < kCutOff);
  lists.words[std::size_t{nearest} / 4 * atoms->count() * 4 + nearest % 4] = 0;
  const SizedCase sized =
      md_list_case(atoms, std::make_shared<const NeighbourLists>(std::move(lists)));
  const Status wrong = checked(*runner, sized, sized.launch);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("the force on atom 0") != std::string::npos);
}

TEST_CASE("marks tell tiles in local memory from gathers by lists") {
  const auto atoms = atoms_of(16);
  const auto lists = std::make_shared<const NeighbourLists>(list_neighbours(*atoms));
  const SizedCase pairs = md_pairs_case(atoms);
  const Stimulus tiles = pairs.kernel.stimulus(pairs.launch);
  CHECK(tiles.local_bytes == 16.0 * 65 * 64);
  CHECK(tiles.flops == 37.0 * 4096);
  CHECK(tiles.access == Access::kResident);
  const SizedCase by_list = md_list_case(atoms, lists);
  const Stimulus gathers = by_list.kernel.stimulus(by_list.launch);
  CHECK(gathers.access == Access::kRandom);
  CHECK(gathers.footprint_bytes == 16.0 * 4096);
  CHECK(gathers.local_bytes == 0);
  CHECK(gathers.dram_bytes == 32.0 * lists->trips + 32);
  CHECK(by_list.launch.trips <= kMaxTrips);
}

TEST_CASE("pairs a second of both kinds, with their places on the roofline") {
  test::FakeRunner runner;
  runner.dispatch_ns = [](const KernelCase& kernel, const Launch& launch) {
    return flops_of(kernel, {.groups = launch.groups, .trips = launch.trips}) / 1000;
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_md(context);
  REQUIRE(results.size() == 1);
  const analysis::TestResult& test = results[0];
  CHECK(test.status == analysis::TestStatus::kOk);
  CHECK(test.unit == "pairs/s");
  REQUIRE(test.series.size() == 2);
  CHECK(test.series[0].points.size() == 2);
  for (const analysis::BenchPoint& point : test.series[0].points) {
    CHECK(point.median.value_or(0) == doctest::Approx(1e12 / 37).epsilon(0.001));
  }
  // What fills lists up is computed, and is no pair.
  REQUIRE(test.series[1].points.size() == 1);
  CHECK(test.series[1].points[0].x == 48 * 48 * 48);
  CHECK(test.series[1].points[0].median.value_or(0) < 1e12 / 37);
  CHECK(test.series[1].points[0].median.value_or(0) > 0.7e12 / 37);
  REQUIRE(find(test, "point.md.pairs.gflops") != nullptr);
  CHECK(find(test, "point.md.pairs.gflops")->value == doctest::Approx(1000).epsilon(0.001));
  CHECK(find(test, "point.md.pairs.intensity")->value == doctest::Approx(37 * 4096 / 32.0));
  CHECK(find(test, "point.md.list.intensity")->value < 20);
}

TEST_CASE("forces that are wrong are not measured") {
  test::FakeRunner runner;
  runner.result = [](const KernelCase& kernel, const Launch&) -> Status {
    return fail(ErrorCode::kCorrupt, kernel.id + ": the force on atom 0 is off");
  };
  TestContext context{.runner = runner, .options = runner.options(), .quick = true};
  const auto results = run_md(context);
  CHECK(results[0].status == analysis::TestStatus::kFailed);
  CHECK(results[0].derived.empty());
}

}  // namespace gputrace::bench
