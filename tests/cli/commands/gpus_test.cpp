#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/gpus/gpus_output.h"
#include "tests/support/golden.h"

using namespace gputrace;            // NOLINT(google-build-using-namespace)
using namespace gputrace::commands;  // NOLINT(google-build-using-namespace)

namespace {

/// The GPUs of a fixture tree. Its render nodes do not exist, so none is opened.
std::vector<ListedGpu> inspect_tree(const std::string& tree) {
  const std::string trees = std::string(GPUTRACE_FIXTURES) + "/sysfs/";
  const auto devices =
      os::list_gpus({.sys = trees + tree, .dev = "/nowhere/dev", .ids = trees + "amdgpu.ids"});
  REQUIRE(devices);
  std::vector<ListedGpu> gpus;
  for (const os::GpuDevice& device : *devices) {
    gpus.push_back(inspect_gpu(device, regdb::RegisterDatabase::built_in(), {}));
  }
  return gpus;
}

/// As it is after its render node has been opened.
ListedGpu opened_gpu() {
  ListedGpu gpu = inspect_tree("780m").at(0);
  gpu.device.identity.driver = "amdgpu 3.61";
  gpu.device.shader_engines = 1;
  gpu.readable = {{"GRBM_STATUS", 0x2004, "drm ioctl"},
                  {"GRBM_STATUS2", 0x2002, "drm ioctl"},
                  {"GRBM_STATUS_SE0", 0x2005, "drm ioctl"}};
  gpu.not_opened.clear();
  gpu.needs_root = {"GRBM_STATUS3"};
  gpu.notes = {"not recorded: GRBM_STATUS3 (only root may read it). Start gputraced, or use sudo"};
  return gpu;
}

std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
}

}  // namespace

TEST_CASE("gpus says of an opened GPU what can be read from it") {
  const std::string text = gpus_to_text(std::vector{opened_gpu()});
  test::check_golden("gpus_opened.txt", text);
  check_width(text);
  test::check_golden("gpus_opened.json", gpus_to_json(std::vector{opened_gpu()}));
}

TEST_CASE("gpus says how root reads what the kernel gives to nobody else") {
  ListedGpu gpu = opened_gpu();
  REQUIRE(gpu.readable);
  gpu.readable.value().push_back({"GRBM_STATUS3", 0x2007, "debugfs regs2"});
  gpu.notes.clear();
  const std::string text = gpus_to_text(std::vector{gpu});
  CHECK(text.find("Needs root") == std::string::npos);
  CHECK(on_one_line(text).find("GRBM_STATUS_SE0 (drm ioctl); GRBM_STATUS3 (debugfs regs2)") !=
        std::string::npos);
  check_width(text);
  const auto json = nlohmann::json::parse(gpus_to_json(std::vector{gpu}));
  CHECK(json["gpus"][0]["sources"]["GRBM_STATUS3"] == "debugfs regs2");
  CHECK(json["gpus"][0]["sources"]["GRBM_STATUS"] == "drm ioctl");
}

TEST_CASE("gpus lists a sleeping GPU with what sysfs knows and says why the others are closed") {
  auto gpus = inspect_tree("laptop");
  for (const ListedGpu& gpu : inspect_tree("vega56")) {
    gpus.push_back(gpu);
  }
  const std::string text = gpus_to_text(gpus);
  test::check_golden("gpus_laptop.txt", text);
  check_width(text);
  test::check_golden("gpus_laptop.json", gpus_to_json(gpus));
}

TEST_CASE("a GPU with an unknown graphics core is unsupported and not opened") {
  ListedGpu before = inspect_tree("780m").at(0);
  before.device.identity.gc = regdb::GcVersion{9, 5, 0};
  const ListedGpu gpu = inspect_gpu(before.device, regdb::RegisterDatabase::built_in(), {});
  CHECK_FALSE(gpu.table);
  CHECK_FALSE(gpu.readable);
  CHECK(gpu.unsupported.find("9.5.0") != std::string::npos);
  const std::string text = gpus_to_text(std::vector{gpu});
  CHECK(text.find("unsupported: ") != std::string::npos);
  check_width(text);
}

TEST_CASE("a name from a board cannot steer the terminal or break the JSON") {
  ListedGpu gpu = opened_gpu();
  gpu.device.identity.name = "Radeon\x1b[2J\"\xff";
  const std::string text = gpus_to_text(std::vector{gpu});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\\x1b[2J") != std::string::npos);
  const auto json = nlohmann::json::parse(gpus_to_json(std::vector{gpu}), nullptr, false);
  CHECK_FALSE(json.is_discarded());
}

TEST_CASE("without a GPU there is a message, an empty list and no failure") {
  const std::string text = gpus_to_text({});
  CHECK(text.find("No AMD GPU") != std::string::npos);
  CHECK(text.find("--simulated") != std::string::npos);
  const auto json = nlohmann::json::parse(gpus_to_json({}));
  CHECK(json["gpus"] == nlohmann::json::array());
  CHECK(json["schema"] == "gputrace.gpus/1");
}

TEST_CASE("simulated GPUs are listed by argument and called SIMULATED") {
  const auto listing = simulated_gpu::list_simulated_gpus();
  REQUIRE_FALSE(listing.empty());
  const std::string text = simulated_gpus_to_text(listing);
  check_width(text);
  CHECK(text.find("SIMULATED") != std::string::npos);
  const auto json = nlohmann::json::parse(simulated_gpus_to_json(listing));
  REQUIRE(json["gpus"].size() == listing.size());
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const std::size_t colon = listing[i].argument.rfind(':');
    CHECK(text.find("\n  " + listing[i].argument.substr(0, colon) + " ") != std::string::npos);
    CHECK(text.find("\n  " + listing[i].argument.substr(colon + 1) + " ") != std::string::npos);
    CHECK(json["gpus"][i]["argument"] == listing[i].argument);
    CHECK(json["gpus"][i]["simulated"] == true);
  }
}

TEST_CASE("gpus takes no argument and no unknown option") {
  for (const std::string argument : {"card0", "--all"}) {
    CAPTURE(argument);
    const auto status = run_gpus({argument});
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kUsage);
    CHECK(status.error().message.find(argument.substr(0, 1) == "-" ? "all" : argument) !=
          std::string::npos);
  }
}
