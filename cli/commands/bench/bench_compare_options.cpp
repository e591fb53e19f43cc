#include "cli/commands/bench/bench_compare_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/commands/arguments.h"
#include "cli/commands/compared_names.h"
#include "cli/commands/text_options.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kFailOn = "--fail-on";
constexpr std::string_view kHelp =
    R"(Compares two runs of bench or roofline, or one with published figures. What
changed around them (device, driver, Mesa, instructions, size of code) comes
first: a pairing that appeared is not a faster GPU.

Usage: gputrace bench compare [OPTIONS] A B
       gputrace bench compare [OPTIONS] A1,A2,... B1,B2,...
       gputrace bench compare [OPTIONS] RUN
       gputrace bench compare [OPTIONS] A published:NAME
       gputrace bench compare published:list

A and B are files, names from `gputrace list --all`, or what --json wrote. RUN
alone is compared with the newest earlier run on the same device, which is A.
Give several runs of each side when you can: what differs from one run to the
next is in no single run, so that of single ones only large changes are sure.

Options:
  --fail-on COND  exit with 3 when COND holds for the whole 95 % interval of the
                  change, B over A; may be given several times. NAME>LIMIT% or
                  NAME<LIMIT%, where NAME is a test (any of its series), a
                  series, a series at a place, an inferred value, or "slower":
                  any series that is really slower by more than LIMIT:
                    'alu.fp32/fma<-5%'  'latency.vector>+10%'  'slower>5%'
                    'latency.vector/1 chain@64KiB>+10%'
                  Single runs of which more than a fifth of the points drift
                  cannot be judged: give repeats
  --json          print JSON (schema gputrace.bench-compare/1)
  --color WHEN    always, never or auto (default: in a terminal, unless
                  NO_COLOR is set or TERM is dumb)
  --ascii         nothing beyond ASCII (default when the locale is not UTF-8)
  -h, --help      this text

How to read it:
  B / A is a ratio of medians, of a series the geometric mean over the points
  that all runs have. The 95 % interval of single runs is made of the spread (p5
  to p95) and number of the runs behind each point, and of how much the points
  differ; with several of a side it is of how much these differ. "noise" may be
  chance; "faster", "slower", "larger", "smaller" would be chance in at most one
  comparison of twenty (Holm's method). "a clock" is the ratio at equal clocks,
  "a core" for equal numbers of cores, where they are known. Published figures
  have no interval.

Examples:
  gputrace bench compare published:list
  gputrace bench compare old1.json,old2.json new1.json,new2.json
    --fail-on 'slower>5%'

Exit status: 0; 1 when a run cannot be read or a condition cannot be judged; 2
for a wrong command line; 3 when a condition of --fail-on holds.
)";

/// Apart, since cxxopts splits values at commas, which are in names of series.
Status take_conditions(const std::vector<std::string>& arguments, std::vector<std::string>& others,
                       BenchCompareOptions& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (text == kFailOn) {
      if (i + 1 == arguments.size()) {
        return fail(ErrorCode::kUsage, "--fail-on needs a condition, as in 'slower>5%'");
      }
      text = arguments[++i];
    } else if (text.starts_with(kFailOn) && text.substr(kFailOn.size()).starts_with('=')) {
      text.remove_prefix(kFailOn.size() + 1);
    } else {
      others.push_back(arguments[i]);
      continue;
    }
    Result<analysis::BenchFailCondition> condition = analysis::parse_bench_fail_condition(text);
    if (!condition) {
      return tl::unexpected<Error>(condition.error());
    }
    options.conditions.push_back(std::move(*condition));
  }
  return {};
}

bool is_published(const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [](const std::string& name) { return name.starts_with("published:"); });
}

Status take_runs(const std::vector<std::string>& words, BenchCompareOptions& options) {
  if (words.empty() || words.size() > 2) {
    return fail(ErrorCode::kUsage,
                fmt::format("one or two runs are compared; {} are given", words.size()));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty()) {
      return fail(ErrorCode::kUsage, "a run has no name");
    }
    Result<std::vector<std::string>> names = split_compared_names(words[i]);
    if (!names) {
      return tl::unexpected<Error>(names.error());
    }
    (i == 0 ? options.a : options.b) = std::move(*names);
  }
  const bool is_list = options.a == std::vector<std::string>{"published:list"};
  if (is_published(options.a) && (!is_list || !options.b.empty())) {
    return fail(ErrorCode::kUsage,
                "published figures are what a run is compared with: name the run first");
  }
  if (is_published(options.b) && (options.a.size() > 1 || options.b.size() > 1)) {
    return fail(ErrorCode::kUsage, "published figures are shown beside one run, of one GPU");
  }
  if (is_published(options.b) && !options.conditions.empty()) {
    return fail(ErrorCode::kUsage,
                "--fail-on wants intervals, which published figures do not have");
  }
  if (options.b.empty() && options.a.size() > 1) {
    return fail(ErrorCode::kUsage, "repeats are compared with others: name a second side");
  }
  return {};
}

}  // namespace

std::string bench_compare_help() {
  return std::string(kHelp);
}

Result<BenchCompareOptions> parse_bench_compare_options(const std::vector<std::string>& arguments) {
  BenchCompareOptions options;
  std::vector<std::string> others;
  if (const Status taken = take_conditions(arguments, others, options); !taken) {
    return tl::unexpected<Error>(taken.error());
  }
  cxxopts::Options parser("gputrace bench compare");
  // clang-format off
  parser.add_options()
    ("a", "", cxxopts::value<std::string>())
    ("b", "", cxxopts::value<std::string>())
    ("json", "")
    ("color", "", cxxopts::value<std::string>()->default_value("auto"))
    ("ascii", "")
    ("h,help", "");
  // clang-format on
  parser.parse_positional({"a", "b"});
  const Result<cxxopts::ParseResult> parsed = parse_arguments(parser, others);
  if (!parsed) {
    return tl::unexpected<Error>(parsed.error());
  }
  options.help = parsed->count("help") > 0;
  if (options.help) {
    return options;
  }
  std::vector<std::string> words;
  for (const char* name : {"a", "b"}) {
    if (parsed->count(name) > 0) {
      words.push_back((*parsed)[name].as<std::string>());
    }
  }
  if (const Status taken = take_runs(words, options); !taken) {
    return tl::unexpected<Error>(taken.error());
  }
  options.json = parsed->count("json") > 0;
  const auto text = text_options((*parsed)["color"].as<std::string>(), parsed->count("ascii") > 0);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  options.text = *text;
  return options;
}

}  // namespace gputrace::commands
