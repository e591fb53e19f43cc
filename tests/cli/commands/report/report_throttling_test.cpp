// Throttle bits are believed only where temperature, power or clock agree.
#include "cli/commands/report/report_throttling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "regdb/throttle.h"
#include "tests/cli/commands/report/sensor_session.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

/// The independent bit of a name, as (low half, high half).
std::pair<double, double> halves_of(std::string_view name) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto reasons = regdb::decode_independent_throttle_status(std::uint64_t{1} << bit);
    if (reasons.size() == 1 && reasons[0].name == name) {
      const double value = std::exp2(bit % 32);
      return bit < 32 ? std::pair(value, 0.0) : std::pair(0.0, value);
    }
  }
  FAIL("no independent bit ", std::string(name));
  return {};
}

using Course = std::function<std::optional<double>(double)>;

/// The bit is set while `when` holds.
std::vector<SeriesRecipe> bit_series(std::string_view name,
                                     const std::function<bool(double)>& when) {
  const auto [low, high] = halves_of(name);
  const auto course = [when](double value) -> Course {
    return [when, value](double t) { return std::optional(when(t) ? value : 0.0); };
  };
  return {bits("throttle_independent_low", course(low)),
          bits("throttle_independent_high", course(high))};
}

report::Throttling throttling_with(std::vector<SeriesRecipe> claims,
                                   const std::vector<SeriesRecipe>& witnesses) {
  claims.insert(claims.end(), witnesses.begin(), witnesses.end());
  const report::Report report =
      report_with(changing_load(), {{.name = "gpu_metrics", .series = claims}});
  REQUIRE(report.throttling);
  return *report.throttling;
}

bool whole_time(double) {
  return true;
}
bool second_half(double t) {
  return t >= 5;
}

Course by_half(double first, double second) {
  return [first, second](double t) { return std::optional(t < 5 ? first : second); };
}

}  // namespace

TEST_CASE("TEMP_HOTSPOT that is always set at 41 C is no claim") {
  const report::Throttling throttling = throttling_with(
      bit_series("TEMP_HOTSPOT", whole_time),
      {gauge("junction_temperature", "C", always(41)), gauge("gfx_clock", "MHz", by_half(20, 2500)),
       gauge("gfx_activity", "%", by_half(0, 95)), gauge("package_power", "W", always(15)),
       gauge("power_cap", "W", always(290))});
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].name == "TEMP_HOTSPOT");
  CHECK(throttling.bits[0].group == "temperature");
  CHECK(throttling.bits[0].share == doctest::Approx(1));
  CHECK(throttling.bits[0].evidence.empty());
  CHECK(throttling.bits[0].supported_s == 0);
  CHECK(throttling.samples == 100);
}

TEST_CASE("the same bit near the junction's limit is a finding for that time") {
  const report::Throttling throttling =
      throttling_with(bit_series("TEMP_HOTSPOT", whole_time),
                      {gauge("junction_temperature", "C", by_half(70, 107))});
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].supported_s == doctest::Approx(5).epsilon(0.02));
  CHECK(throttling.bits[0].evidence.find("junction_temperature up to 107 C, usual limit 110 C") !=
        std::string::npos);
}

TEST_CASE("a bit of one place is not supported by the heat of another") {
  const std::vector<SeriesRecipe> hot_memory{gauge("junction_temperature", "C", always(70)),
                                             gauge("mem_temperature", "C", always(98))};
  report::Throttling throttling =
      throttling_with(bit_series("TEMP_HOTSPOT", whole_time), hot_memory);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence.empty());
  throttling = throttling_with(bit_series("TEMP_VR_MEM0", whole_time), hot_memory);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence.empty());
  throttling = throttling_with(bit_series("TEMP_MEM", second_half), hot_memory);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence == "mem_temperature up to 98 C, usual limit 100 C");
  CHECK(throttling.bits[0].supported_s == doctest::Approx(5).epsilon(0.05));
  throttling = throttling_with(bit_series("PROCHOT_GFX", second_half), hot_memory);
  REQUIRE(throttling.bits.size() == 1);
  CHECK_FALSE(throttling.bits[0].evidence.empty());
}

TEST_CASE("a power bit is believed near the cap and not below it") {
  const auto with_power = [](double watts) {
    return throttling_with(
        bit_series("PPT0", second_half),
        {gauge("package_power", "W", by_half(10, watts)), gauge("power_cap", "W", always(54))});
  };
  report::Throttling throttling = with_power(53.8);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence == "package_power 53.8 W of a cap of 54.0 W");
  CHECK(throttling.bits[0].share == doctest::Approx(0.5).epsilon(0.02));
  throttling = with_power(12);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence.empty());
}

TEST_CASE("heat does not support a power bit") {
  const report::Throttling throttling = throttling_with(
      bit_series("PPT0", whole_time), {gauge("junction_temperature", "C", always(109))});
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence.empty());
}

TEST_CASE("a clock that is lower under the same load while the bit is set supports it") {
  const std::vector<SeriesRecipe> busy{gauge("gfx_activity", "%", always(96)),
                                       gauge("gfx_clock", "MHz", by_half(2600, 1900))};
  const report::Throttling throttling = throttling_with(bit_series("PPT0", second_half), busy);
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].evidence == "gfx_clock 1900 MHz under load, 2600 MHz without the bit");
  const report::Throttling always_set = throttling_with(bit_series("PPT0", whole_time), busy);
  REQUIRE(always_set.bits.size() == 1);
  CHECK(always_set.bits[0].evidence.empty());
}

TEST_CASE("residency counters claim the time in which they move") {
  const report::Throttling throttling = throttling_with(
      {counter("throttle_residency_sppt", "count",
               [](double t) { return t < 5 ? 100 : 100 + 10 * std::floor(10 * t); })},
      {gauge("package_power", "W", by_half(10, 54)), gauge("power_cap", "W", always(54))});
  REQUIRE(throttling.bits.size() == 1);
  CHECK(throttling.bits[0].name == "sppt");
  CHECK(throttling.bits[0].group == "power");
  CHECK(throttling.bits[0].supported_s == doctest::Approx(5).epsilon(0.05));
}

TEST_CASE("bits that were never set are counted as such; without any there is nothing to say") {
  const report::Throttling throttling = throttling_with({bits("throttle_status", always(0))}, {});
  CHECK(throttling.bits.empty());
  CHECK(throttling.samples == 100);
  const report::Report report = report_with(
      changing_load(), {{.name = "s", .series = {gauge("edge_temperature", "C", always(50))}}});
  CHECK_FALSE(report.throttling);
}

TEST_CASE("bits of a driver that is not known have numbers and are never believed") {
  SessionRecipe recipe = changing_load();
  recipe.gc = "99.0.0";
  const report::Report report = report_with(
      recipe,
      {{.name = "gpu_metrics",
        .series = {bits("throttle_status", always(2)),
                   gauge("junction_temperature", "C", always(109)),
                   gauge("package_power", "W", always(54)), gauge("power_cap", "W", always(54))}}});
  REQUIRE(report.throttling);
  REQUIRE(report.throttling->bits.size() == 1);
  CHECK(report.throttling->bits[0].name == "bit 1");
  CHECK(report.throttling->bits[0].evidence.empty());
}
