#include "cli/commands/roofline/power_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/commands/roofline/shell_words.h"
#include "kernels/bench/cases/peak.h"
#include "kernels/bench/roofline.h"

namespace gputrace::commands {

namespace {

constexpr double kLoadNs = 30e6;

/// Keeps the GPU at arithmetic, which is what draws most power.
class Load {
 public:
  explicit Load(bench::Runner& runner) : runner_(runner) {}

  Status run() {
    if (!kernel_) {
      const auto sized = bench::peak_case(runner_.facts(), bench::Arithmetic::kFp32, std::nullopt);
      auto prepared = runner_.prepare(sized.kernel);
      if (!prepared) {
        return tl::unexpected(prepared.error());
      }
      kernel_ = std::move(*prepared);
      launch_ = sized.launch;
    }
    // Double until one run is long enough; a lower limit makes runs longer, and then they shrink.
    const auto time = kernel_->run(launch_);
    if (!time) {
      return tl::unexpected(time.error());
    }
    const double ns = time->gpu_ns.value_or(time->wall_ns);
    if (ns < kLoadNs / 2) {
      launch_.trips = std::min(launch_.trips * 2, bench::kMaxTrips);
    } else if (ns > kLoadNs * 1.5) {
      launch_.trips = std::max(launch_.trips / 2, 1U);
    }
    return {};
  }

  /// Before the device is measured by others, or opened again.
  void end() { kernel_.reset(); }

 private:
  bench::Runner& runner_;
  std::unique_ptr<bench::PreparedKernel> kernel_;
  bench::Launch launch_;
};

std::optional<analysis::DerivedValue> find(const std::vector<analysis::TestResult>& tests,
                                           std::string_view what) {
  for (const analysis::TestResult& test : tests) {
    const auto found = std::ranges::find(test.derived, what, &analysis::DerivedValue::what);
    if (found != test.derived.end() && test.status == analysis::TestStatus::kOk) {
      return *found;
    }
  }
  return std::nullopt;
}

LevelResult measure_level(const bench::TestContext& context, const std::function<bool()>& stop) {
  bench::TestContext level = context;
  level.options.cancelled = stop;
  const auto tests = bench::run_roofline(level, {.article = false, .ceilings_only = true});
  LevelResult result;
  result.copy = find(tests, "dram.copy");
  result.peak = find(tests, "peak.fp32");
  for (const analysis::TestResult& test : tests) {
    if (test.status == analysis::TestStatus::kOk || stop()) {
      continue;
    }
    const std::string why = fmt::format("{}: {}", test.id, test.why);
    if (test.status == analysis::TestStatus::kFailed && !result.error) {
      result.error = Error{ErrorCode::kIo, why};
    } else if (result.note.empty()) {
      result.note = why;
    }
  }
  return result;
}

void say(LogLevel level, std::string_view text) {
  fmt::print(stderr, "gputrace: {}{}\n", level == LogLevel::kWarning ? "warning: " : "", text);
}

}  // namespace

PowerSweep sweep_power(const PowerOptions& options, bench::TestContext& context,
                       PowerSetter& setter) {
  Load load(context.runner);
  const auto& cancelled = context.options.cancelled;
  const auto in_words = [&](std::uint32_t watts) {
    return quote_for_shell(options.command.words(watts));
  };
  const auto sensor = [&](std::optional<double> (bench::PointObserver::*read)()) {
    return [&context, read]() -> std::optional<double> {
      return context.observer != nullptr ? (context.observer->*read)() : std::nullopt;
    };
  };
  PowerSweepSteps steps;
  steps.set = [&](std::uint32_t watts) -> Status {
    const Status set = setter.set(watts, cancelled);
    return set ? set : fail(set.error(), in_words(watts));
  };
  steps.restore = [&]() -> Status {
    load.end();
    const Status restored = setter.restore();
    return restored
               ? restored
               : fail(restored.error(), fmt::format("the power limit could NOT be set back: {}",
                                                    in_words(options.restore_watts)));
  };
  steps.load = [&] { return load.run(); };
  steps.measure = [&](const std::function<bool()>& stop) {
    load.end();
    return measure_level(context, stop);
  };
  steps.power_w = sensor(&bench::PointObserver::power_w);
  steps.temperature_c = sensor(&bench::PointObserver::temperature_c);
  steps.fan_rpm = sensor(&bench::PointObserver::fan_rpm);
  steps.cancelled = [&] { return cancelled && cancelled(); };
  MonotonicClock clock;
  return run_power_sweep(options.levels, options.max_temperature_c, steps, clock, say);
}

}  // namespace gputrace::commands
