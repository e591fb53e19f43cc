#include "cli/commands/bench/bench_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/commands/arguments.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kHelp =
    R"(Takes a GPU apart with small Vulkan kernels, one property at a time. Every
figure is proven: the kernels' results are compared with the CPU's, their counts
with the driver's code where it is shown, and their rates with what is possible.

Usage: gputrace bench TEST... [OPTIONS]
       gputrace bench all [OPTIONS]
       gputrace bench list [--json]
       gputrace bench compare [OPTIONS] A [B|published:NAME]

Options:
  --device D      Vulkan device: number, PCI address or a part of its name
                  (default: the first that is no CPU)
  --gpu GPU       the GPU to sample meanwhile (default: the same), or sim:780m:
                  no Vulkan at all, a simulated GPU runs the kernels
  --quick         seconds a test instead of minutes
  --json          print JSON (schema gputrace.bench/1)
  --svg DIR       write a drawing of each test into DIR as well, replacing those
                  of an earlier run
  --html FILE     write a page for browsers into FILE as well, replacing it: all
                  of the run with its drawings. It needs no network
  --no-save       store nothing
  --color WHEN    always, never or auto (default: in a terminal, unless
                  NO_COLOR is set or TERM is dumb)
  --ascii         nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help      this text

A feature that the device lacks is a skipped test. A test that failed a proof of
its code or rate is suspect: shown, and not to be published. A device that is
lost ends its test only; Ctrl-C keeps what is done. Results are stored as a
session (`gputrace list --all`), with the GPU's busy bits where it can be
sampled; `gputrace report FILE` shows them again.

Examples:
  gputrace bench list
  gputrace bench occupancy --quick --no-save
  gputrace bench all --html bench.html
  gputrace bench compare --help

Exit status: 0; 1 without a Vulkan device, after Ctrl-C, and when a result was
wrong or the device was lost; 2 for a wrong command line.
)";

std::string names_of_tests() {
  std::vector<std::string_view> names;
  for (const bench::BenchTest& test : bench::bench_tests()) {
    names.push_back(test.id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Status choose_tests(const std::vector<std::string>& words, BenchOptions& options) {
  if (words.empty()) {
    return fail(ErrorCode::kUsage,
                fmt::format("which test? There are {}; all runs them all", names_of_tests()));
  }
  const auto is_one = [&](std::string_view name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  if (words.size() > 1 && (is_one("all") || is_one("list"))) {
    return fail(ErrorCode::kUsage, "all and list stand alone");
  }
  if (is_one("compare")) {
    return fail(ErrorCode::kUsage, "compare comes first: gputrace bench compare A [B]");
  }
  options.list = is_one("list");
  for (const std::string& word : words) {
    const auto& tests = bench::bench_tests();
    const bool known = std::any_of(tests.begin(), tests.end(),
                                   [&](const bench::BenchTest& test) { return test.id == word; });
    if (!known && word != "all" && word != "list") {
      return fail(ErrorCode::kUsage,
                  fmt::format("'{}' is no test; there are {}", word, names_of_tests()));
    }
  }
  for (const bench::BenchTest& test : bench::bench_tests()) {
    if (is_one("all") || is_one(test.id)) {
      options.tests.push_back(&test);
    }
  }
  return {};
}

}  // namespace

std::string bench_help() {
  return std::string(kHelp);
}

Result<BenchOptions> parse_bench_options(const std::vector<std::string>& arguments) {
  cxxopts::Options parser("gputrace bench");
  add_measuring_options(parser);
  // clang-format off
  parser.add_options()
    ("test", "", cxxopts::value<std::vector<std::string>>())
    ("svg", "", cxxopts::value<std::string>())
    ("html", "", cxxopts::value<std::string>())
    ("h,help", "");
  // clang-format on
  parser.parse_positional("test");
  const auto parsed = parse_arguments(parser, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  BenchOptions options;
  options.help = parsed->count("help") > 0;
  if (options.help) {
    return options;
  }
  const std::vector<std::string> words = parsed->count("test") > 0
                                             ? (*parsed)["test"].as<std::vector<std::string>>()
                                             : std::vector<std::string>();
  if (const Status chosen = choose_tests(words, options); !chosen) {
    return tl::unexpected(chosen.error());
  }
  if (const Status taken = take_measuring_options(*parsed, options); !taken) {
    return tl::unexpected(taken.error());
  }
  for (const auto& [name, path] :
       {std::pair("svg", &options.svg), std::pair("html", &options.html)}) {
    if (parsed->count(name) == 0) {
      continue;
    }
    if (options.list) {
      return fail(ErrorCode::kUsage, fmt::format("--{} is of a run; list makes none", name));
    }
    *path = (*parsed)[name].as<std::string>();
    if ((*path)->empty()) {
      return fail(ErrorCode::kUsage, fmt::format("--{} wants a name", name));
    }
  }
  return options;
}

}  // namespace gputrace::commands
