// gputrace calibrate: what known workloads do to a GPU's busy bits.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/bench/bench_run.h"
#include "cli/commands/bench/bench_session.h"
#include "cli/commands/calibrate/calibrate_options.h"
#include "cli/commands/calibrate/calibration_output.h"
#include "cli/commands/calibrate/validation.h"
#include "cli/commands/calibration/calibration_summary.h"
#include "cli/commands/calibration/load_calibration.h"
#include "cli/commands/calibration/stimulated_points.h"
#include "cli/commands/command.h"
#include "cli/commands/standard_output.h"
#include "cli/report/terminal_text.h"
#include "daemon/store/results.h"
#include "kernels/bench/calibration_tests.h"
#include "kernels/bench/validation_tests.h"

namespace gputrace::commands {

namespace {

constexpr double kRunNs = 20e6;
constexpr std::size_t kRuns = 100;
constexpr double kPointLimitNs = 10e9;
constexpr double kQuickRunNs = 5e6;
constexpr double kQuickPointLimitNs = 2e9;

BenchRequest request_of(const CalibrateOptions& options,
                        const std::vector<std::string>& arguments) {
  BenchRequest request;
  request.device = options.device;
  request.gpu = options.gpu;
  request.quick = options.quick;
  request.save = options.save;
  request.needs_recording = true;
  // Results of validation workloads alone are no calibration.
  request.kind =
      options.calibration ? store::SessionKind::kBench : store::SessionKind::kCalibration;
  request.command = typed_command("calibrate", arguments);
  return request;
}

/// So that each workload is sampled for 2 s; `quick`: 0.5 s.
bench::MeasurementOptions calibration_options(bench::MeasurementOptions options, bool quick) {
  options.run_ns = quick ? kQuickRunNs : kRunNs;
  options.samples = kRuns;
  options.point_limit_ns = quick ? kQuickPointLimitNs : kPointLimitNs;
  return options;
}

std::vector<const bench::BenchTest*> tests_of(const CalibrateOptions& options) {
  std::vector<const bench::BenchTest*> tests;
  if (!options.calibration) {
    for (const bench::BenchTest& test : bench::calibration_tests()) {
      tests.push_back(&test);
    }
  }
  if (options.validate) {
    for (const bench::BenchTest& test : bench::validation_tests()) {
      tests.push_back(&test);
    }
  }
  return tests;
}

Result<Validation> validate_file(const std::filesystem::path& file,
                                 const analysis::Calibration& calibration) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  return session ? validate(*session, calibration) : tl::unexpected<Error>(session.error());
}

Result<analysis::StimulusMatrix> matrix_of(const std::filesystem::path& file) {
  const Result<store::SessionReader> session = store::SessionReader::open(file);
  return session ? stimulus_matrix_of(*session, nullptr) : tl::unexpected<Error>(session.error());
}

/// So that `record` only copies: what is counted here would be counted for each recording.
Status keep_summary_of(const std::filesystem::path& file) {
  const Result<analysis::Calibration> calibration = load_calibration(file);
  if (!calibration) {
    return {};  // of no use, which is told when it is printed
  }
  const std::array runs{summary_of(*calibration)};
  return store::append_results(file, runs);
}

/// `given`: what is validated in place of the file's own calibration.
Status print_results(const CalibrateOptions& options, const std::filesystem::path& file,
                     const analysis::Calibration* given) {
  const Result<analysis::Calibration> calibration =
      given != nullptr ? Result<analysis::Calibration>(*given) : load_calibration(file);
  if (!calibration) {
    return tl::unexpected<Error>(calibration.error());
  }
  std::optional<Validation> validation;
  if (options.validate) {
    Result<Validation> validated = validate_file(file, *calibration);
    if (!validated) {
      return tl::unexpected<Error>(validated.error());
    }
    validation = std::move(*validated);
  }
  const Result<analysis::StimulusMatrix> matrix = matrix_of(file);
  if (!matrix) {
    return tl::unexpected<Error>(matrix.error());
  }
  if (options.json) {
    return write_stdout(
        calibration_json(*calibration, *matrix, validation ? &*validation : nullptr));
  }
  std::string text;
  if (given == nullptr) {
    text += calibration_text(*calibration, *matrix, options.text);
  }
  if (validation) {
    text += (text.empty() ? "" : "\n") + validation_text(*validation, *calibration, options.text);
  }
  return write_stdout(text);
}

Result<int> run_session(const CalibrateOptions& options, BenchSession& session,
                        const analysis::Calibration* given) {
  std::size_t notes_printed = 0;
  print_notes(session, notes_printed);
  analysis::BenchRun run = begin_run(session, options.quick);
  run_bench_tests(tests_of(options), session, calibration_options(session.options(), options.quick),
                  run);
  const auto stored = session.finish(run);
  print_notes(session, notes_printed);
  Status printed;  // what is wrong with the file itself is told below
  if (const auto file = stored ? *stored : std::nullopt; file.has_value()) {
    if (const Status kept = given == nullptr ? keep_summary_of(*file) : Status(); !kept) {
      fmt::print(stderr, "gputrace: note: recordings will count this calibration anew: {}\n",
                 report::escape_for_terminal(kept.error().message, false));
    }
    printed = print_results(options, *file, given);
  }
  if (!stored || options.save) {
    if (const Status told = tell_stored(stored); !told) {
      return tl::unexpected(told.error());
    }
  }
  Result<int> status = status_of(run);
  if (status && !printed) {
    return tl::unexpected(printed.error());
  }
  return status;
}

}  // namespace

Result<int> run_calibrate(const std::vector<std::string>& arguments) {
  const auto options = parse_calibrate_options(arguments);
  if (!options) {
    return tl::unexpected(options.error());
  }
  if (options->help) {
    fmt::print("{}", calibrate_help());
    return 0;
  }
  std::optional<analysis::Calibration> given;
  if (const auto& file = options->calibration; file.has_value()) {
    Result<analysis::Calibration> loaded = load_calibration(*file);
    if (!loaded) {
      return tl::unexpected(loaded.error());
    }
    given = std::move(*loaded);
  }
  const auto session = BenchSession::open(request_of(*options, arguments));
  if (!session) {
    return tl::unexpected(session.error());
  }
  return run_session(*options, **session, given ? &*given : nullptr);
}

}  // namespace gputrace::commands
