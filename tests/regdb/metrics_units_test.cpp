// The doubtful units of gpu_metrics, one case for each way in which tools have got them wrong.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "regdb/gpu_metrics.h"
#include "tests/support/metrics_table.h"

using namespace gputrace::regdb;
using gputrace::test::MetricsTable;
using gputrace::test::read_table;

namespace {

constexpr GcVersion kRenoir{9, 3, 0};
constexpr GcVersion kVanGogh{10, 3, 1};
constexpr GcVersion kPhoenix{11, 0, 1};
constexpr GcVersion kStrixHalo{11, 5, 1};
constexpr GcVersion kUnheardOf{11, 9, 9};

MetricsUnits units_of(const MetricsTable& table, const std::optional<GcVersion>& gc) {
  return decide_metrics_units(table.bytes(), table.layout(), gc);
}

MetricValue decoded(const MetricsTable& table, const MetricsUnits& units, std::string_view name) {
  const MetricsField* field = table.layout().find(name);
  REQUIRE(field != nullptr);
  return decode_metric(table.bytes(), *field, 0, units);
}

}  // namespace

TEST_CASE("activity of an APU of 2.x is in centi-percent: 8775 is 87.75 %") {
  MetricsTable table(2, 2);
  table.set("average_gfx_activity", 8775);
  const MetricsUnits units = units_of(table, kRenoir);
  CHECK(decoded(table, units, "average_gfx_activity").value == doctest::Approx(87.75));
  CHECK(units.activity.decision ==
        "centi-percent: driver of GC 9.3.0 (smu12_driver_if.h: [centi]); range test agrees");
}

TEST_CASE("the table decides while the GPU idles and the values say nothing") {
  MetricsTable table(2, 1);
  table.set("average_gfx_activity", 42);
  const MetricsUnits units = units_of(table, kPhoenix);
  CHECK(decoded(table, units, "average_gfx_activity").value == doctest::Approx(0.42));
  CHECK(units.activity.decision ==
        "centi-percent: driver of GC 11.0.1 (smu13_driver_if_v13_0_4.h: [centi]); "
        "range test says nothing");
}

TEST_CASE("values overrule the table of units, and the decision says so") {
  MetricsTable table(3, 0);
  table.set("average_gfx_activity", 5000);
  const MetricsUnits units = units_of(table, kStrixHalo);
  CHECK(decoded(table, units, "average_gfx_activity").value == doctest::Approx(50));
  CHECK(units.activity.decision ==
        "centi-percent: driver of GC 11.5.1 (smu_v14_0_0_ppt.c: firmware after 93.70.0; "
        "before: centi-percent); "
        "overruled by the range test");
}

TEST_CASE("activity of Van Gogh is in percent since its firmware interface 3, by revision too") {
  MetricsTable deck(2, 4);
  deck.set("average_gfx_activity", 42).set("average_mm_activity", 7);
  for (const auto& gc : {std::optional(kVanGogh), std::optional<GcVersion>()}) {
    const MetricsUnits units = units_of(deck, gc);
    CHECK(decoded(deck, units, "average_gfx_activity").value == 42);
    CHECK(decoded(deck, units, "average_mm_activity").value == 7);
  }
  MetricsTable early(2, 2);
  early.set("average_gfx_activity", 8775);
  const MetricsUnits units = units_of(early, kVanGogh);
  CHECK(decoded(early, units, "average_gfx_activity").value == 87.75);
  CHECK(units.activity.decision ==
        "centi-percent: driver of GC 10.3.1 (vangogh_ppt.c: firmware interface 3 and later; "
        "before: centi-percent); overruled by the range test");
}

TEST_CASE("video activity of 3.0 is in centi-percent, whatever the unit of GPU activity") {
  MetricsTable table(3, 0);
  table.set("average_gfx_activity", 35).set("average_vcn_activity", 3512);
  const MetricsUnits units = units_of(table, kStrixHalo);
  CHECK(decoded(table, units, "average_gfx_activity").value == 35);
  CHECK(decoded(table, units, "average_vcn_activity").value == 35.12);
}

TEST_CASE("an activity that there cannot be is absent, and spoils neither table nor others") {
  MetricsTable halo(3, 0);
  halo.set("average_gfx_activity", 35).set("average_vcn_activity", 65000);
  MetricsTable phoenix(2, 1);
  phoenix.set("average_gfx_activity", 3500).set("average_mm_activity", 65000);
  for (const auto& [table, media_name] :
       {std::pair(&halo, "average_vcn_activity"), std::pair(&phoenix, "average_mm_activity")}) {
    const MetricsUnits units = units_of(*table, std::nullopt);
    CHECK(check_metrics(table->bytes(), &units).fault == MetricsFault::kNone);
    CHECK(decoded(*table, units, "average_gfx_activity").value == 35);
    const MetricValue media = decoded(*table, units, media_name);
    CHECK_FALSE(media.value);
    CHECK(media.absence == MetricAbsence::kOutOfRange);
  }
}

