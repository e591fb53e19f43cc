// Conflicts between sources, sensors that stand still, and what is missing.
#include "cli/commands/report/sensor_warnings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/cli/commands/report/sensor_session.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

report::Report report_of_series(std::vector<SeriesRecipe> series) {
  return report_with(changing_load(), {{.name = "source", .series = std::move(series)}});
}

/// As busy as GUI_ACTIVE of changing_load().
std::optional<double> honest(double t) {
  return t < 5 ? 30 : 95;
}

/// Idle in the first half, nearly always busy in the second.
SessionRecipe idle_then_busy() {
  SessionRecipe recipe = changing_load();
  recipe.word = [](std::size_t, std::size_t tick) {
    return tick >= 5000 && tick % 20 < 19 ? 0x80003028U : 0x3028U;
  };
  return recipe;
}

bool names(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a busy percentage that is always 100 is told apart from GUI_ACTIVE") {
  report::Report report =
      report_of_series({gauge("gfx_activity", "%", always(100), "gpu_busy_percent")});
  std::string text = warning_text(report, "activity_stuck");
  CHECK(names(text, "gpu_busy_percent said 100 % in all of 100 readings"));
  CHECK(names(text, "GUI_ACTIVE was set in 62 % of 10,000 samples"));
  report = report_of_series({gauge("gfx_activity", "%", always(0), "gpu_busy_percent")});
  CHECK(names(warning_text(report, "activity_stuck"), "said 0 %"));
  report = report_of_series({gauge("gfx_activity", "%", honest, "gpu_metrics")});
  CHECK_FALSE(has_warning(report, "activity_stuck"));
  CHECK_FALSE(has_warning(report, "activity_conflict"));
}

TEST_CASE("a GPU that is always busy may say 100 %") {
  SessionRecipe recipe = changing_load();
  recipe.word = [](std::size_t, std::size_t) { return 0x80003028U; };
  const report::Report report =
      report_with(recipe, {{.name = "s", .series = {gauge("gfx_activity", "%", always(100))}}});
  CHECK_FALSE(has_warning(report, "activity_stuck"));
}

TEST_CASE("in a short recording the filter of the firmware explains a difference") {
  SessionRecipe recipe = idle_then_busy();
  recipe.seconds = 6;  // busy for the last one
  const auto late = [](double t) { return std::optional(t < 5.5 ? 0.0 : 5.0); };
  const report::Report report = report_with(
      recipe, {{.name = "s",
                .series = {gauge("gfx_activity", "%", late, "gpu_metrics"),
                           gauge("gfx_activity", "%", always(0), "gpu_busy_percent")}}});
  CHECK_FALSE(has_warning(report, "activity_conflict"));
  CHECK_FALSE(has_warning(report, "activity_stuck"));
}

TEST_CASE("a busy percentage far from GUI_ACTIVE is a conflict") {
  const auto low = [](double t) { return std::optional(t < 5 ? 5.0 : 20.0); };
  const report::Report report = report_of_series({gauge("gfx_activity", "%", low)});
  CHECK(names(warning_text(report, "activity_conflict"), "12 % busy"));
}

TEST_CASE("two powers of one package must agree within their error") {
  const auto power = [](double watts, const char* source) {
    return gauge(
        "package_power", "W", [watts](double t) { return watts + std::floor(t) * 0.01; }, source);
  };
  CHECK_FALSE(has_warning(report_of_series({power(30, "a"), power(32, "b")}), "power_conflict"));
  const std::string text =
      warning_text(report_of_series({power(30, "a"), power(66, "b")}), "power_conflict");
  CHECK(names(text, "66.0 W by b, 30.0 W by a"));
  SeriesRecipe board = power(200, "board");
  board.description.covers = "the whole board";
  CHECK_FALSE(has_warning(report_of_series({power(30, "a"), board}), "power_conflict"));
}

TEST_CASE("powers of different stretches are not compared, nor filters of different lengths") {
  SeriesRecipe ended = gauge(
      "package_power", "W",
      [](double t) { return t < 4 ? std::optional(10 + t / 10) : std::nullopt; }, "a");
  const SeriesRecipe whole = gauge("package_power", "W", [](double t) { return 20 + t; }, "b");
  CHECK_FALSE(has_warning(report_of_series({ended, whole}), "power_conflict"));
  const auto step = [](double at) {
    return [at](double t) { return std::optional(t < at ? 4.0 : 40.0); };
  };
  CHECK_FALSE(has_warning(report_of_series({gauge("package_power", "W", step(5), "average"),
                                            gauge("package_power", "W", step(6.5), "input")}),
                          "power_conflict"));
}

TEST_CASE("clocks of a GPU that idles are not compared") {
  SessionRecipe recipe = changing_load();
  recipe.word = [](std::size_t, std::size_t tick) { return tick % 20 < 2 ? 0x80003028U : 0x3028U; };
  const auto clock = [](double mhz, const char* source) {
    return gauge("gfx_clock", "MHz", [mhz](double t) { return mhz + t; }, source);
  };
  const report::Report report = report_with(
      recipe, {{.name = "s", .series = {clock(800, "freq1"), clock(4, "gpu_metrics")}}});
  CHECK_FALSE(has_warning(report, "clock_conflict"));
}

