// The sampling of each GPU that sessions of this process record: that of its first GPU, and those
// that sessions moved to because their workload opened another.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/ipc/message.h"
#include "daemon/recorder/reader_factory.h"
#include "daemon/recorder/shared_sampling.h"

namespace gputrace::recorder {

/// Never destroyed, as SharedSampling is not.
class SamplingPool {
 public:
  /// `changed` is called on any thread when health() has news.
  SamplingPool(ReaderFactory open_gpu, std::function<void()> changed);
  SamplingPool(const SamplingPool&) = delete;
  SamplingPool& operator=(const SamplingPool&) = delete;
  ~SamplingPool() = default;

  /// That of the GPU for which the process was started.
  [[nodiscard]] SharedSampling& first() { return *samplings_.front(); }

  struct OpenedSampling {
    SharedSampling* sampling = nullptr;
    GpuOnOffer gpu;
  };
  /// Opens the GPU with this PCI address unless it is open. May take as long as the driver does.
  [[nodiscard]] Result<OpenedSampling> open(const GpuRequest& request);

  /// The first GPU's; sessions and hanging reads are those of all.
  [[nodiscard]] ipc::HealthReport health() const;

 private:
  [[nodiscard]] Result<SharedSampling*> find(const std::string& pci);

  ReaderFactory open_gpu_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<SharedSampling>> samplings_;  ///< grows; guarded by mutex_
};

/// A GPU that is being opened on a thread of its own, which may hang in the driver.
class GpuOpening {
 public:
  using Opened = Result<SamplingPool::OpenedSampling>;

  /// `done` is called on that thread. Pool and what `done` uses must live until it has returned.
  [[nodiscard]] static std::shared_ptr<GpuOpening> begin(SamplingPool& pool, GpuRequest request,
                                                         std::function<void()> done);
  /// Absent: not yet. Once only.
  [[nodiscard]] std::optional<Opened> take();
  /// Nobody will take it: the GPU is closed again.
  void abandon();

 private:
  std::mutex mutex_;
  std::optional<Opened> opened_;  ///< guarded by mutex_, like the next
  bool abandoned_ = false;
};

}  // namespace gputrace::recorder
