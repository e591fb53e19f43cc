// Which way to privileged registers works on this machine, and why the others do not. Internal to
// daemon/os.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/guarded_reader.h"
#include "daemon/os/kernel.h"
#include "regdb/gc_version.h"

namespace gputrace::os {

enum class PrivilegedPath { kRegs2, kRegs, kBar };
/// "debugfs regs2", "debugfs regs", "bar": the source of a register in sessions and reports.
[[nodiscard]] std::string to_string(PrivilegedPath path);

struct PathRequest {
  const GpuDevice& gpu;
  const SystemRoots& roots;
  regdb::GcVersion gc;
  KernelVersion kernel;
  std::vector<sampler::OfferedRegister> wanted;  ///< their source is filled in
};

struct FailedPath {
  std::string name;  ///< empty: a reason that closes all of them
  Error error;
};

struct PathSearch {
  std::unique_ptr<GuardedWords> words;  ///< null when none works
  std::vector<FailedPath> failed;       ///< those tried before
};

/// Takes the first path of `order` that opens and gives words under the guard of `node`.
[[nodiscard]] PathSearch find_privileged_path(std::span<const PrivilegedPath> order,
                                              const PathRequest& request, RenderNodeReader& node,
                                              const GuardAccess& access);

/// Adds the mode to an EPERM where the kernel is locked down.
[[nodiscard]] Error explain_lockdown(Error error, const SystemRoots& roots);

/// "debugfs regs2: cannot open ...; bar: ...". A cause that several share stands once.
[[nodiscard]] std::string describe(std::span<const FailedPath> failed);
/// True for an ordinary user to whom all of them were closed as files of root are.
[[nodiscard]] bool only_root_is_missing(std::span<const FailedPath> failed);

}  // namespace gputrace::os