TEST_CASE("0xffff is absent everywhere: no 655 % and no 65 W") {
  MetricsTable table(2, 2);
  table.set("temperature_gfx", 4500).set("average_socket_power", 12000);
  const MetricsUnits units = units_of(table, GcVersion{10, 1, 3});  // BC-250
  for (const std::string_view name :
       {"average_gfx_activity", "average_cpu_power", "fan_pwm", "throttle_status"}) {
    CHECK_FALSE(decoded(table, units, name).value);
    CHECK(decoded(table, units, name).absence == MetricAbsence::kNotProvided);
  }
  CHECK(decoded(table, units, "average_socket_power").value == doctest::Approx(12));
}

TEST_CASE("socket power of Renoir is W or mW by firmware: the rails tell") {
  auto table = MetricsTable(2, 2);
  table.set("average_cpu_power", 13412).set("average_soc_power", 835);
  table.set("average_socket_power", 18);
  CHECK(units_of(table, kRenoir).power.decision ==
        "W: driver of GC 9.3.0 (smu12_driver_if.h: [W], older firmware mW); range test agrees");
  CHECK(decoded(table, units_of(table, kRenoir), "average_socket_power").value == 18);

  table.set("average_socket_power", 18123);
  CHECK(decoded(table, units_of(table, kRenoir), "average_socket_power").value ==
        doctest::Approx(18.123));
  CHECK(units_of(table, kRenoir).power.decision ==
        "mW: driver of GC 9.3.0 (smu12_driver_if.h: [W], older firmware mW); "
        "overruled by the range test");

  // Neither impossible as W nor as mW by itself.
  table.set("average_socket_power", 350);
  CHECK(units_of(table, kVanGogh).power.scale == 1);
  table.set("average_cpu_power", 200).set("average_soc_power", 100);
  CHECK(units_of(table, kVanGogh).power.scale == doctest::Approx(0.001));
}

TEST_CASE("the parts of a socket are always mW, whatever the socket's own unit") {
  MetricsTable table(2, 2);
  table.set("average_cpu_power", 13412).set("average_socket_power", 18);
  CHECK(decoded(table, units_of(table, kRenoir), "average_cpu_power").value ==
        doctest::Approx(13.412));
}

TEST_CASE("a temperature in plain degrees is told from centi-degrees") {
  MetricsTable table(2, 1);
  table.set("temperature_gfx", 4712);
  CHECK(decoded(table, units_of(table, kPhoenix), "temperature_gfx").value ==
        doctest::Approx(47.12));
  table.set("temperature_gfx", 47);
  const MetricsUnits units = units_of(table, kPhoenix);
  CHECK(decoded(table, units, "temperature_gfx").value == 47);
  CHECK(units.temperature.decision ==
        "C: all drivers of 2.x: [centi-Celsius]; "
        "overruled by the range test");
}

TEST_CASE("without a GC version, or with one that is not listed, values decide and it says so") {
  MetricsTable table(2, 3);
  table.set("average_gfx_activity", 5600).set("average_socket_power", 9500);
  const MetricsUnits unknown = units_of(table, std::nullopt);
  CHECK(unknown.activity.decision ==
        "centi-percent: GC version not known; only Van Gogh has 2.3; "
        "overruled by the range test");
  CHECK(unknown.power.decision == "mW: GC version not known; most chips of 2.x; range test agrees");
  CHECK(units_of(table, kUnheardOf).power.decision == "mW: most chips of 2.x; range test agrees");
}

TEST_CASE("zero degrees, zero watts and an energy that never moves are not measured") {
  MetricsTable table(1, 0);  // Radeon VII
  table.set("temperature_edge", 0).set("average_socket_power", 0).set("energy_accumulator", 0);
  table.set("average_gfx_activity", 0).set("current_fan_speed", 0);
  const MetricsUnits units = units_of(table, GcVersion{9, 4, 0});
  for (const std::string_view name :
       {"temperature_edge", "average_socket_power", "energy_accumulator"}) {
    CHECK_FALSE(decoded(table, units, name).value);
    CHECK(decoded(table, units, name).absence == MetricAbsence::kZero);
  }
  CHECK(decoded(table, units, "average_gfx_activity").value == 0);
  CHECK(decoded(table, units, "current_fan_speed").value == 0);
}

TEST_CASE("a current_gfxclk that is the average again is no series of its own") {
  const MetricsLayout& dgpu = MetricsTable(1, 3).layout();
  const MetricsField* clock = dgpu.find("current_gfxclk");
  REQUIRE(clock != nullptr);
  CHECK_FALSE(why_unrecorded(dgpu, *clock, GcVersion{11, 0, 0}).empty());
  CHECK_FALSE(why_unrecorded(dgpu, *clock, GcVersion{12, 0, 1}).empty());
  CHECK(why_unrecorded(dgpu, *clock, GcVersion{10, 3, 0}).empty());
  CHECK(why_unrecorded(dgpu, *clock, std::nullopt).empty());
  const MetricsField* memory = dgpu.find("current_uclk");
  REQUIRE(memory != nullptr);
  CHECK(why_unrecorded(dgpu, *memory, GcVersion{11, 0, 0}).empty());
}

TEST_CASE("an activity slightly above 100 % is 100 %") {
  MetricsTable table(2, 1);
  table.set("average_gfx_activity", 10020);
  CHECK(decoded(table, units_of(table, kPhoenix), "average_gfx_activity").value == 100);
}
