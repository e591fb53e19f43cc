// The best way to a GPU's status registers that this process has: the render node's ioctl, and for
// what the kernel refuses there debugfs or the register BAR, which need root.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/register_reader.h"
#include "regdb/register_database.h"

namespace gputrace::os {

enum class RegisterSource {
  kAuto,     ///< the ioctl, and debugfs, else the BAR, for what it refuses
  kDrm,      ///< the ioctl alone
  kDebugfs,  ///< every register through debugfs; the ioctl only holds GFXOFF off
  kBar,      ///< the same through the register BAR
};
/// "auto", "drm", "debugfs", "bar"; kUsage lists them.
[[nodiscard]] Result<RegisterSource> parse_register_source(std::string_view name);

struct OpenedRegisters {
  sampler::GpuIdentity identity;
  std::string regdb_table;
  unsigned shader_engines = 0;
  std::unique_ptr<sampler::RegisterReader> reader;
  std::vector<std::string> notes;  ///< what this source cannot read, why, and what would
};

/// Offers every register of the GPU's built-in table that the source can read. kAuto never fails
/// for want of privilege: it says what was lost. An explicit source that cannot be had is an error.
[[nodiscard]] Result<OpenedRegisters> open_registers(const GpuDevice& gpu, RegisterSource source,
                                                     const regdb::RegisterDatabase& regdb,
                                                     const SystemRoots& roots);

}  // namespace gputrace::os
