// gputrace roofline: the ceilings of a GPU, the rates between them, and both at several power
// limits.
#include "kernels/bench/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/bench_session.h"
#include "cli/commands/command.h"
#include "cli/commands/report/machine_report.h"
#include "cli/commands/roofline/power_run.h"
#include "cli/commands/roofline/roofline_options.h"
#include "cli/commands/roofline/shell_words.h"
#include "cli/commands/standard_output.h"
#include "cli/commands/write_document.h"
#include "cli/report/bench_json.h"
#include "cli/report/bench_text.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {

namespace {

BenchRequest request_of(const RooflineOptions& options, const std::vector<std::string>& arguments) {
  BenchRequest request;
  request.device = options.device;
  request.gpu = options.gpu;
  request.quick = options.quick;
  request.save = options.save;
  request.kind = store::SessionKind::kRoofline;
  request.command = typed_command("roofline", arguments);
  return request;
}

Status write_svg(const report::RooflinePlot& plot, const std::filesystem::path& path) {
  const std::string svg = report::render_roofline_svg(plot, {});
  if (svg.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}: no ceiling was measured, so there is nothing to draw", path.string()));
  }
  return write_document(path, svg);
}

/// Into the sweep, which they are for.
void add_ridges(analysis::BenchRun& run) {
  const analysis::Roofline roofline = analysis::make_roofline(run);
  const auto sweep = std::ranges::find(run.tests, "roofline.sweep", &analysis::TestResult::id);
  if (sweep == run.tests.end()) {
    return;
  }
  for (const analysis::Ridge& ridge : roofline.ridges) {
    analysis::DerivedValue value;
    value.what = fmt::format("ridge of {} and {}", roofline.compute[ridge.compute].name,
                             roofline.bandwidth[ridge.bandwidth].name);
    value.value = ridge.intensity;
    value.lower = ridge.lower;
    value.upper = ridge.upper;
    value.unit = "FLOP/B";
    sweep->derived.push_back(std::move(value));
  }
}

std::string text_of(const analysis::BenchRun& run, const std::optional<PowerSweep>& sweep,
                    const RooflineOptions& options) {
  std::string text;
  if (sweep) {
    text = power_table(sweep->levels);
  } else if (!options.article) {
    text = report::render_roofline_text(roofline_plot_of(run), options.text);
  }
  return text + (text.empty() ? "" : "\n") + report::render_bench_text(run, options.text);
}

void print_dry_run(const PowerOptions& power) {
  for (const std::uint32_t watts : power.levels) {
    fmt::print("{}\n", quote_for_shell(power.command.words(watts)));
  }
  fmt::print("{}\n", quote_for_shell(power.command.words(power.restore_watts)));
}

/// Measures, stores and shows. `setter`: of a power sweep.
Result<int> run_session(const RooflineOptions& options, BenchSession& session,
                        PowerSetter* setter) {
  analysis::BenchRun run = begin_run(session, options.quick);
  bench::TestContext context{.runner = session.runner(),
                             .observer = session.observer(),
                             .options = session.options(),
                             .quick = options.quick};
  std::size_t notes = 0;
  print_notes(session, notes);
  std::optional<PowerSweep> sweep;
  if (setter != nullptr && options.power) {
    sweep = sweep_power(*options.power, context, *setter);
    if (sweep->restore_failed) {
      // At once: what follows may fail as well.
      fmt::print(stderr, "gputrace: {}\n",
                 report::escape_for_terminal(sweep->restore_failed->message, false));
    }
    run.tests = power_results(*sweep);
  } else {
    run.tests = bench::run_roofline(context, {.article = options.article});
    add_ridges(run);
  }
  run.cancelled = session.cancelled();

  const auto stored = session.finish(run);
  print_notes(session, notes);
  if (const Status printed = write_stdout(options.json ? report::render_bench_json(run)
                                                       : text_of(run, sweep, options));
      !printed) {
    return tl::unexpected(printed.error());
  }
  if (options.svg) {
    if (const Status drawn = write_svg(roofline_plot_of(run), *options.svg); !drawn) {
      return tl::unexpected(drawn.error());
    }
  }
  if (const Status told = tell_stored(stored); !told) {
    return tl::unexpected(told.error());
  }
  if (sweep && sweep->restore_failed) {
    return fail(*sweep->restore_failed, "after the power sweep");
  }
  if (sweep && sweep->stopped) {
    return fail(*sweep->stopped, "the power sweep was stopped");
  }
  return status_of(run);
}

}  // namespace

Result<int> run_roofline(const std::vector<std::string>& arguments) {
  const auto options = parse_roofline_options(arguments);
  if (!options) {
    return tl::unexpected(options.error());
  }
  if (options->help) {
    fmt::print("{}", roofline_help());
    return 0;
  }
  const auto& power = options->power;
  if (power && power->dry_run) {
    print_dry_run(*power);
    return 0;
  }
  std::optional<PowerSetter> setter;
  if (power) {
    // Before anything makes a thread: it forks.
    auto started = PowerSetter::start(power->command, power->restore_watts);
    if (!started) {
      return tl::unexpected(started.error());
    }
    setter.emplace(std::move(*started));
    fmt::print(stderr,
               "gputrace: the limit is set back at the end. Should gputrace be killed (SIGKILL), "
               "type:\n  {}\n",
               quote_for_shell(power->command.words(power->restore_watts)));
  }
  const auto session = BenchSession::open(request_of(*options, arguments));
  if (!session) {
    return tl::unexpected(session.error());
  }
  return run_session(*options, **session, setter ? &*setter : nullptr);
}

}  // namespace gputrace::commands
