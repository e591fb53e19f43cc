#include "daemon/os/sensors/value_format.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace gputrace::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr ValueFormat kTemperature{TextForm::kInteger, 1e-3, -60, 160, true, false};
constexpr ValueFormat kRpm{TextForm::kInteger, 1, 0, 30'000, false, false};
constexpr ValueFormat kPower{TextForm::kPower, 1, 0, 5000, true, false};
constexpr ValueFormat kPlainPower{TextForm::kPower, 1, 0, 5000, true, true};
constexpr ValueFormat kClock{TextForm::kDpmClock, 1, 0, 10'000, false, false};
constexpr ValueFormat kLink{TextForm::kDpmPcie, 1, 0, 1e12, false, false};

double value_of(std::string_view text, const ValueFormat& format) {
  const ParsedValue parsed = parse_value(text, format);
  CHECK_MESSAGE(parsed.state == ValueState::kValue, text, ": ", parsed.reason);
  return parsed.value;
}

ValueState state_of(std::string_view text, const ValueFormat& format) {
  const ParsedValue parsed = parse_value(text, format);
  CHECK(parsed.reason.empty() == (parsed.state == ValueState::kValue));
  return parsed.state;
}

}  // namespace

TEST_CASE("a number is scaled, and a fan that stands still is a true zero") {
  CHECK(value_of("25000\n", kTemperature) == 25);
  CHECK(value_of("52300\n", kTemperature) == 52.3);
  CHECK(value_of("-5000\n", kTemperature) == doctest::Approx(-5));
  CHECK(value_of("1395", kRpm) == 1395);
  CHECK(value_of("0\n", kRpm) == 0);
}

TEST_CASE("a tree's padding with NULs is no part of the number") {
  CHECK(value_of({"1395\n\0\0\0", 8}, kRpm) == 1395);
  CHECK(state_of({"\0\0\0", 3}, kRpm) == ValueState::kImpossible);
}

TEST_CASE("zero where no GPU has it is no value") {
  CHECK(state_of("0\n", kTemperature) == ValueState::kAbsent);
  CHECK(state_of("0\n", kPower) == ValueState::kAbsent);
}

TEST_CASE("answers that are no number, or that no GPU has, are impossible") {
  for (const std::string_view text : {"", "\n", "N/A\n", "12 34\n", "0x10\n", "1.5\n", "+5\n",
                                      "--5", "99999999999999999999999\n", "65535\n"}) {
    CHECK_MESSAGE(state_of(text, kRpm) == ValueState::kImpossible, text);
  }
  CHECK(state_of("2112000\n", kTemperature) == ValueState::kImpossible);
  CHECK(state_of("-61000\n", kTemperature) == ValueState::kImpossible);
  CHECK(state_of("-1000000\n", kPower) == ValueState::kImpossible);
  CHECK(state_of("65535000000\n", kPower) == ValueState::kImpossible);
}

TEST_CASE("thousandths of a power are 1/256 W") {
  // A Radeon 780M; its gpu_metrics said 3401 mW at the same time.
  CHECK(value_of("3103000\n", kPower) == doctest::Approx(3 + 103.0 / 256));
  CHECK(value_of("3255000\n", kPower) == doctest::Approx(3 + 255.0 / 256));
  CHECK(value_of("68000000\n", kPower) == 68);
  CHECK(value_of("255000\n", kPower) == doctest::Approx(255.0 / 256));
}

TEST_CASE("a power that is no 8.8 number shows that the form was taken wrongly") {
  for (const std::string_view text : {"3256000\n", "3999000\n", "3103001\n", "1\n"}) {
    CHECK_MESSAGE(is_plain_microwatts(text), text);
    CHECK_MESSAGE(state_of(text, kPower) == ValueState::kFormBroken, text);
  }
  for (const std::string_view text : {"3103000\n", "68000000\n", "0\n", "3255000\n", "-1\n", "x"}) {
    CHECK_FALSE_MESSAGE(is_plain_microwatts(text), text);
  }
  CHECK(value_of("3256789\n", kPlainPower) == doctest::Approx(3.256789));
  CHECK(value_of("3103000\n", kPlainPower) == doctest::Approx(3.103));
}

TEST_CASE("the level with the star is the clock") {
  CHECK(value_of("0: 600Mhz \n1: 848Mhz *\n2: 2900Mhz \n", kClock) == 848);
  CHECK(value_of("0: 500Mhz\n1: 31Mhz *\n2: 2219Mhz\n", kClock) == 31);
  CHECK(value_of("S: 500Mhz\n1: 789Mhz *\n2: 2070Mhz\n", kClock) == 789);
  CHECK(value_of("S: 19Mhz *\n0: 500Mhz\n", kClock) == 19);
  CHECK(value_of("0: 800MHz*", kClock) == 800);
}

TEST_CASE("without a star, or with stars at clocks that differ, there is no clock") {
  CHECK(state_of("0: 400Mhz \n1: 800Mhz \n2: 1000Mhz \n", kClock) == ValueState::kAbsent);
  CHECK(state_of("0: 400Mhz *\n1: 800Mhz *\n", kClock) == ValueState::kAbsent);
  CHECK(state_of("\n", kClock) == ValueState::kAbsent);
  CHECK(state_of("", kClock) == ValueState::kAbsent);
}

TEST_CASE("two stars at one clock tell that clock") {
  CHECK(value_of("0: 800Mhz *\n1: 800Mhz *\n2: 900Mhz \n", kClock) == 800);
}

TEST_CASE("lines that are no levels are refused") {
  for (const std::string_view text :
       {"800Mhz *\n", "0: 800 *\n", "0: Mhz *\n", "0: 800Mhz * x\n", "0: 800Ghz *\n", ":*", "*",
        "0: 1234567890Mhz *\n", "0: 8.Mhz *\n", "0: .8Mhz *\n", "0: 99999Mhz *\n",
        "0: 400Mhz *\nERROR\n"}) {
    CHECK_MESSAGE(state_of(text, kClock) == ValueState::kImpossible, text);
  }
}

TEST_CASE("the level of the link gives its capacity in one direction") {
  CHECK(value_of("0: 2.5GT/s, x8 \n1: 8.0GT/s, x16 *\n", kLink) ==
        doctest::Approx(8e9 * 16 / 8 * 128 / 130));
  CHECK(value_of("0: 2.5GT/s, x1 81Mhz *\n1: 8.0GT/s, x8 619Mhz \n", kLink) ==
        doctest::Approx(2.5e9 / 8 * 0.8));
  CHECK(value_of("0: 64.0GT/s, x16 619Mhz *\n", kLink) ==
        doctest::Approx(64e9 * 16 / 8 * 242 / 256));
}

TEST_CASE("levels of the link that differ in their internal clock alone have one capacity") {
  CHECK(value_of("0: 16.0GT/s, x16 78Mhz *\n1: 16.0GT/s, x16 156Mhz *\n", kLink) ==
        doctest::Approx(16e9 * 16 / 8 * 128 / 130));
  CHECK(state_of("0: 8.0GT/s, x16 78Mhz *\n1: 16.0GT/s, x16 156Mhz *\n", kLink) ==
        ValueState::kAbsent);
  CHECK(state_of("0: 16.0GT/s, x16 78Mhz \n", kLink) == ValueState::kAbsent);
  for (const std::string_view text : {"0: 8.0GT/s x16 *\n", "0: 8.0GT/s, x *\n", "0: x16 *\n",
                                      "0: 8.0GT/s, x16 619 *\n", "0: 8.0GT/s, x16 x *\n"}) {
    CHECK_MESSAGE(state_of(text, kLink) == ValueState::kImpossible, text);
  }
}
