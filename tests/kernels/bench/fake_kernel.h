// A kernel whose time follows a formula, on a clock that its runs move.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/runner.h"
#include "tests/support/fake_clock.h"

namespace gputrace::test {

class FakeKernel final : public bench::PreparedKernel {
 public:
  /// Time of one dispatch, in ns; `run` counts from 0.
  using Formula = std::function<double(const bench::Launch&, std::size_t run)>;

  FakeKernel(FakeClock& clock, std::string id, Formula dispatch_ns)
      : clock_(clock), dispatch_ns_(std::move(dispatch_ns)) {
    kernel_.id = std::move(id);
    kernel_.stimulus = [this](const bench::Launch& launch) {
      bench::Stimulus stimulus;
      stimulus.kernel = kernel_.id;
      stimulus.launches = launch.repeats;
      return stimulus;
    };
  }

  [[nodiscard]] const bench::KernelCase& kernel() const override { return kernel_; }

  [[nodiscard]] Result<vulkan::RunTime> run(const bench::Launch& launch) override {
    if (runs.size() >= lost_at) {
      return fail(ErrorCode::kIo, "the device was lost");
    }
    const double dispatch_ns = dispatch_ns_(launch, runs.size());
    const double ns = dispatch_ns * launch.repeats;
    runs.push_back(launch);
    longest_dispatch_ns = runs.size() > 1 ? std::max(longest_dispatch_ns, dispatch_ns) : 0;
    clock_.advance(static_cast<std::int64_t>(ns));
    vulkan::RunTime time;
    time.wall_ns = ns + 1000;
    if (tick_ns) {
      time.gpu_ns = ns;
      time.ticks = static_cast<std::uint64_t>(ns / *tick_ns);
    }
    return time;
  }
  [[nodiscard]] Status check_result(const bench::Launch&) override { return {}; }
  [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
    return fail(ErrorCode::kUnsupported, "no code");
  }

  std::optional<double> tick_ns = 10;  ///< absent = no timestamps
  std::size_t lost_at = SIZE_MAX;      ///< the run that finds the device lost
  std::vector<bench::Launch> runs;
  double longest_dispatch_ns = 0;

 private:
  FakeClock& clock_;
  bench::KernelCase kernel_;
  Formula dispatch_ns_;
};

}  // namespace gputrace::test
