// decode --gpu-metrics and decode --sysfs, on tables and folders of real GPUs.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/decode/decode_metrics.h"
#include "cli/commands/decode/decode_sysfs.h"
#include "tests/support/error_text.h"
#include "tests/support/golden.h"
#include "tests/support/metrics_table.h"
#include "tests/support/temp_dir.h"

using namespace gputrace;
using namespace gputrace::commands;
using gputrace::test::MetricsTable;
using gputrace::test::TempDir;

namespace {

const std::string kTables = std::string(GPUTRACE_FIXTURES) + "/gpu_metrics/";
const std::string kFolders = std::string(GPUTRACE_FIXTURES) + "/sysfs/cases/";

/// Names that do not depend on this machine's libdrm.
const os::SystemRoots& fixture_roots() {
  static const os::SystemRoots kRoots = [] {
    os::SystemRoots roots;
    roots.ids = std::string(GPUTRACE_FIXTURES) + "/sysfs/amdgpu.ids";
    return roots;
  }();
  return kRoots;
}

std::string without_machine(std::string text) {
  const std::string here(GPUTRACE_FIXTURES);
  for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here)) {
    text.replace(at, here.size(), "tests/fixtures");
  }
  return text;
}

std::optional<regdb::GcVersion> gc_of(const char* text) {
  if (text == nullptr) {
    return std::nullopt;
  }
  const auto version = regdb::parse_gc_version(text);
  REQUIRE(version);
  return *version;
}

DecodedTable decode_table(const std::string& path, const char* gc) {
  auto table = decode_metrics_file(path, gc_of(gc));
  REQUIRE_MESSAGE(table.has_value(), test::error_text(table));
  return *std::move(table);
}

DecodedFolder decode_folder(const std::string& path) {
  auto decoded = decode_device_folder(path, std::nullopt, fixture_roots());
  REQUIRE_MESSAGE(decoded.has_value(), test::error_text(decoded));
  return *std::move(decoded);
}

Error error_of_folder(const std::string& path) {
  const auto decoded = decode_device_folder(path, std::nullopt, fixture_roots());
  REQUIRE(!decoded);
  return decoded.error();
}

nlohmann::json metric(const nlohmann::json& table, const std::string& name) {
  for (const auto& field : table["fields"]) {
    if (field["name"] == name) {
      return field;
    }
  }
  FAIL("no field ", name);
  return {};
}

}  // namespace

TEST_CASE("tables of real GPUs decode to the golden JSON") {
  struct Case {
    const char* name;
    const char* gc;
  };
  for (const Case& one :
       {Case{"phoenix", "11.0.1"}, Case{"strixpoint", "11.5.0"}, Case{"rx7800xt", "11.0.3"},
        Case{"rx9070", "12.0.1"}, Case{"dgpu-v1_3", nullptr}}) {
    CAPTURE(one.name);
    const DecodedTable table = decode_table(kTables + one.name + ".bin", one.gc);
    test::check_golden(std::string("decode/gpu_metrics_") + one.name + ".json",
                       without_machine(metrics_to_json(table)));
  }
  test::check_golden(
      "decode/gpu_metrics_phoenix.txt",
      without_machine(metrics_to_text(decode_table(kTables + "phoenix.bin", "11.0.1"))));
}

TEST_CASE("device folders of real GPUs decode to the golden JSON") {
  for (const char* name :
       {"phoenix", "rx580", "rx6600", "rx7900xtx", "rx9070", "strixpoint", "vega56"}) {
    CAPTURE(name);
    test::check_golden(std::string("decode/sysfs_") + name + ".json",
                       without_machine(folder_to_json(decode_folder(kFolders + name))));
  }
  test::check_golden("decode/sysfs_phoenix.txt",
                     without_machine(folder_to_text(decode_folder(kFolders + "phoenix"))));
}

TEST_CASE("a table that is none is an error that says why") {
  const TempDir folder;
  const std::string file = (folder.path() / "table").string();
  const auto error_of = [&] {
    const auto table = decode_metrics_file(file, std::nullopt);
    REQUIRE(!table);
    return table.error().message;
  };
  CHECK(error_of() == "cannot open " + file + ": No such file or directory");
  std::ofstream(file).close();
  CHECK(error_of().find("no bytes") != std::string::npos);
  const auto truncated =
      decode_metrics_file(kTables + "apu-v2_2-truncated-109-of-128.bin", std::nullopt);
  REQUIRE(!truncated);
  CHECK(truncated.error().code == ErrorCode::kCorrupt);
  CHECK(truncated.error().message.find("109 of the 128 bytes that its header states") !=
        std::string::npos);
  MetricsTable(2, 1).put(3, 1, 8).write(file);
  CHECK(error_of().find("revision 2.8 is not known here") != std::string::npos);
  MetricsTable(1, 3).set("temperature_hotspot", 2112).write(file);
  CHECK(error_of().find("temperature_hotspot = 2112 C, which no machine has") != std::string::npos);
}

