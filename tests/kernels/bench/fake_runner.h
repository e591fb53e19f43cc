// A device for the tests of benches: times and results are what the test says, on a clock that runs
// move.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/bench_test.h"
#include "tests/support/fake_clock.h"

namespace gputrace::test {

class FakeRunner : public bench::Runner {
 public:
  /// ns of one dispatch.
  std::function<double(const bench::KernelCase&, const bench::Launch&)> dispatch_ns =
      [](const bench::KernelCase&, const bench::Launch&) { return 1e6; };
  /// What check_result() does; empty = everything is right.
  std::function<Status(const bench::KernelCase&, const bench::Launch&)> result;
  /// What every run, prepare() and reopen() does once it is set.
  std::optional<Error> broken;
  bool is_simulated = false;
  bool has_timestamps = true;
  vulkan::DeviceFacts device;
  FakeClock clock;
  int reopened = 0;

  FakeRunner() {
    device.listed.name = "a fake device";
    device.subgroup_size = 64;
    device.buffer_addresses = true;
    device.int64_atomics = true;
    device.max_groups_x = 65535;
    device.max_group_threads = 1024;
    device.max_shared_bytes = 65536;
    device.max_storage_range = 1ULL << 32U;
    device.max_uniform_range = 65536;
    device.max_texel_elements = 1U << 27U;
    device.memory_bytes = 1ULL << 34U;
  }

  [[nodiscard]] const vulkan::DeviceFacts& facts() const override { return device; }
  [[nodiscard]] bool simulated() const override { return is_simulated; }
  [[nodiscard]] Result<std::unique_ptr<bench::PreparedKernel>> prepare(
      const bench::KernelCase& kernel) override {
    if (broken) {
      return tl::unexpected(*broken);
    }
    return std::make_unique<Kernel>(*this, kernel);
  }
  [[nodiscard]] Status reopen() override {
    ++reopened;
    broken.reset();
    return {};
  }

  /// Options for fast, even measurements on the fake clock.
  [[nodiscard]] bench::MeasurementOptions options() {
    bench::MeasurementOptions options;
    options.clock = &clock;
    return options;
  }

 private:
  class Kernel final : public bench::PreparedKernel {
   public:
    Kernel(FakeRunner& runner, bench::KernelCase kernel)
        : runner_(runner), kernel_(std::move(kernel)) {}
    [[nodiscard]] const bench::KernelCase& kernel() const override { return kernel_; }
    [[nodiscard]] Result<vulkan::RunTime> run(const bench::Launch& launch) override {
      if (runner_.broken) {
        return tl::unexpected(*runner_.broken);
      }
      const double ns = runner_.dispatch_ns(kernel_, launch) * launch.repeats;
      runner_.clock.advance(static_cast<std::int64_t>(ns));
      if (!runner_.has_timestamps) {
        return vulkan::RunTime{.gpu_ns = std::nullopt, .ticks = std::nullopt, .wall_ns = ns};
      }
      return vulkan::RunTime{
          .gpu_ns = ns, .ticks = static_cast<std::uint64_t>(ns / 10), .wall_ns = ns + 1000};
    }
    [[nodiscard]] Status check_result(const bench::Launch& launch) override {
      return runner_.result ? runner_.result(kernel_, launch) : Status();
    }
    [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
      return fail(ErrorCode::kUnsupported, "the fake device shows no code");
    }

   private:
    FakeRunner& runner_;
    bench::KernelCase kernel_;
  };
};

}  // namespace gputrace::test
