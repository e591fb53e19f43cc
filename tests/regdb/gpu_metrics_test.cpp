#include "regdb/gpu_metrics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/regdb/expected_metrics.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/metrics_table.h"

using namespace gputrace::regdb;
using gputrace::test::ExpectedLayout;
using gputrace::test::ExpectedMetric;
using gputrace::test::MetricsTable;
using gputrace::test::read_table;

namespace {

constexpr GcVersion kPhoenix{11, 0, 1};

std::optional<double> value_of(std::span<const std::byte> bytes, const MetricsUnits& units,
                               std::string_view name, std::size_t element = 0) {
  const CheckedMetrics checked = check_metrics(bytes, &units);
  REQUIRE(checked.fault == MetricsFault::kNone);
  const MetricsField* field = checked.layout->find(name);
  REQUIRE(field != nullptr);
  return decode_metric(bytes, *field, element, units).value;
}

MetricsFault fault_of(std::span<const std::byte> bytes) {
  return check_metrics(bytes, nullptr).fault;
}

}  // namespace

TEST_CASE("every revision has the size and the offsets of the kernel's struct") {
  CHECK(gputrace::test::expected_layouts().size() == 15);
  for (const ExpectedLayout& expected : gputrace::test::expected_layouts()) {
    CAPTURE(int{expected.format});
    CAPTURE(int{expected.content});
    const MetricsLayout* layout = find_metrics_layout(expected.format, expected.content);
    REQUIRE(layout != nullptr);
    CHECK(layout->size == expected.size);
    for (const ExpectedMetric& metric : expected.fields) {
      const std::string name(metric.name);
      CAPTURE(name);
      const MetricsField* field = layout->find(name);
      REQUIRE(field != nullptr);
      CHECK(field->offset == metric.offset);
      CHECK(field->width == metric.width);
      CHECK(field->count == metric.count);
    }
  }
}

TEST_CASE(
    "fields of a layout lie inside it, aligned, apart, and have a name and a series of their own") {
  for (const ExpectedLayout& expected : gputrace::test::expected_layouts()) {
    const MetricsLayout* layout = find_metrics_layout(expected.format, expected.content);
    REQUIRE(layout != nullptr);
    std::size_t end = 4;
    std::set<std::string> names;
    std::set<std::string> sensors;
    for (const MetricsField& field : layout->fields) {
      CAPTURE(field.name);
      CHECK(field.offset >= end);
      CHECK(field.offset % field.width == 0);
      end = field.offset + field.width * field.count;
      CHECK(names.insert(field.name).second);
      CHECK((field.sensor.empty() || sensors.insert(field.sensor).second));
    }
    CHECK(end <= layout->size);
    CHECK(layout->size - end < 8);
    CHECK(layout->size <= kMaxMetricsSize);
  }
}

TEST_CASE("the partitions of 1.6 to 1.8 are laid out one after the other") {
  CHECK(find_metrics_layout(1, 6)->find("xcp_stats[7].gfx_busy_inst")->offset == 312 + 7 * 168);
  CHECK(find_metrics_layout(1, 7)->find("xcp_stats[1].gfx_below_host_limit_acc")->offset ==
        344 + 232 + 168);
  CHECK(find_metrics_layout(1, 8)->find("xcp_stats[7].gfx_below_host_limit_total_acc")->offset ==
        344 + 7 * 440 + 376);
}

TEST_CASE("a whole table of every revision passes, and what the driver left alone is absent") {
  for (const ExpectedLayout& expected : gputrace::test::expected_layouts()) {
    MetricsTable table(expected.format, expected.content);
    table.set("system_clock_counter", 1);
    const CheckedMetrics checked = check_metrics(table.bytes(), nullptr);
    CHECK(checked.fault == MetricsFault::kNone);
    REQUIRE(checked.layout == &table.layout());
    std::size_t present = 0;
    for (const MetricsField& field : checked.layout->fields) {
      for (std::size_t element = 0; element < field.count; ++element) {
        present += raw_metric(table.bytes(), field, element).has_value() ? 1 : 0;
      }
    }
    CHECK(present == 1);
  }
}

