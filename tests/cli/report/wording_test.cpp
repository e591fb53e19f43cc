#include "cli/report/wording.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/report/class_style.h"
#include "tests/cli/report/sample_phases.h"
#include "tests/cli/report/sample_report.h"
#include "tests/support/golden.h"

using namespace gputrace;          // NOLINT(google-build-using-namespace)
using namespace gputrace::report;  // NOLINT(google-build-using-namespace)
using analysis::Bottleneck;

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string dump(std::string_view title, const Answer& answer) {
  std::string text = fmt::format("== {}\n{}\n{}\n", title, answer.headline, answer.first_line);
  const auto add = [&text](std::string_view key, const std::string& value) {
    text += value.empty() ? "" : fmt::format("  {}: {}\n", key, value);
  };
  add("next", answer.next);
  add("why", answer.why);
  add("player", answer.player);
  add("developer", answer.developer);
  add("how sure", answer.how_sure);
  for (const std::string& limit : answer.limits) {
    add("limit", limit);
  }
  for (const ClassTime& time : answer.classes) {
    text += fmt::format("  {} {:.1f} s, {:.2f}, {} phases, {:.2f}: {}\n",
                        analysis::to_string(time.bottleneck), time.seconds, time.share, time.phases,
                        time.confidence, time.evidence);
  }
  return text + "\n";
}

Report one_phase(Bottleneck bottleneck, double confidence) {
  return test::report_of_phases({test::sample_phase(bottleneck, 0, 100, confidence)});
}

Report one_witnessed(Bottleneck bottleneck, double gbps, double power_w) {
  Report report =
      test::report_of_phases({test::witnessed_phase(bottleneck, 0, 100, 0.97, gbps, power_w)});
  report.machine = test::sample_machine();
  return report;
}

}  // namespace

TEST_CASE("each class has an answer in words") {
  std::string text;
  for (const Bottleneck bottleneck : kAllClasses) {
    text += dump(analysis::to_string(bottleneck), answer_of(one_phase(bottleneck, 0.93)));
  }
  text += dump("bandwidth with traffic", answer_of(one_witnessed(Bottleneck::kBandwidth, 71, 40)));
  text += dump("latency with traffic", answer_of(one_witnessed(Bottleneck::kLatency, 38, 40)));
  text += dump("likely", answer_of(one_phase(Bottleneck::kTexture, 0.8)));
  text += dump("a guess", answer_of(one_phase(Bottleneck::kTexture, 0.6)));
  text += dump("below a guess", answer_of(one_phase(Bottleneck::kTexture, 0.4)));
  text += dump(
      "two classes",
      answer_of(test::report_of_phases({test::sample_phase(Bottleneck::kMemory, 0, 55, 0.95),
                                        test::sample_phase(Bottleneck::kCompute, 55, 100, 0.92)})));
  text += dump(
      "mostly idle",
      answer_of(test::report_of_phases({test::sample_phase(Bottleneck::kIdle, 0, 80, 0.99),
                                        test::sample_phase(Bottleneck::kCompute, 80, 100, 0.92)})));
  text += dump("an hour", answer_of(test::sample_hour()));
  test::check_golden("answers.txt", text);
}

TEST_CASE("a simulated session says SIMULATED first") {
  Report report = one_phase(Bottleneck::kCompute, 0.95);
  report.gpu.simulated = true;
  CHECK(answer_of(report).headline == "SIMULATED: limited by the shader cores");
  report.phases.clear();
  CHECK(answer_of(report).headline.rfind("SIMULATED: ", 0) == 0);
}

