// The real program, on the simulated GPU and on lavapipe.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/vulkan_device.h"

namespace gputrace {
namespace {

using nlohmann::json;
using test::Program;
using Words = std::vector<std::string>;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Folder {
  [[nodiscard]] Program roofline(const Words& words) const {
    Words command = {GPUTRACE_BINARY, "roofline"};
    command.insert(command.end(), words.begin(), words.end());
    Program::Options options;
    options.environment["XDG_DATA_HOME"] = (temp.path() / "data").string();
    options.environment["XDG_CACHE_HOME"] = (temp.path() / "cache").string();
    options.environment["GPUTRACE_SOCKET"] = (temp.path() / "no-daemon").string();
    return Program(command, options);
  }

  /// A script that notes each limit, then does `rest`.
  [[nodiscard]] Words power(const std::string& rest) const {
    const auto script = temp.path() / "set";
    std::ofstream out(script);
    out << "#!/bin/sh\necho $1 >> " << log().string() << "\n" << rest << "\n";
    out.close();
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return {"--quick",         "--no-save", "--power",     "15,25",
            "--restore-power", "54",        "--set-power", script.string() + " {watts}"};
  }
  [[nodiscard]] std::filesystem::path log() const { return temp.path() / "log"; }

  test::TempDir temp;
};

/// For the programs that are started here.
bool lavapipe_for_programs() {
  if (!test::why_no_driver().empty() || !test::use_driver("lvp_icd")) {
    MESSAGE("skipped: lavapipe (mesa-vulkan-drivers) is not installed or may not run here");
    return false;
  }
  return true;
}

TEST_CASE("on the simulated GPU every output says that it is simulated") {
  const Folder folder;
  const auto svg = folder.temp.path() / "roofline.svg";
  const auto text =
      folder.roofline({"--gpu", "sim:780m", "--quick", "--no-save", "--svg", svg.string()})
          .finish();
  CHECK_MESSAGE(text.status() == 0, text.err);
  CHECK(contains(text.out, "SIMULATED"));
  CHECK(contains(text.out, "DRAM copy"));
  CHECK(contains(text.out, "ridge"));
  CHECK(contains(text_of(svg), "SIMULATED"));
  CHECK_FALSE(std::filesystem::exists(folder.temp.path() / "data"));
}

TEST_CASE(
    "a simulated roofline is stored with its results, and its JSON has the model's ceilings") {
  const Folder folder;
  const auto finished = folder.roofline({"--gpu", "sim:780m", "--quick", "--json"}).finish();
  REQUIRE_MESSAGE(finished.status() == 0, finished.err);
  const json document = json::parse(finished.out);
  CHECK(document["schema"] == "gputrace.bench/1");
  CHECK(document["device"]["simulated"] == true);
  CHECK(contains(finished.err, "stored in "));
  std::map<std::string, double> derived;
  for (const json& test : document["tests"]) {
    for (const json& value : test["derived"]) {
      derived[value["what"].get<std::string>()] = value["value"].get<double>();
    }
  }
  CHECK(derived["peak.fp32"] > 3000);
  CHECK(derived["peak.fp32"] < 6000);
  CHECK(derived["dram.copy"] > 60);
  CHECK(derived["dram.copy"] < 90);
  CHECK(derived["ridge of fp32 and DRAM copy"] ==
        doctest::Approx(derived["peak.fp32"] / derived["dram.copy"]));
}

TEST_CASE("without any Vulkan driver the reason is said and nothing is created") {
  const Folder folder;
  Words command = {"/usr/bin/env",
                   "VK_ICD_FILENAMES=/nonexistent",
                   "VK_DRIVER_FILES=/nonexistent",
                   std::string("XDG_DATA_HOME=") + (folder.temp.path() / "data").string(),
                   GPUTRACE_BINARY,
                   "roofline",
                   "--quick"};
  const auto finished = Program(command).finish();
  CHECK(finished.status() == 1);
  CHECK(contains(finished.err, "Vulkan"));
  CHECK(finished.out.empty());
}

TEST_CASE("Ctrl-C ends a roofline with what was measured and says so") {
  const Folder folder;
  if (!lavapipe_for_programs()) {
    return;
  }
  Program program = folder.roofline({"--quick", "--json"});
  // The first note is printed once signals are held.
  CHECK(contains(program.read_error_line(), "note"));
  program.send(SIGINT);
  const auto finished = program.finish();
  CHECK(finished.status() == 1);
  CHECK(contains(finished.err, "stopped by a signal"));
  CHECK(json::parse(finished.out)["cancelled"] == true);
  CHECK(contains(finished.err, "stored in "));
}

TEST_CASE("a power sweep sets each limit, says that it was not verified, and restores") {
  const Folder folder;
  if (!lavapipe_for_programs()) {
    return;
  }
  const auto finished = folder.roofline(folder.power("")).finish();
  CHECK_MESSAGE(finished.status() == 0, finished.err);
  CHECK(text_of(folder.log()) == "15\n25\n54\n");
  CHECK(contains(finished.err, "SIGKILL"));
  CHECK(contains(finished.err, "set 54"));
  CHECK(contains(finished.out, "Power sweep"));
  CHECK(contains(finished.out, "at 25 W: not verified"));
}

TEST_CASE("a power command that fails ends the sweep, and the limit is restored") {
  const Folder folder;
  if (!lavapipe_for_programs()) {
    return;
  }
  const auto finished = folder.roofline(folder.power("test $1 != 15")).finish();
  CHECK(finished.status() == 1);
  CHECK(contains(finished.err, "exit status 1"));
  CHECK(text_of(folder.log()) == "15\n54\n");
}

TEST_CASE("signals end a power sweep, and the limit is restored") {
  if (!lavapipe_for_programs()) {
    return;
  }
  for (const int signal : {SIGINT, SIGTERM}) {
    const Folder folder;
    Program program = folder.roofline(folder.power("echo set $1 >&2"));
    while (!contains(program.read_error_line(), "set 15")) {
      REQUIRE(program.runs());
    }
    program.send(signal);
    const auto finished = program.finish();
    CHECK(finished.status() == 1);
    CHECK(contains(finished.err, "stopped by a signal"));
    const std::string limits = text_of(folder.log());
    CHECK(limits.substr(limits.size() - 6) == "15\n54\n");
  }
}

TEST_CASE("a gputrace that is killed leaves the limit as it was") {
  const Folder folder;
  if (!lavapipe_for_programs()) {
    return;
  }
  Program program = folder.roofline(folder.power("echo set $1 >&2"));
  while (!contains(program.read_error_line(), "set 15")) {
    REQUIRE(program.runs());
  }
  program.send(SIGKILL);
  // Its helper holds standard error until it has restored.
  const auto finished = program.finish();
  CHECK(finished.signal == SIGKILL);
  CHECK(contains(finished.err, "set 54"));
}

TEST_CASE("a dry run prints the commands and executes nothing") {
  const Folder folder;
  Words words = folder.power("");
  words.emplace_back("--dry-run");
  const auto finished = folder.roofline(words).finish();
  CHECK(finished.status() == 0);
  CHECK(contains(finished.out, "set 15\n"));
  CHECK(contains(finished.out, "set 54\n"));
  CHECK_FALSE(std::filesystem::exists(folder.log()));
}

}  // namespace
}  // namespace gputrace
