#include "cli/commands/bench/bench_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/analysis/bench_changes.h"
#include "cli/analysis/published_figures.h"
#include "cli/commands/bench/bench_compare_options.h"
#include "cli/commands/bench/bench_source.h"
#include "cli/commands/standard_output.h"
#include "cli/report/bench_comparison.h"

namespace gputrace::commands {

namespace {

constexpr int kRegression = 3;
constexpr std::string_view kPublished = "published:";
constexpr std::string_view kPublishedList = "published:list";

/// Runs of one side, and the files that they are from.
struct Side {
  std::vector<analysis::BenchRun> runs;
  std::vector<std::string> files;
};

Result<Side> open_side(const std::vector<std::string>& names) {
  Side side;
  for (const std::string& name : names) {
    Result<BenchSource> source = open_bench_source(name);
    if (!source) {
      return tl::unexpected<Error>(source.error());
    }
    side.runs.push_back(std::move(source->run));
    side.files.push_back(source->file.string());
  }
  return side;
}

report::BenchSide shown(const Side& side) {
  const analysis::BenchRun& first = side.runs.front();
  return {side.files, first.device, first.started_at, first.quick};
}

std::string published_list() {
  std::string text;
  for (const std::string& name : analysis::published_gpus()) {
    text += name + "\n";
  }
  return text;
}

Result<int> printed(const Status& status) {
  return status ? Result<int>(0) : tl::unexpected<Error>(status.error());
}

Result<int> compare_to_published(const Side& a, std::string_view name,
                                 const BenchCompareOptions& options) {
  const auto figures = analysis::published_of(name);
  if (!figures) {
    return tl::unexpected<Error>(figures.error());
  }
  const report::ComparedToPublished compared{shown(a), figures->front().gpu,
                                             analysis::beside_published(a.runs.front(), *figures)};
  return printed(write_stdout(options.json
                                  ? report::render_published_json(compared)
                                  : report::render_published_text(compared, options.text)));
}

/// A disturbed run says nothing of the next one.
Status can_be_judged(const Side& a, const Side& b) {
  const double drift =
      std::max(analysis::share_that_drifts(a.runs), analysis::share_that_drifts(b.runs));
  if (a.runs.size() + b.runs.size() > 2 || drift <= analysis::kMuchDrift) {
    return {};
  }
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("--fail-on cannot be judged by single runs of which {:.0f} % of the points "
                  "drift: the clock moved, or other programs ran beside them. Give repeats: "
                  "A1,A2 B1,B2",
                  100 * drift));
}

Result<int> compare_sides(const Side& a, const Side& b, const BenchCompareOptions& options) {
  report::ComparedBenches compared{
      shown(a), shown(b), analysis::compare_benches(a.runs, b.runs), {}};
  if (const Status judged = options.conditions.empty() ? Status() : can_be_judged(a, b); !judged) {
    return tl::unexpected<Error>(judged.error());
  }
  bool failed = false;
  for (const analysis::BenchFailCondition& condition : options.conditions) {
    const Result<analysis::FailVerdict> verdict = analysis::check(condition, compared.comparison);
    if (!verdict) {
      return tl::unexpected<Error>(verdict.error());
    }
    failed = failed || verdict->failed;
    compared.failures.push_back(verdict->explanation);
  }
  const Status status =
      write_stdout(options.json ? report::render_bench_comparison_json(compared)
                                : report::render_bench_comparison_text(compared, options.text));
  const Result<int> written = printed(status);
  return written && failed ? Result<int>(kRegression) : written;
}

}  // namespace

Result<int> run_bench_compare(const std::vector<std::string>& arguments) {
  const auto options = parse_bench_compare_options(arguments);
  if (!options) {
    return tl::unexpected<Error>(options.error());
  }
  if (options->help) {
    fmt::print("{}", bench_compare_help());
    return 0;
  }
  if (options->a.front() == kPublishedList ||
      (!options->b.empty() && options->b.front() == kPublishedList)) {
    return printed(write_stdout(published_list()));
  }
  const Result<Side> a = open_side(options->a);
  if (!a) {
    return tl::unexpected<Error>(a.error());
  }
  if (options->b.empty()) {
    const Result<BenchSource> earlier = earlier_run({a->files.front(), a->runs.front()});
    return earlier ? compare_sides({{earlier->run}, {earlier->file.string()}}, *a, *options)
                   : tl::unexpected<Error>(earlier.error());
  }
  if (options->b.front().starts_with(kPublished)) {
    return compare_to_published(*a, std::string_view(options->b.front()).substr(kPublished.size()),
                                *options);
  }
  const Result<Side> b = open_side(options->b);
  return b ? compare_sides(*a, *b, *options) : tl::unexpected<Error>(b.error());
}

}  // namespace gputrace::commands