TEST_CASE("more power will not help: only where power was below its limit") {
  constexpr std::string_view kClaim = "will not help";
  Report report = one_witnessed(Bottleneck::kBandwidth, 71, 40);
  CHECK_FALSE(contains(answer_of(report).player, kClaim));  // no cap known
  test::add_power_cap(report, 54);
  CHECK(contains(answer_of(report).player, "at most 41 of the 54 W"));
  report.throttling = Throttling{.samples = 10,
                                 .bits = {{.name = "PROCHOT",
                                           .group = "temperature",
                                           .share = 1,
                                           .supported_s = 9,
                                           .evidence = "junction at 104 C"}}};
  CHECK_FALSE(contains(answer_of(report).player, kClaim));
  report.throttling->bits[0].evidence.clear();  // a bit that nothing agrees with is no evidence
  CHECK(contains(answer_of(report).player, kClaim));
  report = one_witnessed(Bottleneck::kBandwidth, 71, 53);
  test::add_power_cap(report, 54);
  CHECK_FALSE(contains(answer_of(report).player, kClaim));
}

TEST_CASE("shader cores at the power limit: the limit is named, and raising it is advice") {
  Report report = one_witnessed(Bottleneck::kCompute, 20, 53.5);
  CHECK_FALSE(contains(answer_of(report).player, "power"));
  test::add_power_cap(report, 54);
  CHECK(contains(answer_of(report).why, "54 of 54 W"));
  CHECK(contains(answer_of(report).player, "Raise the power limit"));
}

TEST_CASE("no answer promises frames") {
  for (const Bottleneck bottleneck : kAllClasses) {
    const Answer answer = answer_of(one_phase(bottleneck, 0.95));
    for (const std::string& text : {answer.why, answer.player, answer.developer}) {
      CHECK_FALSE(contains(text, "FPS"));
      CHECK_FALSE(contains(text, "fps"));
    }
  }
}

TEST_CASE("cannot tell has a reason and a next step") {
  const Answer answer = answer_of(one_phase(Bottleneck::kUnknown, 0.3));
  CHECK(answer.headline == "Cannot tell what limited it");
  CHECK(answer.why == "The busy bits fit memory and texture equally.");
  CHECK(contains(answer.how_sure, "gputrace doctor"));
  Report nothing = test::report_of_phases({});
  const Answer none = answer_of(nothing);
  CHECK_FALSE(none.bottleneck);
  CHECK(none.classes.empty());
  CHECK(contains(none.why, "too little"));
  CHECK(contains(none.how_sure, "Record for longer"));
  nothing.units.clear();
  CHECK(contains(answer_of(nothing).why, "no valid sample"));
}

TEST_CASE("memory without a witness says what would tell bandwidth from latency") {
  const Answer answer = answer_of(one_phase(Bottleneck::kMemory, 0.95));
  CHECK(contains(answer.headline, "bandwidth or latency, not separable here"));
  const Answer other =
      answer_of(test::report_of_phases({test::sample_phase(Bottleneck::kCompute, 0, 80, 0.95),
                                        test::sample_phase(Bottleneck::kMemory, 80, 100, 0.95)}));
  REQUIRE_FALSE(other.limits.empty());
  CHECK(contains(other.limits.front(), "gputrace doctor"));
}

TEST_CASE("phases without a class and below a guess count as not judged") {
  const Answer answer =
      answer_of(test::report_of_phases({test::sample_phase(Bottleneck::kBandwidth, 0, 80, 0.95),
                                        test::sample_phase(Bottleneck::kUnknown, 80, 92, 0.2),
                                        test::sample_phase(Bottleneck::kTexture, 92, 100, 0.4)}));
  REQUIRE_FALSE(answer.limits.empty());
  CHECK(contains(answer.limits.front(), "20.0 s (20 %) could not be judged"));
  CHECK(contains(answer.limits.front(), "The busy bits fit memory and texture equally."));
}

TEST_CASE("time without any sample is told") {
  Report report = test::report_of_phases({test::sample_phase(Bottleneck::kTexture, 0, 30, 0.95),
                                          test::sample_phase(Bottleneck::kTexture, 70, 100, 0.95)});
  const auto told = [&report] {
    for (const std::string& limit : answer_of(report).limits) {
      if (contains(limit, "40.0 s (40 %) without any sample")) {
        return true;
      }
    }
    return false;
  };
  CHECK(told());
  report.phases[0].end_s = 70;
  CHECK_FALSE(told());
}