TEST_CASE("a file that exists and is empty is no table") {
  CHECK(fault_of({}) == MetricsFault::kEmpty);
  CHECK(explain_metrics_fault(check_metrics({}, nullptr), {}).find("no bytes") !=
        std::string::npos);
}

TEST_CASE("a truncated table is told by how much there is") {
  const auto bytes = read_table("apu-v2_2-truncated-109-of-128.bin");
  const CheckedMetrics checked = check_metrics(bytes, nullptr);
  CHECK(checked.fault == MetricsFault::kTruncated);
  CHECK(checked.layout == nullptr);
  CHECK(explain_metrics_fault(checked, bytes) == "109 of the 128 bytes that its header states");
  CHECK(fault_of(std::span(bytes).first(3)) == MetricsFault::kTruncated);
  CHECK(explain_metrics_fault({.fault = MetricsFault::kTruncated}, std::span(bytes).first(3)) ==
        "3 bytes; the header alone has 4");
  const auto whole = read_table("phoenix.bin");
  CHECK(fault_of(whole) == MetricsFault::kNone);
  CHECK(fault_of(std::span(whole).first(119)) == MetricsFault::kTruncated);
}

TEST_CASE("a revision without a layout, or of another size, is refused with what is known") {
  MetricsTable table(2, 1);
  table.set("system_clock_counter", 1);
  auto unknown = table;
  unknown.put(3, 1, 9);
  CHECK(fault_of(unknown.bytes()) == MetricsFault::kUnknownRevision);
  CHECK(explain_metrics_fault(check_metrics(unknown.bytes(), nullptr), unknown.bytes()) ==
        "revision 2.9 is not known here; 1.0 to 1.8, 2.0 to 2.4 and 3.0 are");
  auto other_size = table;
  other_size.put(0, 2, 116);
  CHECK(fault_of(other_size.bytes()) == MetricsFault::kUnknownRevision);
  CHECK(explain_metrics_fault(check_metrics(other_size.bytes(), nullptr), other_size.bytes()) ==
        "its header states 116 bytes; a table of revision 2.1 has 120");
}

TEST_CASE("a table of zeros is none, with and without a header") {
  const std::vector<std::byte> nothing(168);
  CHECK(fault_of(nothing) == MetricsFault::kAllZero);
  MetricsTable body(2, 4);
  for (std::size_t at = 4; at < body.bytes().size(); ++at) {
    body.put(at, 1, 0);
  }
  CHECK(fault_of(body.bytes()) == MetricsFault::kAllZero);
  body.set("average_gfxclk_frequency", 200);
  CHECK(fault_of(body.bytes()) == MetricsFault::kNone);
}

TEST_CASE("a torn table is refused for the value that no machine has") {
  auto hot = MetricsTable(1, 3);
  hot.set("temperature_edge", 50).set("temperature_hotspot", 2112);
  const CheckedMetrics checked = check_metrics(hot.bytes(), nullptr);
  CHECK(checked.fault == MetricsFault::kImplausible);
  REQUIRE(checked.field != nullptr);
  CHECK(checked.field->name == "temperature_hotspot");
  CHECK(explain_metrics_fault(checked, hot.bytes()) ==
        "torn or garbage: temperature_hotspot = 2112 C, which no machine has");
  CHECK(fault_of(MetricsTable(1, 3).set("temperature_hotspot", 110).bytes()) ==
        MetricsFault::kNone);
  CHECK(fault_of(MetricsTable(1, 3).set("average_socket_power", 3001).bytes()) ==
        MetricsFault::kImplausible);
  CHECK(fault_of(MetricsTable(1, 3).set("current_gfxclk", 0xfffe).bytes()) ==
        MetricsFault::kImplausible);
  CHECK(fault_of(MetricsTable(1, 3).set("voltage_gfx", 0xfffe).bytes()) ==
        MetricsFault::kImplausible);
  CHECK(fault_of(MetricsTable(1, 3).set("average_gfx_activity", 106).bytes()) ==
        MetricsFault::kImplausible);
  CHECK(fault_of(MetricsTable(2, 1).set("temperature_core", 15001, 7).bytes()) ==
        MetricsFault::kImplausible);
}

