#include "cli/commands/bench/bench_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/bench/bench_test.h"

namespace gputrace::commands {

std::string bench_list_text() {
  std::string text = "About how long on a GPU, and what a device must have beyond Vulkan 1.1:\n\n";
  double quick_s = 0;
  double full_s = 0;
  for (const bench::BenchTest& test : bench::bench_tests()) {
    text += fmt::format("  {:<10} {}\n", test.id, test.summary);
    text += fmt::format("  {:<10} --quick {:.0f} s, full {:.0f} s; needs {}\n", "", test.quick_s,
                        test.full_s, test.needs.empty() ? "nothing more" : test.needs);
    quick_s += test.quick_s;
    full_s += test.full_s;
  }
  return text +
         fmt::format("\n  {:<10} --quick {:.0f} s, full {:.0f} min\n", "all", quick_s, full_s / 60);
}

std::string bench_list_json() {
  using Json = nlohmann::ordered_json;
  Json tests = Json::array();
  for (const bench::BenchTest& test : bench::bench_tests()) {
    tests.push_back({{"id", test.id},
                     {"summary", test.summary},
                     {"needs", test.needs.empty() ? Json(nullptr) : Json(test.needs)},
                     {"quick_s", test.quick_s},
                     {"full_s", test.full_s}});
  }
  const Json json{{"schema", "gputrace.bench-list/1"}, {"tests", std::move(tests)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gputrace::commands