TEST_CASE("traffic above the measured roof is told, not clipped") {
  Report report = one_witnessed(Bottleneck::kBandwidth, 80, 40);
  const Answer answer = answer_of(report);
  CHECK(contains(answer.classes.front().evidence, "80/73 GB/s"));
  CHECK(std::any_of(answer.limits.begin(), answer.limits.end(), [](const std::string& limit) {
    return contains(limit, "the roof or the counter is wrong");
  }));
}

TEST_CASE("no position says what to run, or why the calibration was refused") {
  const auto says = [](const Report& report, std::string_view part) {
    const Answer answer = answer_of(report);
    return std::any_of(answer.limits.begin(), answer.limits.end(),
                       [part](const std::string& limit) { return contains(limit, part); });
  };
  Report report = one_phase(Bottleneck::kCompute, 0.95);
  CHECK(says(report, "no calibration of this GPU. `gputrace calibrate` makes one"));
  report.machine = test::sample_machine();
  report.machine->fit = {.use = analysis::CalibrationUse::kRefused,
                         .why = "it was made at 15 W, this at 54 W"};
  CHECK(says(report, "It was made at 15 W, this at 54 W."));
  report.phases[0].position = test::one_sided_position();
  CHECK_FALSE(says(report, "No place on the roofline"));
  report = one_phase(Bottleneck::kCompute, 0.95);
  report.warnings = {{"no_calibration", "none fits.", "run it."}};
  CHECK(says(report, "the warning no_calibration says why, and what to run"));
  // Waiting for the CPU has no place on a roofline.
  CHECK_FALSE(says(one_phase(Bottleneck::kCpu, 0.95), "roofline"));
}

TEST_CASE("intervals of a class come from all of its phases") {
  Report report = test::report_of_phases({test::sample_phase(Bottleneck::kCpu, 0, 50, 0.95),
                                          test::sample_phase(Bottleneck::kCompute, 50, 100, 0.2),
                                          test::sample_phase(Bottleneck::kCpu, 100, 150, 0.95)});
  report.phases[0].units[0].ci95 = analysis::Interval{0.40, 0.52};
  report.phases[2].units[0].ci95 = analysis::Interval{0.42, 0.50};
  // sqrt(6^2 + 4^2) / 2 = 3.6
  report.phases[0].evidence.clear();
  CHECK(contains(answer_of(report).why, "GUI_ACTIVE 46 % (±4)."));
  report.phases[2].units[0].ci95.reset();
  CHECK(contains(answer_of(report).why, "GUI_ACTIVE 46 %."));
}

TEST_CASE("a busy fraction has no more digits than its interval allows") {
  CHECK(busy_text(0.934, analysis::Interval{0.921, 0.947}) == "93 % (±1)");
  CHECK(busy_text(0.934, analysis::Interval{0.933, 0.935}) == "93 % (±<1)");
  CHECK(busy_text(0.934, analysis::Interval{0.78, 1}) == "93 % (±11)");
  CHECK(busy_text(0.934, std::nullopt) == "93 %");
}

TEST_CASE("ranges are rounded outwards and one-sided where an end is absent") {
  CHECK(range_text({1.84, 2.06}) == "1.8 - 2.1");
  CHECK(range_text({std::nullopt, 5.62}) == "< 5.7");
  CHECK(range_text({20.4, std::nullopt}) == "> 20");
  CHECK(range_text({std::nullopt, std::nullopt}) == "not known");
  CHECK(range_text({0.111, 0.1298}) == "0.11 - 0.13");
  CHECK(range_text({1234, 5678}) == "1200 - 5700");
  CHECK(range_text({71, 71}) == "71");
  CHECK(range_text({9.96, 12}) == "9.9 - 12");
  CHECK(range_text({2.001, 2.004}) == "2.001 - 2.004");
}

TEST_CASE("a position tells the ridge first") {
  CHECK(position_text(test::two_sided_position()) ==
        "0.11 - 0.13 of the ridge, 1.8 - 2.1 FLOP/B; 71 GB/s; 120 - 150 GFLOPS");
  CHECK(position_text(test::one_sided_position()) == "below 0.36 of the ridge, < 5.8 FLOP/B");
  CHECK(position_text({}) == "not known");
}
