#include "cli/analysis/fail_condition.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using gputrace::ErrorCode;
using gputrace::Result;
using gputrace::analysis::check;
using gputrace::analysis::Comparison;
using gputrace::analysis::Difference;
using gputrace::analysis::FailCondition;
using gputrace::analysis::FailVerdict;
using gputrace::analysis::Interval;
using gputrace::analysis::parse_fail_condition;

namespace {

FailCondition parsed(const std::string& text) {
  const Result<FailCondition> condition = parse_fail_condition(text);
  REQUIRE(condition.has_value());
  return condition.value_or(FailCondition{});
}

Difference unit(const std::string& register_name, const std::string& name, double difference,
                const Interval& interval) {
  Difference row;
  row.name = name;
  row.register_name = register_name;
  row.unit = "pp";
  row.a = 50;
  row.b = 50 + difference;
  row.difference = difference;
  row.interval = interval;
  return row;
}

Comparison comparison() {
  Comparison out;
  out.units = {unit("GRBM_STATUS_SE0", "TA_BUSY", 20, {18, 22}),
               unit("GRBM_STATUS", "TA_BUSY", 6, {5.5, 6.5}),
               unit("GRBM_STATUS2", "EA_LINK_BUSY", 6, {4.5, 7.5}),
               unit("GRBM_STATUS2", "EA_LINK", 6, {4.5, 7.5}),
               unit("GRBM_STATUS2", "EA_BUSY", 6, {4.5, 7.5})};
  Difference power;
  power.name = "package_power";
  power.unit = "W";
  power.relative = 0.2;
  power.relative_interval = Interval{0.1, 0.3};
  power.difference = 10;
  power.interval = Interval{5, 15};
  Difference fan;
  fan.name = "fan_speed";
  fan.unit = "RPM";
  fan.difference = 10;
  fan.why = "one recording of each";
  out.quantities = {power, fan};
  return out;
}

bool fails(const std::string& text) {
  const Result<FailVerdict> verdict = check(parsed(text), comparison());
  REQUIRE(verdict.has_value());
  return verdict.value_or(FailVerdict{}).failed;
}

std::string error(const std::string& text) {
  const Result<FailVerdict> verdict = check(parsed(text), comparison());
  REQUIRE_FALSE(verdict.has_value());
  CHECK(verdict.error().code == ErrorCode::kInvalidArgument);
  return verdict.error().message;
}

}  // namespace

TEST_CASE("conditions name a thing, a side and a limit with its unit") {
  const FailCondition ea = parsed("EA_BUSY>+5pp");
  CHECK(ea.name == "EA_BUSY");
  CHECK(ea.register_name.empty());
  CHECK(ea.above);
  CHECK(ea.limit == doctest::Approx(5));
  CHECK_FALSE(ea.relative);
  const FailCondition engine = parsed(" GRBM_STATUS_SE0.TA_BUSY < -2.5 pp");
  CHECK(engine.register_name == "GRBM_STATUS_SE0");
  CHECK(engine.name == "TA_BUSY");
  CHECK_FALSE(engine.above);
  CHECK(engine.limit == doctest::Approx(-2.5));
  CHECK(parsed("package_power>+5%").relative);
  CHECK(parsed("package_power>5%").limit == doctest::Approx(5));
}

TEST_CASE("what is no condition is refused with an example") {
  for (const std::string text :
       {"", "EA_BUSY", "EA_BUSY=5pp", ">5pp", "EA_BUSY>5", "EA_BUSY>pp", "EA_BUSY>+-5pp",
        "EA_BUSY>nanpp", "EA_BUSY>5x%", "A.>5pp", "EA_BUSY>1e999%"}) {
    CAPTURE(text);
    const Result<FailCondition> condition = parse_fail_condition(text);
    REQUIRE_FALSE(condition.has_value());
    CHECK(condition.error().code == ErrorCode::kUsage);
    CHECK(condition.error().message.find("EA_BUSY>+5pp") != std::string::npos);
  }
}

TEST_CASE("only a whole interval beyond the limit fails") {
  CHECK(fails("TA_BUSY>+5pp"));
  CHECK_FALSE(fails("EA_BUSY>+5pp"));
  CHECK(fails("EA_BUSY>+4pp"));
  CHECK_FALSE(fails("EA_BUSY<-1pp"));
  CHECK(fails("EA_BUSY<+8pp"));
  CHECK(fails("package_power>+5%"));
  CHECK_FALSE(fails("package_power>+15%"));
}

TEST_CASE("a unit without a register is that of the whole GPU") {
  CHECK_FALSE(fails("TA_BUSY>+10pp"));
  CHECK(fails("GRBM_STATUS_SE0.TA_BUSY>+10pp"));
}

TEST_CASE("a thing that was not compared is an error that names what was") {
  const std::string message = error("NOPE>+5pp");
  CHECK(message.find("EA_BUSY") != std::string::npos);
  CHECK(message.find("EA_LINK_BUSY, EA_LINK, EA_BUSY") != std::string::npos);
  CHECK(message.find("package_power") != std::string::npos);
}

TEST_CASE("points are of shares alone") {
  CHECK(error("package_power>+5pp").find("is in W") != std::string::npos);
}

TEST_CASE("what cannot be judged is an error, not a pass") {
  CHECK(error("fan_speed>+5%").find("cannot be judged") != std::string::npos);
}
