// The GPU's register BAR: memory that a client maps through the link resource5 (GC 6: resource2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "tests/rig/control.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/graphics_core.h"

namespace gputrace::rig {

inline constexpr std::uint64_t kBarBytes = std::uint64_t{512} * 1024;
/// 2 on GC 6, else 5.
[[nodiscard]] unsigned bar_number(const GpuModel& gpu);

/// A memory file whose words are renewed with every READ_MMR_REG: pages behind FUSE would keep the
/// words of their first read. Nobody but the server can write to it.
class BarFile {
 public:
  static Result<std::unique_ptr<BarFile>> make(const GpuModel& gpu,
                                               std::shared_ptr<GraphicsCore> core,
                                               std::shared_ptr<RigControl> control);
  BarFile(const BarFile&) = delete;
  BarFile& operator=(const BarFile&) = delete;
  ~BarFile();

  /// Where the link leads. Somebody may map the file from now on, so its words are kept up.
  [[nodiscard]] const std::string& path_for_client();
  /// The words of this instant. After an unplug the file has no pages: a load raises SIGBUS.
  void renew(std::int64_t now_ns);

 private:
  BarFile(UniqueFd file, std::uint32_t* words, std::vector<std::uint32_t> offsets,
          std::shared_ptr<GraphicsCore> core, std::shared_ptr<RigControl> control);

  UniqueFd file_;
  std::uint32_t* words_;
  std::vector<std::uint32_t> offsets_;
  std::shared_ptr<GraphicsCore> core_;
  std::shared_ptr<RigControl> control_;
  std::string path_;
  bool is_in_use_ = false;
  bool has_pages_ = true;
};

}  // namespace gputrace::rig
