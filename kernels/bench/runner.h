// Something that runs kernels and says how long they took: a Vulkan device, or the simulated GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "kernels/bench/kernel_case.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/pipeline.h"

namespace gputrace::bench {

/// A case that is compiled and has its buffers.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;

  [[nodiscard]] virtual const KernelCase& kernel() const = 0;
  /// One submission. kIo: the device was lost.
  [[nodiscard]] virtual Result<vulkan::RunTime> run(const Launch& launch) = 0;
  /// The proof of the result: one run of `launch` on fresh buffers, then KernelCase::check.
  [[nodiscard]] virtual Status check_result(const Launch& launch) = 0;
  /// What all runs so far left behind; those of check_result() have buffers of their own.
  /// kUnsupported where nothing executes.
  [[nodiscard]] virtual Result<Outputs> read_back();
  /// kUnsupported where the driver does not show its code.
  [[nodiscard]] virtual Result<std::vector<vulkan::Executable>> executables() const = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;

  [[nodiscard]] virtual const vulkan::DeviceFacts& facts() const = 0;
  [[nodiscard]] virtual bool simulated() const = 0;
  /// kUnsupported names the feature that is missing, kNoSpace the memory.
  [[nodiscard]] virtual Result<std::unique_ptr<PreparedKernel>> prepare(
      const KernelCase& kernel) = 0;
  /// For tests that time copies and submissions in place of kernels. Null where simulated, and
  /// after a device was lost that could not be opened again; dead after reopen().
  [[nodiscard]] virtual vulkan::Device* device() { return nullptr; }
  /// After a lost device: what was prepared before is dead and must be gone.
  [[nodiscard]] virtual Status reopen() = 0;
};

/// Told of each point, so that busy bits and sensors can be laid beside it. Calls that return late
/// delay the measurement, not its times.
class PointObserver {
 public:
  virtual ~PointObserver() = default;
  /// `label` names the point within its test: "sweep.n16".
  virtual void begin_point(const std::string& label, const Stimulus& stimulus) = 0;
  virtual void end_point(const std::string& label) = 0;
  /// MHz of the GPU's shader clock now, W of the package; absent where no sensor tells.
  [[nodiscard]] virtual std::optional<double> clock_mhz() = 0;
  [[nodiscard]] virtual std::optional<double> power_w() = 0;
  /// Of the GPU's die, and of the first fan.
  [[nodiscard]] virtual std::optional<double> temperature_c() { return std::nullopt; }
  [[nodiscard]] virtual std::optional<double> fan_rpm() { return std::nullopt; }
};

}  // namespace gputrace::bench
