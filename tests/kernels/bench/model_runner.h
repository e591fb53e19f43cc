// A device that follows the roofline exactly: a run takes as long as its arithmetic or its memory,
// whichever is slower, on a clock that runs move.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/runner.h"
#include "tests/support/fake_clock.h"

namespace gputrace::test {

class ModelRunner final : public bench::Runner {
 public:
  ModelRunner() {
    facts_.listed.name = "Model";
    facts_.subgroup_size = 64;
    facts_.subgroup_sizes = {32, 64};
    facts_.fp16 = true;
    facts_.int8_dot = true;
    facts_.int64 = true;
    facts_.max_groups_x = 65'535;
    facts_.max_group_threads = 1024;
    facts_.max_storage_range = 1ULL << 30U;
    facts_.memory_bytes = 8ULL << 30U;
    facts_.timestamp_period_ns = 10;
  }

  [[nodiscard]] const vulkan::DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] bool simulated() const override { return false; }
  [[nodiscard]] Status reopen() override {
    ++reopened;
    is_lost = false;
    return {};
  }
  [[nodiscard]] Result<std::unique_ptr<bench::PreparedKernel>> prepare(
      const bench::KernelCase& kernel) override {
    if (kernel.id.find("fp64") != std::string::npos && !facts_.fp64) {
      return fail(ErrorCode::kUnsupported, kernel.id + ": Model has no fp64 arithmetic");
    }
    const bool matrix =
        std::ranges::find(kernel.needs, bench::Requirement::kMatrix) != kernel.needs.end();
    if (matrix && facts_.matrix_shapes.empty()) {
      return fail(ErrorCode::kUnsupported, kernel.id + ": Model has no fp16 matrices");
    }
    if (footprint_of(kernel) > memory_left) {
      return fail(ErrorCode::kNoSpace, kernel.id + ": out of memory");
    }
    return std::make_unique<Kernel>(*this, kernel);
  }

  /// FLOP/ns of the lanes' fp32 additions; an FMA counts two, a packed one four.
  double additions_per_ns = 2000;
  /// GB/s by working set.
  std::function<double(double bytes)> bandwidth = [](double bytes) {
    return bytes <= 65536 ? 2000.0 : bytes <= 2'097'152 ? 500.0 : 70.0;
  };
  std::set<std::string> wrong;            ///< ids with a wrong result
  std::set<std::string> folded;           ///< ids whose work mostly vanishes in the compiler
  std::set<std::string> deadly;           ///< ids that lose the device once
  std::pair<std::string, int> slow_runs;  ///< the begin of ids, and how many runs are disturbed
  double memory_left = 1e18;
  int reopened = 0;
  bool is_lost = false;
  std::size_t runs = 0;
  FakeClock clock;

 private:
  static double footprint_of(const bench::KernelCase& kernel) {
    double bytes = 0;
    for (const bench::BufferNeed& need : kernel.buffers) {
      bytes += static_cast<double>(need.bytes);
    }
    return bytes;
  }

  class Kernel final : public bench::PreparedKernel {
   public:
    Kernel(ModelRunner& device, bench::KernelCase kernel)
        : device_(device), kernel_(std::move(kernel)) {}

    [[nodiscard]] const bench::KernelCase& kernel() const override { return kernel_; }
    [[nodiscard]] Result<vulkan::RunTime> run(const bench::Launch& launch) override {
      ++device_.runs;
      if (device_.deadly.erase(kernel_.id) > 0) {
        device_.is_lost = true;
      }
      if (device_.is_lost) {
        return fail(ErrorCode::kIo, "VK_ERROR_DEVICE_LOST");
      }
      double operations = 0;
      for (const bench::OperationCount& count : kernel_.formula) {
        const double instructions = count.per_trip * launch.trips + count.once;
        const bool memory = count.operation == bench::Operation::kLoad16 ||
                            count.operation == bench::Operation::kStore16 ||
                            count.operation == bench::Operation::kStore4;
        operations += memory                                         ? 0
                      : count.operation == bench::Operation::kFmaF16 ? instructions / 2
                                                                     : instructions;
      }
      const double threads = bench::threads_of(kernel_, launch) * launch.repeats;
      const double bytes =
          bench::read_bytes_of(kernel_, launch) + bench::written_bytes_of(kernel_, launch);
      const double arithmetic_ns = operations * threads / device_.additions_per_ns;
      // Registers alone: what is stored at the end stays in a cache.
      const bool registers =
          kernel_.id.starts_with("peak.") || kernel_.id.starts_with("additions.");
      const double memory_ns =
          registers ? 0
                    : bytes / device_.bandwidth(static_cast<double>(kernel_.buffers.front().bytes));
      double ns = std::max(arithmetic_ns, memory_ns) + 1000;
      if (device_.folded.contains(kernel_.id)) {
        ns /= 32;
      }
      if (!device_.slow_runs.first.empty() && kernel_.id.starts_with(device_.slow_runs.first) &&
          device_.slow_runs.second-- > 0) {
        ns *= 3;
      }
      device_.clock.advance(static_cast<std::int64_t>(ns));
      vulkan::RunTime time;
      time.gpu_ns = ns;
      time.ticks = static_cast<std::uint64_t>(ns / 10);
      time.wall_ns = ns + 5000;
      return time;
    }
    [[nodiscard]] Status check_result(const bench::Launch&) override {
      if (device_.is_lost) {
        return fail(ErrorCode::kIo, "VK_ERROR_DEVICE_LOST");
      }
      return device_.wrong.contains(kernel_.id)
                 ? fail(ErrorCode::kCorrupt, kernel_.id + ": thread 0 is 1, the CPU has 2")
                 : Status();
    }
    [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
      return fail(ErrorCode::kUnsupported, "the driver does not show its code");
    }

   private:
    ModelRunner& device_;
    bench::KernelCase kernel_;
  };

  vulkan::DeviceFacts facts_;
};

}  // namespace gputrace::test