TEST_CASE("throttle bits are named by the chip that is stated") {
  const TempDir folder;
  const std::string file = (folder.path() / "table").string();
  MetricsTable(1, 3)
      .set("throttle_status", 0x2)
      .set("indep_throttle_status", 1ULL << 36)
      .write(file);
  const auto known = nlohmann::json::parse(metrics_to_json(decode_table(file, "11.0.0")));
  CHECK(metric(known, "throttle_status")["reasons"][0]["name"] == "TEMP_HOTSPOT");
  CHECK(metric(known, "throttle_status")["reasons"][0]["group"] == "temperature");
  CHECK(metric(known, "indep_throttle_status")["reasons"][0]["name"] == "TEMP_HOTSPOT");
  const auto unknown = nlohmann::json::parse(metrics_to_json(decode_table(file, nullptr)));
  CHECK(metric(unknown, "throttle_status")["reasons"][0]["name"] == "bit 1");
  CHECK(metrics_to_text(decode_table(file, "11.0.0")).find("TEMP_HOTSPOT (temperature)") !=
        std::string::npos);
}

TEST_CASE("a folder may be the device, the card, or hold one card") {
  for (const char* path : {"rx580", "rx580/", "rx580/card0", "rx580/card0/", "rx580/card0/device",
                           "rx580/card0/device/", "rx580/card0/device/."}) {
    CAPTURE(path);
    const DecodedFolder decoded = decode_folder(kFolders + path);
    CHECK(decoded.gpu.card == "card0");
    CHECK(decoded.series.size() == decode_folder(kFolders + "rx580").series.size());
    CHECK(decoded.findings[0].reason ==
          "gpu_metrics: No such file or directory; amdgpu offers it from GC 9.1 on");
  }
}

TEST_CASE("a folder may be a copy of /sys, or what holds it, with one GPU") {
  const TempDir folder;
  const std::filesystem::path drm = folder.path() / "sys" / "class" / "drm";
  std::filesystem::create_directories(drm / "card0-DP-1");
  std::filesystem::create_directories(drm / "card2" / "device");
  std::ofstream(drm / "card2" / "device" / "gpu_busy_percent") << "7\n";
  for (const std::filesystem::path& path : {folder.path(), folder.path() / "sys", drm}) {
    CAPTURE(path);
    const DecodedFolder decoded = decode_folder(path.string());
    CHECK(decoded.gpu.card == "card2");
    REQUIRE(decoded.series.size() == 1);
    CHECK(decoded.series[0].value == 7);
  }
  std::filesystem::create_directories(drm / "card3" / "device");
  CHECK(error_of_folder(folder.path().string()).message ==
        folder.path().string() +
            " holds 2 GPUs; state one of its folders sys/class/drm/card2, sys/class/drm/card3");
}

TEST_CASE("no sensor of a GPU that sleeps is read") {
  const TempDir folder;
  std::filesystem::create_directories(folder.path() / "power");
  std::ofstream(folder.path() / "power" / "runtime_status") << "suspended\n";
  std::ofstream(folder.path() / "gpu_busy_percent") << "7\n";
  MetricsTable(1, 3).set("temperature_edge", 40).write((folder.path() / "gpu_metrics").string());
  const DecodedFolder decoded = decode_folder(folder.path().string());
  REQUIRE(decoded.series.size() == 1);
  CHECK_FALSE(decoded.series[0].value);
  CHECK(decoded.series[0].raw.empty());
  CHECK(decoded.series[0].absent == "not read: the GPU sleeps");
  CHECK(run_decode({"--sysfs", folder.path().string(), "--json"}) == 1);
}

TEST_CASE("values are the doubles that people and JSON write in decimals") {
  const TempDir folder;
  const std::string file = (folder.path() / "table").string();
  MetricsTable(2, 2).set("temperature_gfx", 5230).set("average_soc_power", 2300).write(file);
  const auto json = nlohmann::json::parse(metrics_to_json(decode_table(file, "10.3.1")));
  CHECK(metric(json, "temperature_gfx")["value"].dump() == "52.3");
  CHECK(metric(json, "average_soc_power")["value"].dump() == "2.3");
}

TEST_CASE("a value that cannot be has the reason and its raw number beside values that can") {
  const TempDir folder;
  MetricsTable(3, 0)
      .set("temperature_gfx", 4100)
      .set("average_gfx_activity", 5)
      .set("average_vcn_activity", 65000)
      .write((folder.path() / "gpu_metrics").string());
  const DecodedFolder decoded = decode_folder(folder.path().string());
  for (const DecodedSeries& series : decoded.series) {
    const bool is_media = series.description.name == "media_activity";
    CHECK(series.value.has_value() == !is_media);
    CHECK(series.absent == (is_media ? "out of range in this unit" : ""));
    CHECK((!is_media || series.raw == "65000"));
  }
  CHECK(decoded.series.size() == 3);
}

