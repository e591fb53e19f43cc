#include "cli/commands/roofline/roofline_options.h"

#include <doctest/doctest.h>

#include "tests/support/error_text.h"

namespace gputrace {
namespace {

using commands::parse_roofline_options;
using Words = std::vector<std::string>;

std::string refusal(const Words& words) {
  const auto options = parse_roofline_options(words);
  REQUIRE_FALSE(options);
  CHECK(options.error().code == ErrorCode::kUsage);
  return options.error().message;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const Words kPower = {"--power", "15,25", "--set-power", "set {watts}", "--restore-power", "54"};

Words with_power(const Words& more) {
  Words words = kPower;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("a roofline without options is a full one of the default device, and kept") {
  const auto options = parse_roofline_options({});
  REQUIRE_MESSAGE(options, test::error_text(options));
  CHECK_FALSE(options->quick);
  CHECK_FALSE(options->json);
  CHECK(options->save);
  CHECK_FALSE(options->article);
  CHECK_FALSE(options->power.has_value());
  CHECK(options->device.empty());
}

TEST_CASE("options of a roofline") {
  const auto options = parse_roofline_options({"--device", "780M", "--quick", "--json", "--svg",
                                               "a b.svg", "--no-save", "--method", "article"});
  REQUIRE_MESSAGE(options, test::error_text(options));
  CHECK(options->device == "780M");
  CHECK(options->quick);
  CHECK(options->json);
  CHECK_FALSE(options->save);
  CHECK(options->article);
  CHECK(options->svg == std::filesystem::path("a b.svg"));
  CHECK(contains(refusal({"--method", "guess"}), "article"));
  CHECK(contains(refusal({"--color", "mauve"}), "--color"));
}

TEST_CASE("a power sweep needs its command and the limit to restore") {
  const auto options = parse_roofline_options(with_power({"--max-temp", "80", "--dry-run"}));
  REQUIRE_MESSAGE(options, test::error_text(options));
  REQUIRE(options->power);
  CHECK(options->power->levels == std::vector<std::uint32_t>{15, 25});
  CHECK(options->power->command.words(15) == Words{"set", "15"});
  CHECK(options->power->restore_watts == 54);
  CHECK(options->power->max_temperature_c == 80);
  CHECK(options->power->dry_run);
  CHECK(parse_roofline_options(kPower)->power->max_temperature_c == 95);

  CHECK(contains(refusal({"--power", "15", "--set-power", "set {watts}"}), "--restore-power"));
  CHECK(contains(refusal({"--power", "15", "--restore-power", "54"}), "--set-power"));
  CHECK(contains(refusal({"--dry-run"}), "--power"));
  CHECK(contains(refusal({"--set-power", "set {watts}"}), "--power"));
  CHECK(contains(refusal({"--max-temp", "80"}), "--power"));
}

TEST_CASE("what a power sweep cannot do is refused") {
  for (const char* gpu : {"sim", "sim:780m", "sim:780m:game"}) {
    CHECK(contains(refusal(with_power({"--gpu", gpu})), "simulated"));
  }
  CHECK(contains(refusal(with_power({"--method", "article"})), "article"));
  CHECK(contains(refusal(with_power({"--svg", "a.svg"})), "--svg"));
  CHECK(contains(refusal(with_power({"--max-temp", "0"})), "--max-temp"));
  CHECK_FALSE(refusal(with_power({"--max-temp", "nan"})).empty());
  for (const char* levels : {"", "15,", ",15", "15,,25", "15;25", "15.5", "2000", "0"}) {
    CAPTURE(levels);
    CHECK(contains(
        refusal({"--power", levels, "--set-power", "set {watts}", "--restore-power", "54"}),
        "--power"));
  }
  CHECK(contains(refusal({"--power", "15", "--set-power", "set 15", "--restore-power", "54"}),
                 "{watts}"));
}

TEST_CASE("the help fits a terminal") {
  std::size_t column = 0;
  for (const char c : commands::roofline_help()) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

}  // namespace
}  // namespace gputrace