TEST_CASE("units that were decided sharpen the limits") {
  MetricsTable first(2, 1);
  first.set("temperature_gfx", 55).set("average_socket_power", 18).set("average_cpu_power", 9000);
  const MetricsUnits units = decide_metrics_units(first.bytes(), first.layout(), std::nullopt);
  CHECK(units.temperature.scale == 1);
  CHECK(units.power.scale == 1);
  MetricsTable later = first;
  later.set("temperature_gfx", 5500);
  CHECK(fault_of(later.bytes()) == MetricsFault::kNone);
  CHECK(check_metrics(later.bytes(), &units).fault == MetricsFault::kImplausible);
}

TEST_CASE("checking and decoding a table allocates nothing") {
  const auto bytes = read_table("strixpoint.bin");
  const MetricsLayout* layout = find_metrics_layout(3, 0);
  REQUIRE(layout != nullptr);
  const MetricsUnits units = decide_metrics_units(bytes, *layout, GcVersion{11, 5, 0});
  const std::uint64_t before = gputrace::test::allocation_count();
  double sum = 0;
  const CheckedMetrics checked = check_metrics(bytes, &units);
  for (const MetricsField& field : layout->fields) {
    for (std::size_t element = 0; element < field.count; ++element) {
      sum += decode_metric(bytes, field, element, units).value.value_or(0);
    }
  }
  CHECK(gputrace::test::allocation_count() == before);
  CHECK(checked.fault == MetricsFault::kNone);
  CHECK(sum > 0);
}

TEST_CASE("numbers are little endian, and an element beyond the table is absent") {
  MetricsTable table(1, 3);
  table.set("energy_accumulator", 0x0102030405060708);
  const MetricsField* field = table.layout().find("energy_accumulator");
  CHECK(raw_metric(table.bytes(), *field, 0) == 0x0102030405060708);
  CHECK_FALSE(raw_metric(table.bytes(), *field, 1));
  CHECK_FALSE(raw_metric(std::span(table.bytes()).first(31), *field, 0));
}

TEST_CASE("real tables decode to what their bytes say") {
  const auto phoenix = read_table("phoenix.bin");
  const MetricsUnits apu = decide_metrics_units(phoenix, *find_metrics_layout(2, 1), kPhoenix);
  CHECK(value_of(phoenix, apu, "temperature_gfx") == doctest::Approx(25.0));        // 0x09c4
  CHECK(value_of(phoenix, apu, "average_socket_power") == doctest::Approx(3.401));  // 0x0d49
  CHECK(value_of(phoenix, apu, "average_gfx_activity") == doctest::Approx(0.79));   // 0x004f
  CHECK(value_of(phoenix, apu, "average_gfxclk_frequency") == 800);
  CHECK_FALSE(value_of(phoenix, apu, "average_cpu_power"));
  CHECK_FALSE(value_of(phoenix, apu, "current_gfxclk"));

  const auto navi = read_table("dgpu-v1_3.bin");
  const MetricsUnits dgpu = decide_metrics_units(navi, *find_metrics_layout(1, 3), std::nullopt);
  CHECK(value_of(navi, dgpu, "temperature_hotspot") == 49);
  CHECK(value_of(navi, dgpu, "average_socket_power") == 33);
  CHECK(value_of(navi, dgpu, "energy_accumulator") == doctest::Approx(0xc3be881eU / 65536.0));
  CHECK(dgpu.activity.decision.empty());

  const auto strix = read_table("strixpoint.bin");
  const MetricsUnits v3 =
      decide_metrics_units(strix, *find_metrics_layout(3, 0), GcVersion{11, 5, 0});
  CHECK(value_of(strix, v3, "temperature_gfx") == doctest::Approx(38.12));
  CHECK(value_of(strix, v3, "average_gfx_activity") == 3);
  CHECK(value_of(strix, v3, "average_dram_reads") == doctest::Approx(2504e6));
  CHECK(value_of(strix, v3, "average_socket_power") == doctest::Approx(9.839));
  CHECK_FALSE(value_of(strix, v3, "stapm_power_limit"));
}
