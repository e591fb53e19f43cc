#include "cli/commands/record/record_options.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace gputrace::commands {
namespace {

using Words = std::vector<std::string>;

Words command_of(const Words& arguments) {
  return cut_command(arguments).command.value_or(Words{"(none)"});
}

RecordOptions parsed(const Words& arguments) {
  const Result<RecordOptions> options = parse_record_options(arguments);
  REQUIRE_MESSAGE(options.has_value(), (options ? "" : options.error().message));
  return *options;
}

TEST_CASE("the command begins at the first word that is not an option") {
  CHECK(command_of({"game", "-o", "x", "--rate", "5"}) == Words{"game", "-o", "x", "--rate", "5"});
  CHECK(command_of({"-o", "x", "game"}) == Words{"game"});
  CHECK(command_of({"-ox", "game"}) == Words{"game"});
  CHECK(command_of({"-qo", "x", "game"}) == Words{"game"});
  CHECK(command_of({"-qox", "game"}) == Words{"game"});
  CHECK(command_of({"--label", "game", "other"}) == Words{"other"});
  CHECK(command_of({"--label=game", "other"}) == Words{"other"});
  CHECK(command_of({"--force", "-q", "game"}) == Words{"game"});
  CHECK(command_of({"-", "x"}) == Words{"-", "x"});
  CHECK(command_of({"--rate", "100"}) == Words{"(none)"});
}

TEST_CASE("the command is passed on byte for byte") {
  const Words odd{"a,b", "", "--", "-o", "x y", "\xff\xfe", "line\nbreak", "--force"};
  Words arguments{"--"};
  arguments.insert(arguments.end(), odd.begin(), odd.end());
  CHECK(command_of(arguments) == odd);
  CHECK(parsed(arguments).command == odd);
  CHECK(command_of({"", "x"}) == Words{"", "x"});
}

TEST_CASE("Steam's command keeps its own two --") {
  const Words steam{"/s/reaper",  "SteamLaunch", "AppId=1", "--",       "/s/entry-point",
                    "--verb=run", "--",          "/g/game", "-windowed"};
  Words arguments{"--gpu", "card1", "--"};
  arguments.insert(arguments.end(), steam.begin(), steam.end());
  const RecordOptions options = parsed(arguments);
  CHECK(options.command == steam);
  CHECK(options.gpu == "card1");
}

TEST_CASE("options keep their values exactly") {
  const RecordOptions options =
      parsed({"--label", "a,b \n --x", "-o", "-x,y", "--gpu=sim:780m:x=y", "--rate=20000",
              "--duration", "2.5", "--wait=tree", "-q", "--force", "game"});
  CHECK(options.label == "a,b \n --x");
  CHECK(options.output == "-x,y");
  CHECK(options.gpu == "sim:780m:x=y");
  CHECK(options.rate_hz == 20000);
  CHECK(options.duration_s == 2.5);
  CHECK(options.wait == WaitFor::kTree);
  CHECK(options.quiet);
  CHECK(options.force);
}

TEST_CASE("without options there are defaults") {
  const RecordOptions options = parsed({"game"});
  CHECK(options.rate_hz == 1000);
  CHECK(options.sensor_rate_hz == 10);
  CHECK(options.source == "auto");
  CHECK(options.wait == WaitFor::kChild);
  CHECK_FALSE(options.output);
  CHECK_FALSE(options.label);
  CHECK_FALSE(options.quiet);
}

TEST_CASE("sensors may be read more slowly, or not at all") {
  CHECK(parsed({"--sensor-rate", "0.1", "game"}).sensor_rate_hz == 0.1);
  CHECK(parsed({"--sensor-rate=100", "game"}).sensor_rate_hz == 100);
  CHECK(parsed({"--sensor-rate", "0", "game"}).sensor_rate_hz == 0);
}

TEST_CASE("each way to read registers may be asked for") {
  for (const char* source : {"auto", "drm", "debugfs", "bar"}) {
    CHECK(parsed({"--source", source, "game"}).source == source);
  }
}

TEST_CASE("help needs no command") {
  CHECK(parsed({"--help"}).help);
}

TEST_CASE("command lines without sense are usage errors that say why") {
  const std::vector<std::pair<Words, std::string>> cases{
      {{}, "nothing to record"},
      {{"--"}, "no command after --"},
      {{"--rate", "0.5", "x"}, "--rate '0.5'"},
      {{"--rate", "20001", "x"}, "--rate '20001'"},
      {{"--rate", "1k", "x"}, "--rate '1k'"},
      {{"--rate", "nan", "x"}, "--rate 'nan'"},
      {{"--rate", "", "x"}, "--rate ''"},
      {{"--sensor-rate", "0.05", "x"}, "--sensor-rate '0.05' is neither 0 (no sensors) nor"},
      {{"--sensor-rate", "101", "x"}, "--sensor-rate '101'"},
      {{"--sensor-rate", "-1", "x"}, "--sensor-rate '-1'"},
      {{"--sensor-rate", "often", "x"}, "--sensor-rate 'often'"},
      {{"--duration", "0", "x"}, "--duration '0'"},
      {{"--duration", "inf", "x"}, "--duration 'inf'"},
      {{"--duration", "nan", "x"}, "--duration 'nan'"},
      {{"--duration", "1e30", "x"}, "--duration '1e30'"},
      {{"--duration", "-1"}, "--duration '-1'"},
      {{"--pid", "0"}, "--pid '0'"},
      {{"--pid", "12x"}, "--pid '12x'"},
      {{"--pid", "12", "x"}, "not both"},
      {{"--wait", "all", "x"}, "--wait 'all'"},
      {{"--wait", "tree", "--duration", "1"}, "there is no command"},
      {{"--force", "x"}, "there is no -o"},
      {{"-o", "", "x"}, "-o needs"},
      {{"-o", "-", "x"}, "standard output"},
      {{"-o", std::string(5000, 'x'), "x"}, "-o is longer"},
      {{"--gpu", std::string(5000, 'x'), "x"}, "--gpu is longer"},
      {{"--source", "sim", "x"}, "not one of auto, drm, debugfs and bar"},
      {{"--source", "", "x"}, "not one of auto, drm, debugfs and bar"},
      {{"--source", "bar", "--gpu", "sim:780m", "x"}, "simulated"},
      {{"--source", "drm", "--gpu", "sim:780m", "x"}, "simulated"},
      {{"--label", std::string(5000, 'x'), "x"}, "--label is longer"},
      {{"--colour", "x"}, "colour"},
      {{"-z", "x"}, "z"},
      {{"-o"}, ""},
  };
  for (const auto& [arguments, reason] : cases) {
    CAPTURE(reason);
    const Result<RecordOptions> options = parse_record_options(arguments);
    REQUIRE_FALSE(options);
    CHECK(options.error().code == ErrorCode::kUsage);
    CHECK(options.error().message.find(reason) != std::string::npos);
  }
}

}  // namespace
}  // namespace gputrace::commands