TEST_CASE("a table may come through a pipe in parts, and what follows it is told") {
  const TempDir folder;
  const std::string pipe = (folder.path() / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::vector<std::byte> bytes = MetricsTable(2, 1).set("temperature_gfx", 4000).bytes();
  std::thread writer([&pipe, bytes] {
    std::ofstream file(pipe, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), 50).flush();
    file.write(reinterpret_cast<const char*>(bytes.data()) + 50,
               static_cast<std::streamsize>(bytes.size() - 50));
    file << "trailing";
  });
  const DecodedTable table = decode_table(pipe, nullptr);
  writer.join();
  CHECK(table.trailing_bytes == 8);
  CHECK(nlohmann::json::parse(metrics_to_json(table))["trailing_bytes"] == 8);
  CHECK(metrics_to_text(table).find("8 bytes behind the table are not part of it.") !=
        std::string::npos);
}

TEST_CASE("a table in which nothing is provided is printed, and no success") {
  const TempDir folder;
  const std::string file = (folder.path() / "table").string();
  MetricsTable(2, 2).write(file);
  CHECK(run_decode({"--gpu-metrics", file, "--json"}) == 1);
}

TEST_CASE("folders that are no GPU's are refused with what was looked for") {
  const TempDir folder;
  const std::string path = folder.path().string();
  CHECK(error_of_folder(path + "/none").message ==
        "cannot look at " + path + "/none: No such file or directory");
  CHECK(error_of_folder(kTables + "phoenix.bin").code == ErrorCode::kNotFound);
  CHECK(error_of_folder(path).message.find("is no device folder of amdgpu") != std::string::npos);
  std::filesystem::create_directories(folder.path() / "card0" / "device");
  std::filesystem::create_directories(folder.path() / "card1" / "device");
  CHECK(error_of_folder(path).message ==
        path + " holds 2 GPUs; state one of its folders card0, card1");
  std::ofstream(folder.path() / "card0" / "device" / "vendor") << "0x10de\n";
  CHECK(error_of_folder(path + "/card0").message ==
        path + "/card0 is a device of vendor 0x10de, not AMD (0x1002)");
}

TEST_CASE("a tree with next to nothing gives absent values, never zeros") {
  const TempDir folder;
  const std::filesystem::path device = folder.path() / "card3" / "device";
  std::filesystem::create_directories(device / "hwmon" / "hwmon2");
  std::ofstream(device / "gpu_busy_percent") << "nonsense\n";
  std::ofstream(device / "hwmon" / "hwmon2" / "name") << "amdgpu\n";
  std::ofstream(device / "hwmon" / "hwmon2" / "temp1_input").close();
  const DecodedFolder decoded = decode_folder(folder.path().string());
  CHECK(decoded.gpu.card == "card3");
  CHECK_FALSE(decoded.gpu.identity.vendor_id);
  CHECK(decoded.gc_source.empty());
  for (const DecodedSeries& series : decoded.series) {
    CAPTURE(series.description.source);
    CHECK_FALSE(series.value);
    CHECK_FALSE(series.absent.empty());
  }
}

TEST_CASE("a folder without uevent but with a table takes its version from --gc") {
  const TempDir folder;
  std::filesystem::copy_file(kTables + "phoenix.bin", folder.path() / "gpu_metrics");
  const auto decoded =
      decode_device_folder(folder.path().string(), regdb::GcVersion{11, 0, 1}, fixture_roots());
  REQUIRE(decoded);
  CHECK(decoded->gc_source == "--gc");
  const auto json = nlohmann::json::parse(folder_to_json(*decoded));
  CHECK(json["gpu"]["gc"] == "11.0.1");
  CHECK(json["gpu"]["pci"] == nullptr);
  CHECK(json["series"][0]["raw"] == "2500");
  CHECK(json["series"][0]["value"] == 25.0);
}

TEST_CASE("what people's folders hold cannot write to a terminal") {
  const TempDir folder;
  std::ofstream(folder.path() / "product_name") << "\x1b[2Jevil";
  std::ofstream(folder.path() / "gpu_busy_percent") << "1\x1b]0;\n";
  const std::string text = folder_to_text(decode_folder(folder.path().string()));
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("what does not go together is refused") {
  const std::vector<std::vector<std::string>> wrong{{"--gpu-metrics", "x", "--sysfs", "y"},
                                                    {"--gpu-metrics", "x", "GRBM_STATUS=1"},
                                                    {"--list", "--sysfs", "y"},
                                                    {"--sysfs", "y", "--regdb", "z"},
                                                    {"--gpu-metrics", "x", "--gc", "junk"},
                                                    {"--gpu-metrics"}};
  for (const auto& words : wrong) {
    const auto result = run_decode(words);
    REQUIRE(!result);
    CHECK(result.error().code == ErrorCode::kUsage);
  }
}
