// Each bad file and the exact words about it: tests/golden/import/bad_input.txt.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/cli/import/memory_sink.h"
#include "tests/support/golden.h"

namespace gputrace::import {
namespace {

using namespace std::string_literals;

struct BadInput {
  std::string name;
  std::string text;
  std::optional<Format> format;
};

std::string csv(const std::string& rows) {
  return "# gputrace-regs v1\n# gc=11.0.1\ntime_ns,GRBM_STATUS,GRBM_STATUS2\n" + rows;
}

std::string dump(const std::string& time, const std::string& gpu = "1.00") {
  return time + ": bus 01, gpu " + gpu +
         "%, ee 0.00%, vgt 0.00%, ta 0.00%, sx 0.00%, sh 0.00%, spi 0.00%, sc 0.00%, pa 0.00%, db "
         "0.00%, cb 0.00%\n";
}

std::string hud(const std::string& rows) {
  return "os,cpu,gpu\na,b,c\nfps,frametime,gpu_load,elapsed\n" + rows;
}

std::string top(const std::string& period, const std::string& members) {
  return R"({"period":{"duration":)" + period + R"(,"unit":"ms"})" + members + "}\n";
}

std::vector<BadInput> bad_inputs() {
  const std::string first = dump("1600000000.0");
  return {
      {"empty", "", {}},
      {"only-line-ends", "\n\n\n", {}},
      {"nul-bytes", std::string(4096, '\0'), {}},
      {"other-text", "hello\nworld\n", {}},
      {"csv-without-magic", "time_ns,GRBM_STATUS\n1,2\n", {}},
      {"csv-forced", "hello\n", Format::kRegisterCsv},
      {"csv-newer", "# gputrace-regs v2\n# gc=11.0.1\ntime_ns,GRBM_STATUS\n1,2\n", {}},
      {"csv-magic-only", "# gputrace-regs v1\n", {}},
      {"csv-header-only", csv(""), {}},
      {"csv-no-gc", "# gputrace-regs v1\ntime_ns,GRBM_STATUS\n1,2\n", {}},
      {"csv-bad-gc", "# gputrace-regs v1\n# gc=eleven\ntime_ns,GRBM_STATUS\n1,2\n", {}},
      {"csv-two-gc", "# gputrace-regs v1\n# gc=11.0.1\n# gc=11.0.4\ntime_ns,GRBM_STATUS\n", {}},
      {"csv-bad-rate", "# gputrace-regs v1\n# rate_hz=-1\n", {}},
      {"csv-bad-start", "# gputrace-regs v1\n# started=noon\n", {}},
      {"csv-no-time", "# gputrace-regs v1\n# gc=11.0.1\nGRBM_STATUS,time_ns\n", {}},
      {"csv-no-register", "# gputrace-regs v1\n# gc=11.0.1\ntime_ns\n1\n", {}},
      {"csv-register-twice",
       "# gputrace-regs v1\n# gc=11.0.1\ntime_ns,GRBM_STATUS,GRBM_STATUS\n1,2,3\n",
       {}},
      {"csv-unknown-register", "# gputrace-regs v1\n# gc=11.0.1\ntime_ns,\x1b[2JX\n", {}},
      {"csv-33-bits", csv("1,0x100000000,0\n"), {}},
      {"csv-huge-word", csv("1,0,99999999999999999999999\n"), {}},
      {"csv-negative-word", csv("1,-1,0\n"), {}},
      {"csv-nan", csv("1,nan,0\n"), {}},
      {"csv-float-word", csv("1,1.5,0\n"), {}},
      {"csv-hex-without-digits", csv("1,0x,0\n"), {}},
      {"csv-nan-time", csv("nan,1,0\n"), {}},
      {"csv-negative-time", csv("-5,1,0\n"), {}},
      {"csv-float-time", csv("1e9,1,0\n"), {}},
      {"csv-int64-overflow", csv("9223372036854775808,1,0\n"), {}},
      {"csv-near-int64-end", csv("9223372036854775807,1,0\n"), {}},
      {"csv-time-backwards", csv("2000,1,0\n1000,1,0\n"), {}},
      {"csv-time-repeated", csv("2000,1,0\n2000,1,0\n"), {}},
      {"csv-time-jump", csv("2000,1,0\n4000000000000000000,1,0\n"), {}},
      {"csv-too-many-cells", csv("1,2,3,4\n"), {}},
      {"csv-long-line", csv("1," + std::string(100'000, '1') + ",0\n"), {}},
      {"csv-long-word", csv("1," + std::string(1'000, '1') + ",0\n"), {}},
      {"csv-nul-in-row", csv("1,\0"s + "2,3\n"), {}},
      {"csv-garbage-row", csv("\xff\xfe\x01\x02,1,0\n"), {}},
      {"csv-second-file", csv("1,2,3\n") + csv("4,5,6\n"), {}},
      {"dump-messages-only", "Dumping to -, until termination.\n", Format::kRadeontop},
      {"dump-nan", dump("1600000000.0", "nan"), {}},
      {"dump-over-100", dump("1600000000.0", "100.01"), {}},
      {"dump-negative", dump("1600000000.0", "-1.00"), {}},
      {"dump-time-backwards", first + dump("1599999999.999999"), {}},
      {"dump-time-repeated", first + first, {}},
      {"dump-column-missing", first + "1600000001.0: bus 01, gpu 1.00%, ee 0.00%\n", {}},
      {"dump-column-more",
       first + first.substr(0, 9) + "1.0" + first.substr(12, first.size() - 13) + ", uvd 0.00%\n",
       {}},
      {"dump-cut", first + "1600000001.0: bus 01, gpu 1.0", {}},
      {"dump-cut-behind-column", first + "1600000001.0: bus 01, gpu 1.00%", {}},
      {"dump-year-3000", dump("32503680000.0"), Format::kRadeontop},
      {"dump-garbage", "\x01\x02\x03\n", Format::kRadeontop},
      {"dump-long-line", first + std::string(100'000, '1') + "\n", {}},
      {"hud-no-columns", "os,cpu,gpu\na,b,c\n", Format::kMangoHud},
      {"hud-header-only", hud(""), {}},
      {"hud-column-twice", "fps,frametime,frametime\n", {}},
      {"hud-bad-frametime", hud("60,fast,50,1000\n"), {}},
      {"hud-negative-frametime", hud("60,-1,50,1000\n"), {}},
      {"hud-bad-elapsed", hud("60,16,50,1.5\n"), {}},
      {"hud-no-elapsed", hud("60,16\n"), {}},
      {"hud-bad-load", hud("60,16,\x1b[2J,1000\n"), {}},
      {"hud-more-cells", hud("60,16,50,1000,7\n"), {}},
      {"hud-open-quote", hud("60,\"16,50,1000\n"), {}},
      {"hud-time-jump", hud("60,16,50,1000\n60,16,50,90000000000000\n"), {}},
      {"hud-second-log", hud("60,16,50,1000\n") + hud(""), {}},
      {"hud-cut", hud("60,16,50,1000\n60,16"), {}},
      {"hud-long-line", hud(std::string(100'000, '1') + "\n"), {}},
      {"top-cut", "{\"GRBM\":{\"Graphics Pipe\":", {}},
      {"top-not-json", "{\"GRBM\":{x}}\n", {}},
      {"top-not-json-spread", "{\n \"GRBM\":\n  {x}\n}\n", {}},
      {"top-no-time", "{\"GRBM\":{}}\n", {}},
      {"top-no-devices", "{\"period\":{\"duration\":5,\"unit\":\"ms\"}}\n", Format::kAmdgpuTop},
      {"top-empty-devices", top("1000", ",\"devices\":[]"), {}},
      {"top-bad-period", top("-1", ",\"GRBM\":{}"), {}},
      {"top-bad-timestamp", top("1000", ",\"GRBM\":{},\"timestamp\":\"noon\""), {}},
      {"top-time-jump", top("1000", ",\"GRBM\":{}") + top("1e11", ",\"GRBM\":{}"), {}},
      {"top-garbage", top("1000", ",\"GRBM\":{}") + "hello\n", {}},
      {"top-deep", "{\"GRBM\":" + std::string(100, '[') + std::string(100, ']') + "}\n", {}},
  };
}

TEST_CASE("every bad file has a message with file, line and column, as the golden file has it") {
  std::string all;
  for (const BadInput& input : bad_inputs()) {
    test::MemorySink sink;
    ImportOptions options;
    options.format = input.format;
    const auto summary = test::import_text(input.text, sink, options, input.name);
    CAPTURE(input.name);
    REQUIRE_FALSE(summary.has_value());
    CHECK_FALSE(sink.end_ns.has_value());
    all += summary.error().message + "\n";
  }
  test::check_golden("import/bad_input.txt", all);
}

TEST_CASE("a file with some bytes changed is imported or refused, never both or neither") {
  std::string text = csv("");
  std::string dump_text;
  for (int i = 1; i < 40; ++i) {
    text += std::to_string(i * 1'000'000) + ",0x0000302" + std::to_string(i % 10) + ",7\n";
    dump_text += dump("16000000" + std::to_string(10 + i) + ".5");
  }
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::string changed = round % 2 == 0 ? text : dump_text;
    for (int i = 0; i < 3; ++i) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    ImportOptions options;
    options.lenient = random() % 2 == 0;
    test::MemorySink sink;
    const auto summary = test::import_text(changed, sink, options);
    CHECK(summary.has_value() == sink.end_ns.has_value());
    CHECK((summary.has_value() || !summary.error().message.empty()));
  }
}

}  // namespace
}  // namespace gputrace::import
