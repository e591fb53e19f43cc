// Stands in for the registers of a GPU that sleeps: says so and touches nothing, until somebody
// else has woken it and the GPU can be opened.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/register_reader.h"
#include "regdb/register_database.h"

namespace gputrace::os {

class SleepingReader final : public sampler::RegisterReader {
 public:
  /// `is_asleep` wakes nothing, and neither allocates nor throws.
  SleepingReader(std::vector<sampler::OfferedRegister> registers, std::function<bool()> is_asleep);

  [[nodiscard]] std::span<const sampler::OfferedRegister> registers() const noexcept override {
    return registers_;
  }
  void read(std::int64_t now_ns, sampler::ReadBuffer out) noexcept override;
  [[nodiscard]] bool is_over(std::int64_t now_ns) noexcept override;
  [[nodiscard]] std::vector<sampler::LostRegister> drop_lost() override { return {}; }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  std::vector<sampler::OfferedRegister> registers_;
  std::function<bool()> is_asleep_;
  std::int64_t last_look_ns_ = std::numeric_limits<std::int64_t>::min() / 2;
  bool over_ = false;
};

struct SleepingGpu {
  sampler::GpuIdentity identity;  ///< as far as sysfs tells it: the driver without its version
  std::string regdb_table;
  std::unique_ptr<SleepingReader> reader;  ///< offers GRBM_STATUS and GRBM_STATUS2
};

/// Of a GPU that is runtime-suspended; opens nothing but power/runtime_status. kBusy when sysfs
/// does not tell the GC version; kPermissionDenied when the render node could not be opened later.
[[nodiscard]] Result<SleepingGpu> open_sleeping_gpu(const GpuDevice& gpu,
                                                    const regdb::RegisterDatabase& regdb);

}  // namespace gputrace::os
