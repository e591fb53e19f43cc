// Text, words and JSON of a comparison. The goldens hold a comparison of two power limits.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/report/comparison_json.h"
#include "cli/report/comparison_text.h"
#include "cli/report/terminal_text.h"
#include "tests/support/golden.h"

using namespace gputrace;  // NOLINT(google-build-using-namespace)

namespace {

using analysis::Bottleneck;
using analysis::ComparedRun;
using analysis::Interval;

ComparedRun run_at(double ea, double ta_of_engine, double watts, Bottleneck limit) {
  ComparedRun run;
  const auto busy = [](double value) {
    return analysis::Figure{.value = value, .interval = Interval{value - 0.01, value + 0.01}};
  };
  run.units.push_back({{"GRBM_STATUS", "GUI_ACTIVE"}, busy(0.97)});
  run.units.push_back({{"GRBM_STATUS2", "EA_BUSY"}, busy(ea)});
  run.units.push_back({{"GRBM_STATUS_SE0", "TA_BUSY"}, busy(ta_of_engine)});
  run.units.push_back({{"GRBM_STATUS_SE0", "SC_BUSY"}, busy(0.5)});
  run.quantities.push_back({"package_power",
                            "hwmon power1_average",
                            "W",
                            {.value = watts, .interval = Interval{watts - 1, watts + 1}}});
  run.quantities.push_back({"package_energy", "hwmon power1_average", "J", {.value = 60 * watts}});
  run.class_shares = {{limit, 0.8}, {Bottleneck::kIdle, 0.2}};
  return run;
}

report::ComparedSession session(const std::string& file, bool simulated = false) {
  report::ComparedSession out;
  out.file = file;
  out.duration_s = 60;
  out.gpu.name = "AMD Radeon 780M";
  out.gpu.simulated = simulated;
  return out;
}

report::ComparisonReport power_limits(Bottleneck limit_of_b = Bottleneck::kMemory) {
  report::ComparisonReport report;
  report.a = {session("25w.gputrace")};
  report.b = {session("54w.gputrace")};
  report.comparison = analysis::compare(std::vector{run_at(0.89, 0.83, 25, Bottleneck::kMemory)},
                                        std::vector{run_at(0.93, 0.83, 47, limit_of_b)});
  report.warnings = {{"single_recording", "Each side is one recording.", "Record each again."}};
  report.conditions = {{.failed = true, .explanation = "'EA_BUSY>+2pp' holds"}};
  return report;
}

report::TextOptions plain() {
  report::TextOptions options;
  options.ascii = true;
  return options;
}

}  // namespace

TEST_CASE("the text begins with whether the limit moved, and what power did") {
  test::check_golden("compare.txt", report::render_comparison_text(power_limits(), plain(), false));
}

TEST_CASE("JSON has every figure with its interval") {
  const std::string json = report::render_comparison_json(power_limits());
  test::check_golden("compare.json", json);
  const auto parsed = nlohmann::json::parse(json);
  CHECK(parsed["schema"] == "gputrace.compare/1");
  CHECK(parsed["quantities"][1]["real"].is_null());
  CHECK(parsed["quantities"][1]["ci95"].is_null());
}

TEST_CASE("a limit that moved is named on both sides") {
  const std::vector<std::string> words = report::comparison_words(power_limits(Bottleneck::kCpu));
  CHECK(words.at(0).starts_with("The limit moved: from memory"));
  CHECK(words.at(0).find("the CPU or a frame limit (80 % of B)") != std::string::npos);
}

TEST_CASE("without phases the limit cannot be compared") {
  report::ComparisonReport report = power_limits();
  report.comparison.classes.clear();
  CHECK(report::comparison_words(report).at(0) ==
        "What limited them cannot be compared: neither side has phases that tell.");
}

TEST_CASE("engines that do not differ are counted, and listed on demand") {
  const std::string brief = report::render_comparison_text(power_limits(), plain(), false);
  CHECK(brief.find("SE0.TA_BUSY") == std::string::npos);
  CHECK(brief.find("2 units of single shader engines") != std::string::npos);
  const std::string all = report::render_comparison_text(power_limits(), plain(), true);
  CHECK(all.find("SE0.TA_BUSY") != std::string::npos);
}

TEST_CASE("a simulated side is said first") {
  report::ComparisonReport report = power_limits();
  report.b = {session("sim.gputrace", true)};
  CHECK(report::render_comparison_text(report, plain(), false).starts_with("SIMULATED"));
}

TEST_CASE("lines keep within the width, and colour adds no character") {
  report::ComparisonReport report = power_limits();
  report.a[0].label = "a label \x1b[31m that tries to colour";
  for (const std::size_t width : {std::size_t{80}, std::size_t{120}}) {
    report::TextOptions options = plain();
    options.width = width;
    const std::string text = report::render_comparison_text(report, options, true);
    CHECK(text.find('\x1b') == std::string::npos);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      CHECK(report::display_width(text.substr(begin, end - begin)) <= width);
      begin = end + 1;
    }
    options.colour = true;
    const std::string coloured = report::render_comparison_text(report, options, true);
    CHECK(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), "") == text);
  }
}
