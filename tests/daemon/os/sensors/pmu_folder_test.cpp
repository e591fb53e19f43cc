#include "daemon/os/sensors/pmu_folder.h"

#include <doctest/doctest.h>

#include <array>

#include "tests/daemon/os/sensors/fake_pmus.h"
#include "tests/support/error_text.h"

namespace gputrace::os {

using test::error_text;

TEST_CASE("a PMU is its number and the CPUs on which it counts") {
  const test::FakePmus pmus;
  pmus.add("power", 23, "0,8-9", {});
  const auto pmu = open_pmu_folder(pmus.roots(), "power");
  REQUIRE_MESSAGE(pmu, error_text(pmu));
  CHECK(pmu->type == 23);
  CHECK(pmu->cpus == std::vector<int>{0, 8, 9});
}

TEST_CASE("a PMU that is not there is not found, one that says nothing is corrupt") {
  const test::FakePmus pmus;
  CHECK(open_pmu_folder(pmus.roots(), "amd_df").error().code == ErrorCode::kNotFound);
  pmus.write("sys/bus/event_source/devices/odd/type", "many\n");
  CHECK(open_pmu_folder(pmus.roots(), "odd").error().code == ErrorCode::kCorrupt);
  pmus.write("sys/bus/event_source/devices/bare/type", "7\n");
  CHECK(open_pmu_folder(pmus.roots(), "bare").error().code == ErrorCode::kCorrupt);
}

TEST_CASE("numbered PMUs come in order of their number") {
  const test::FakePmus pmus;
  for (const unsigned number : {10U, 2U, 0U}) {
    pmus.add_umc(number, 40 + number);
  }
  pmus.add("amd_umc_x", 1, "0", {});
  CHECK(numbered_pmus(pmus.roots(), "amd_umc_") ==
        std::vector<std::string>{"amd_umc_0", "amd_umc_2", "amd_umc_10"});
  CHECK(numbered_pmus(pmus.roots(), "amd_df_").empty());
}

TEST_CASE("bits of a term go where the format says, lowest first") {
  const test::FakePmus pmus;
  pmus.add("amd_df", 14, "0",
           {{"format/event", "config:0-7,32-35,59-60"}, {"format/umask", "config:8-15"}});
  const auto pmu = open_pmu_folder(pmus.roots(), "amd_df");
  REQUIRE(pmu);
  const std::array terms{PmuTerm{"event", 0x1147}, PmuTerm{"umask", 0x38}};
  const auto event = encode(*pmu, terms);
  REQUIRE_MESSAGE(event, error_text(event));
  CHECK(event->type == 14);
  // 0x47 in 0-7, 0x1 in 32-35, 0x1 in 59-60.
  CHECK(event->config == 0x0800'0001'0000'3847);
}

TEST_CASE("terms may go to config1 and fill a whole field") {
  const test::FakePmus pmus;
  pmus.add("p", 1, "0", {{"format/a", "config1:0-63"}, {"format/b", "config2:5"}});
  const auto pmu = open_pmu_folder(pmus.roots(), "p");
  REQUIRE(pmu);
  const std::array terms{PmuTerm{"a", ~std::uint64_t{0}}, PmuTerm{"b", 1}};
  const auto event = encode(*pmu, terms);
  REQUIRE(event);
  CHECK(event->config == 0);
  CHECK(event->config1 == ~std::uint64_t{0});
  CHECK(event->config2 == 32);
}

TEST_CASE("a value without room, or a term without a format, is unsupported") {
  const test::FakePmus pmus;
  pmus.add("p", 1, "0",
           {{"format/umask", "config:8-15"}, {"format/odd", "config:9-3"}, {"format/far", "x:1"}});
  const auto pmu = open_pmu_folder(pmus.roots(), "p");
  REQUIRE(pmu);
  for (const PmuTerm& term :
       {PmuTerm{"umask", 0x7fe}, PmuTerm{"none", 1}, PmuTerm{"odd", 1}, PmuTerm{"far", 1}}) {
    const auto event = encode(*pmu, {&term, 1});
    REQUIRE_FALSE(event);
    CHECK(event.error().code == ErrorCode::kUnsupported);
  }
}

TEST_CASE("an event that the kernel names has a scale and a unit") {
  const test::FakePmus pmus;
  pmus.add("power", 23, "0",
           {{"format/event", "config:0-7"},
            {"events/energy-pkg", "event=0x02"},
            {"events/energy-pkg.scale", "2.3283064365386962890625e-10"},
            {"events/energy-pkg.unit", "Joules"}});
  const auto pmu = open_pmu_folder(pmus.roots(), "power");
  REQUIRE(pmu);
  const auto event = named_event(*pmu, "energy-pkg");
  REQUIRE_MESSAGE(event, error_text(event));
  CHECK(event->event.config == 2);
  CHECK(event->scale == doctest::Approx(1.0 / 4294967296.0));
  CHECK(event->unit == "Joules");
  CHECK(named_event(*pmu, "energy-cores").error().code == ErrorCode::kNotFound);
}

TEST_CASE("a named event that makes no sense is corrupt") {
  const test::FakePmus pmus;
  pmus.add("power", 23, "0",
           {{"format/event", "config:0-7"},
            {"events/word", "event=many"},
            {"events/scale", "event=1"},
            {"events/scale.scale", "-2"},
            {"events/flag", "event"}});
  const auto pmu = open_pmu_folder(pmus.roots(), "power");
  REQUIRE(pmu);
  CHECK(named_event(*pmu, "word").error().code == ErrorCode::kCorrupt);
  CHECK(named_event(*pmu, "scale").error().code == ErrorCode::kCorrupt);
  REQUIRE(named_event(*pmu, "flag"));
  CHECK(named_event(*pmu, "flag")->event.config == 1);
}

TEST_CASE("lists of CPUs are single numbers and ranges") {
  CHECK(parse_cpu_list("0") == std::vector<int>{0});
  CHECK(parse_cpu_list("0-2,5") == std::vector<int>{0, 1, 2, 5});
  for (const char* text : {"", "a", "3-1", "0,", "-1", "0-99999999"}) {
    CHECK_FALSE(parse_cpu_list(text));
  }
}

}  // namespace gputrace::os
