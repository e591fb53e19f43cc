// What the rig's server keeps for each open file, by the handle that FUSE passes back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/rig/device_tree.h"

namespace gputrace::rig {

/// amdgpu_debugfs_regs2_iocdata_v2 (amdgpu_umr.h).
struct Regs2State {
  std::uint32_t use_srbm = 0, use_grbm = 0, pg_lock = 0;
  std::uint32_t grbm_se = 0, grbm_sh = 0, grbm_instance = 0;
  std::uint32_t srbm_me = 0, srbm_pipe = 0, srbm_queue = 0, srbm_vmid = 0;
  std::uint32_t xcc_id = 0;
};
static_assert(sizeof(Regs2State) == 44);

struct OpenFile {
  NodeKind kind = NodeKind::kText;
  pid_t process = 0;      ///< who opened it
  std::size_t gpu = 0;    ///< index in the tree
  std::string text = {};  ///< of a sensor file: as its last read at offset 0 found it
  Regs2State regs2 = {};
};

class OpenFiles {
 public:
  std::uint64_t add(OpenFile file) {
    files_.emplace(++last_, file);
    return last_;
  }
  void remove(std::uint64_t handle) { files_.erase(handle); }
  [[nodiscard]] OpenFile& at(std::uint64_t handle) { return files_.at(handle); }
  [[nodiscard]] const std::map<std::uint64_t, OpenFile>& all() const { return files_; }

 private:
  std::map<std::uint64_t, OpenFile> files_;
  std::uint64_t last_ = 0;
};

}  // namespace gputrace::rig