TEST_CASE("an average that counts deep sleep is no conflict with a clock; two clocks are") {
  const auto moving = [](double mhz) {
    return [mhz](double t) { return std::optional(mhz + std::floor(t)); };
  };
  report::Report report = report_of_series({gauge("gfx_clock", "MHz", moving(2700), "freq1"),
                                            gauge("gfx_clock_average", "MHz", moving(300))});
  CHECK_FALSE(has_warning(report, "clock_conflict"));
  report = report_of_series({gauge("gfx_clock", "MHz", moving(2700), "hwmon freq1_input"),
                             gauge("gfx_clock", "MHz", moving(1200), "gpu_metrics current_gfxclk"),
                             gauge("gfx_clock", "MHz", moving(500), "pp_dpm_sclk")});
  const std::string text = warning_text(report, "clock_conflict");
  CHECK(names(text, "gpu_metrics current_gfxclk"));
  CHECK_FALSE(names(text, "pp_dpm_sclk"));
}

TEST_CASE("what never changes while the load does is named; under a steady load it is not") {
  const SourceRecipe source{.name = "s", .series = {gauge("gfx_clock", "MHz", always(1200))}};
  CHECK(names(warning_text(report_with(idle_then_busy(), {source}), "sensor_stuck"),
              "was 1200 MHz in all of 100 readings"));
  // At 30 % load a clock may stand at its limit already; power never does.
  CHECK_FALSE(has_warning(report_with(changing_load(), {source}), "sensor_stuck"));
  const SourceRecipe power{.name = "s", .series = {gauge("package_power", "W", always(9))}};
  CHECK(has_warning(report_with(changing_load(), {power}), "sensor_stuck"));
  SessionRecipe steady = changing_load();
  steady.word = [](std::size_t, std::size_t tick) { return tick % 2 == 0 ? 0x80003028U : 0x3028U; };
  CHECK_FALSE(has_warning(report_with(steady, {source}), "sensor_stuck"));
}

TEST_CASE("frames, one after a pause each, are no change of the load") {
  SessionRecipe frames = changing_load();
  frames.seconds = 6;
  frames.word = [](std::size_t, std::size_t tick) {
    return tick % 400 < 200 ? 0x80003028U : 0x3028U;
  };
  const SourceRecipe source{
      .name = "s",
      .series = {gauge("gfx_clock", "MHz", always(2600)), gauge("package_power", "W", always(30))}};
  CHECK_FALSE(has_warning(report_with(frames, {source}), "sensor_stuck"));
}

TEST_CASE("sources that failed are named once, with numbers") {
  SourceRecipe good{.name = "good", .series = {gauge("a", "C", always(50))}};
  good.totals = {.reads = 100, .rate_hz = 10, .problem = ""};
  SourceRecipe slow{.name = "gpu_metrics", .series = {gauge("b", "C", always(50))}};
  slow.totals = {.reads = 90, .rejected = 7, .failed = 2, .late = 1, .problem = "slow: 6 ms"};
  const report::Report report = report_with(changing_load(), {good, slow});
  const std::string text = warning_text(report, "sensor_sources");
  CHECK(names(text,
              "gpu_metrics: 10 of 100 reads gave nothing (rejected 7, failed 2, late 1), slow: 6 "
              "ms."));
  CHECK_FALSE(names(text, "good"));
  SourceRecipe torn{.name = "torn", .series = {gauge("c", "C", always(50))}};
  torn.totals = {.reads = 1000, .rejected = 3, .rate_hz = 10, .problem = ""};
  CHECK_FALSE(has_warning(report_with(changing_load(), {torn}), "sensor_sources"));
  CHECK(report.sensor_sources[0].rate_hz == 10);
  CHECK_FALSE(report.sensor_sources[1].rate_hz);
  CHECK_FALSE(has_warning(report_with(changing_load(), {good}), "sensor_sources"));
}

TEST_CASE("without DRAM traffic the report says what it cannot tell, and how to get it") {
  const SourceRecipe source{.name = "s", .series = {gauge("edge_temperature", "C", always(50))}};
  const report::Report report = report_with(changing_load(), {source});
  CHECK(names(warning_text(report, "no_dram_traffic"), "CAP_PERFMON"));
  SessionRecipe simulated = changing_load();
  simulated.simulated = true;
  CHECK_FALSE(has_warning(report_with(simulated, {source}), "no_dram_traffic"));
}

TEST_CASE("sampling a card keeps it from suspending; an APU does not suspend") {
  report::Report report =
      report_of_series({gauge("junction_temperature", "C", always(50)),
                        gauge("package_power", "W", [](double t) { return 100 + t; })});
  CHECK(report.sampling.kept_device_awake == true);
  SeriesRecipe power = gauge("package_power", "W", [](double t) { return 10 + t; });
  power.description.covers = "CPU and GPU together";
  report = report_of_series({power});
  CHECK(report.sampling.kept_device_awake == false);
  CHECK_FALSE(report_of_series({}).sampling.kept_device_awake);
}
