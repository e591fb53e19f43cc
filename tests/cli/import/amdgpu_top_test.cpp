#include "cli/import/amdgpu_top.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

#include "cli/import/amdgpu_top_units.h"
#include "daemon/base/time.h"
#include "tests/cli/import/imported.h"
#include "tests/cli/import/memory_sink.h"

namespace gputrace::import {
namespace {

using test::import_text;
using test::MemorySink;
using test::mentions;
using test::runs_of;

std::string fixture(const std::string& name) {
  std::ifstream file(GPUTRACE_FIXTURES "/import/" + name);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One object of a GPU of GC 10.3.6; `members` are added to the device.
std::string object(int second, const std::string& members,
                   const std::string& version = R"("minor":11)") {
  return fmt::format(R"({{"timestamp":"2026-06-14T10:10:{:02}+00:00",)"
                     R"("period":{{"duration":{},"unit":"ms"}},)"
                     R"("amdgpu_top_version":{{"major":0,{}}},"devices":[{{)"
                     R"("Info":{{"GPU Family":"GC 10.3.6","DeviceName":"Rembrandt",)"
                     R"("DevicePath":{{"pci":"0000:13:00.0"}}}},{}}}]}})",
                     second, (second + 1) * 1000, version, members) +
         "\n";
}

std::vector<store::WindowMean> means_of(const MemorySink& sink, std::string_view reg,
                                        std::uint8_t bit) {
  std::vector<store::WindowMean> found;
  for (const store::WindowMean& mean : sink.means) {
    if (sink.segment.registers[mean.register_index].name == reg && mean.bit == bit) {
      found.push_back(mean);
    }
  }
  return found;
}

TEST_CASE("an object becomes means of its window, under the names of the GPU's table") {
  MemorySink sink;
  const auto summary = import_text(fixture("amdgpu_top.jsonl"), sink);
  REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
  CHECK(summary->format == Format::kAmdgpuTop);
  CHECK(regdb::to_string(summary->gc.value()) == "10.3.6");
  CHECK(summary->rows == 4);
  const auto active = means_of(sink, "GRBM_STATUS", 31);
  REQUIRE(active.size() == 4);
  CHECK(active[1].busy == doctest::Approx(0.4));
  CHECK(active[1].samples == 100U);
  CHECK(active[1].start_ns == 1'781'431'832'204'455'510);
  CHECK(active[1].end_ns == active[1].start_ns + 1006 * kNsPerMs);
  CHECK(active[2].start_ns >= active[1].end_ns);
  CHECK(means_of(sink, "GRBM_STATUS2", 16).at(3).busy == doctest::Approx(0.9));  // EA_BUSY
  CHECK(means_of(sink, "GRBM_STATUS2", 26).size() == 4);                         // RLC_BUSY
  CHECK(sink.session->started->realtime_ns == active[0].start_ns);
  CHECK(sink.segment.gpu.pci == "0000:13:00.0");
  CHECK(sink.segment.gpu.device_id == 5056);
}

TEST_CASE("sensors are read where the window ends, null is absent, and units are converted") {
  MemorySink sink;
  const auto summary = import_text(fixture("amdgpu_top.jsonl"), sink);
  REQUIRE(summary);
  const auto power = runs_of(sink, "amdgpu_top Sensors Input Power");
  REQUIRE(power.size() == 4);
  CHECK(power[0].start_ns == means_of(sink, "GRBM_STATUS", 31)[0].end_ns);
  CHECK(power[3].value == 30);
  CHECK(runs_of(sink, "amdgpu_top Sensors Average Power").empty());
  CHECK(runs_of(sink, "amdgpu_top Sensors GFX Power").empty());
  CHECK(runs_of(sink, "amdgpu_top Sensors VDDGFX").at(0).value == doctest::Approx(0.914));
  CHECK(runs_of(sink, "amdgpu_top VRAM Total VRAM").at(0).value == 512.0 * 1024 * 1024);
  CHECK(runs_of(sink, "amdgpu_top Sensors Junction Temperature").empty());
  CHECK(runs_of(sink, "amdgpu_top gpu_activity Memory").empty());
  CHECK(runs_of(sink, "amdgpu_top gpu_activity GFX").size() == 3);
  CHECK(mentions(summary->warnings, "gpu_activity GFX (1 times)"));  // 655 %
}

TEST_CASE("raw values of gpu_metrics get the units that the rules for real tables decide") {
  MemorySink sink;
  REQUIRE(import_text(fixture("amdgpu_top.jsonl"), sink));
  CHECK(runs_of(sink, "amdgpu_top gpu_metrics temperature_soc").at(0).value == 47.5);
  CHECK(runs_of(sink, "amdgpu_top gpu_metrics average_soc_power").at(0).value ==
        doctest::Approx(12.846));
  CHECK(runs_of(sink, "amdgpu_top gpu_metrics average_socket_power").at(3).value == 30);
  CHECK(runs_of(sink, "amdgpu_top gpu_metrics average_core_power[0]").empty());
}

TEST_CASE("processes become clients whose percents add up to times of engines") {
  MemorySink sink;
  const auto summary = import_text(fixture("amdgpu_top.jsonl"), sink);
  REQUIRE(summary);
  CHECK(summary->processes == 3);
  std::vector<store::ClientUsage> first;
  for (const store::ClientUsage& usage : sink.usage) {
    if (usage.pid == 13180) {
      first.push_back(usage);
    }
  }
  REQUIRE(first.size() == 5);
  CHECK(first[0].engine_ns.at("gfx") == 0);
  CHECK(first[4].engine_ns.at("gfx") == 1'509'000'000);  // 0, 25, 50 and 75 % of 1006 ms
  CHECK(first[4].process == "python3");
  CHECK(first[4].pdev == "0000:13:00.0");
  CHECK(first[4].gtt_bytes == 4U << 20U);
}

TEST_CASE("an array in any layout gives the same as an object a line") {
  MemorySink lines;
  REQUIRE(import_text(
      object(0, R"("GRBM":{"Graphics Pipe":5})") + object(1, R"("GRBM":{"Graphics Pipe":7})"),
      lines));
  std::string spread = "[\n" + object(0, "\n\"GRBM\" : {\n\"Graphics Pipe\": 5 }") + ",\n\n" +
                       object(1, R"("GRBM":{"Graphics Pipe":7})") + "]\n";
  MemorySink array;
  const auto summary = import_text(spread, array);
  REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
  REQUIRE(array.means.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(array.means[i].busy == lines.means[i].busy);
    CHECK(array.means[i].start_ns == lines.means[i].start_ns);
    CHECK(array.means[i].end_ns == lines.means[i].end_ns);
  }
}

TEST_CASE("of several GPUs the graphics card is imported, or the one that --gpu names") {
  MemorySink sink;
  const auto summary = import_text(fixture("amdgpu_top_two_gpus.json"), sink);
  REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
  CHECK(sink.segment.gpu.name == "AMD Radeon RX 7900 XTX");
  CHECK(means_of(sink, "GRBM_STATUS", 31).at(1).busy == doctest::Approx(0.98));
  CHECK(mentions(summary->notes, "not imported: 0000:13:00.0 (AMD Radeon Graphics)"));
  for (const char* gpu : {"0", "0000:13:00.0"}) {
    MemorySink other;
    ImportOptions options;
    options.gpu = gpu;
    REQUIRE(import_text(fixture("amdgpu_top_two_gpus.json"), other, options));
    CHECK(other.segment.gpu.name == "AMD Radeon Graphics");
  }
  MemorySink none;
  ImportOptions options;
  options.gpu = "7";
  const auto refused = import_text(fixture("amdgpu_top_two_gpus.json"), none, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("0000:03:00.0 (AMD Radeon RX 7900 XTX)") != std::string::npos);
}

TEST_CASE("version 0.1 has no date and does not name the chip, which --gc does") {
  MemorySink without;
  const auto summary = import_text(fixture("amdgpu_top_0.1.jsonl"), without);
  REQUIRE(summary);
  CHECK(without.means.empty());
  CHECK(without.segment.registers.empty());
  CHECK(mentions(summary->warnings, "--gc does"));
  CHECK_FALSE(without.session->started);
  CHECK(runs_of(without, "amdgpu_top Sensors GFX Temp.").size() == 3);
  CHECK(runs_of(without, "amdgpu_top Sensors GFX Power").size() == 1);
  CHECK(without.usage.back().pid == 4242);
  CHECK(without.usage.back().process == "vkcube");
  CHECK(without.usage.back().time_ns == 3300 * kNsPerMs);
  MemorySink with;
  ImportOptions options;
  options.gc = regdb::parse_gc_version("8.0").value();
  REQUIRE(import_text(fixture("amdgpu_top_0.1.jsonl"), with, options));
  CHECK(means_of(with, "GRBM_STATUS", 17).size() == 3);   // VGT_BUSY
  CHECK(means_of(with, "GRBM_STATUS2", 25).size() == 3);  // TC_BUSY
}

TEST_CASE("names that are no busy bit of the chip are left out and named with the reason") {
  MemorySink sink;
  const auto summary = import_text(
      object(0, R"("GRBM":{"Graphics Pipe":5,"Work Sharer":1},"GRBM2":{"RunList Controller":9})",
             R"("minor":9)"),
      sink);
  REQUIRE(summary);
  CHECK(sink.means.size() == 1);
  CHECK(mentions(summary->warnings, "Work Sharer (an unknown name)"));
  // Before 0.10 amdgpu_top looked at bit 24 on all chips.
  CHECK(mentions(summary->warnings,
                 "RunList Controller (bit 24 of GRBM_STATUS2, which is SDMA2_RQ_PENDING there)"));
}

TEST_CASE("a value that is null, missing or impossible is absent") {
  MemorySink sink;
  const auto summary = import_text(
      object(0, R"("GRBM":{"Graphics Pipe":{"unit":"%","value":null},"Texture Pipe":101,)"
                R"("Depth Block":{"unit":"MHz","value":3}},"Sensors":{"VDDGFX":{"unit":"W",)"
                R"("value":3},"Fan":"fast","Zorp":{"unit":"C","value":1}})"),
      sink);
  REQUIRE(summary);
  CHECK(sink.means.empty());
  CHECK(summary->sensors.empty());
  CHECK(mentions(summary->warnings, "percentages of units (2 times)"));
  CHECK(mentions(summary->notes, "Sensors VDDGFX in W"));
  CHECK(mentions(summary->notes, "Sensors Zorp"));
}

TEST_CASE("a cut line ends there, and the next one is read with --lenient") {
  const std::string cut = object(1, R"("GRBM":{"Graphics Pipe":6})");
  const std::string text = object(0, R"("GRBM":{"Graphics Pipe":5})") + cut.substr(0, 90) + "\n" +
                           object(2, R"("GRBM":{"Graphics Pipe":7})");
  MemorySink strict;
  const auto refused = import_text(text, strict);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trace:2:1: the object does not end on its line") == 0);
  MemorySink lenient;
  ImportOptions options;
  options.lenient = true;
  const auto summary = import_text(text, lenient, options);
  REQUIRE(summary);
  CHECK(summary->bad_lines == 1);
  CHECK(lenient.means.size() == 2);
}

TEST_CASE("an object without the chosen GPU is time that nothing speaks for") {
  MemorySink sink;
  std::string gone = object(1, R"("GRBM":{"Graphics Pipe":6})");
  gone.replace(gone.find("0000:13"), 7, "0000:99");
  const auto summary = import_text(object(0, R"("GRBM":{"Graphics Pipe":5})") + gone +
                                       object(2, R"("GRBM":{"Graphics Pipe":7})"),
                                   sink);
  REQUIRE(summary);
  CHECK(summary->rows == 2);
  REQUIRE(sink.means.size() == 2);
  CHECK(sink.means[1].start_ns - sink.means[0].end_ns == kNsPerSecond);
  CHECK(mentions(summary->notes, "1 objects do not have this GPU"));
}

TEST_CASE("the GC version of --gc must be the file's") {
  MemorySink sink;
  ImportOptions options;
  options.gc = regdb::parse_gc_version("11.0.1").value();
  const auto refused = import_text(object(0, R"("GRBM":{"Graphics Pipe":5})"), sink, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("leave --gc out") != std::string::npos);
}

TEST_CASE("every name that amdgpu_top 0.11 shows is a busy bit of the chips it shows it for") {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const std::vector<std::string> grbm2{"RunList Controller",
                                       "Texture Cache per Pipe",
                                       "Unified Translation Cache Level-2",
                                       "Efficiency Arbiter",
                                       "SDMA",
                                       "Command Processor -  Fetcher",
                                       "Command Processor -  Compute",
                                       "Command Processor - Graphics"};
  for (const char* version : {"10.1.0", "10.3.0", "11.0.1", "11.5.0", "12.0.0"}) {
    CAPTURE(version);
    const regdb::GcVersion gc = regdb::parse_gc_version(version).value();
    const regdb::RegisterMap map = regdb.map_for(gc).value();
    for (const std::string& name : grbm2) {
      CAPTURE(name);
      const AmdgpuTopUnit unit = find_amdgpu_top_unit("GRBM2", name, map, gc, std::nullopt);
      CHECK(unit.register_name == "GRBM_STATUS2");
      CHECK(unit.field.ends_with("_BUSY"));
    }
    CHECK(find_amdgpu_top_unit("GRBM2", "RunList Controller", map, gc, std::nullopt).field ==
          "RLC_BUSY");
    CHECK(find_amdgpu_top_unit("GRBM", "Geometry Engine", map, gc, std::nullopt).field ==
          "GE_BUSY");
  }
}

}  // namespace
}  // namespace gputrace::import
