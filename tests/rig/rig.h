// The simulated GPU behind FUSE, for tests: starts a server process, gives it a folder of its own,
// and takes both away again however the test ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "tests/rig/control.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/rig_sensors.h"
#include "tests/rig/word_source.h"
#include "tests/support/temp_dir.h"

namespace gputrace::rig {

struct RigOptions {
  GpuModel gpu = default_gpu_model();
  std::shared_ptr<WordSource> words;
  std::shared_ptr<const RigSensors> sensors;  ///< null = of a GPU at rest
  std::optional<GpuModel> second_gpu;         ///< the same words; at rest
  int drm_minor = 58;                         ///< of amdgpu's interface version 3.x
};

/// Start it before the test has threads: the server is a fork of this process.
class Rig {
 public:
  /// Returns when the folder is mounted. kUnsupported or kPermissionDenied without /dev/fuse or the
  /// right to mount: the test prints the message and skips.
  static Result<std::unique_ptr<Rig>> start(const RigOptions& options);

  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig();

  [[nodiscard]] RigControl& control() { return *control_; }
  /// Of the second GPU, if there is one.
  [[nodiscard]] RigControl& second_control() { return *second_control_; }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path sys() const { return root() / "sys"; }
  [[nodiscard]] std::filesystem::path dev() const { return root() / "dev"; }
  [[nodiscard]] std::filesystem::path debugfs() const { return sys() / "kernel/debug/dri/1"; }
  [[nodiscard]] std::filesystem::path render_node() const { return dev() / "dri/renderD128"; }

  /// From now on a register read through the ioctl does not return.
  void hold_reads() { control_->hold_reads = 1; }
  /// The same through debugfs.
  void hold_privileged_reads() { control_->hold_privileged_reads = 1; }
  /// True when one has begun to wait; false after `timeout`.
  [[nodiscard]] bool wait_for_held_read(std::chrono::seconds timeout = std::chrono::seconds(60));
  /// True when 100 ms have passed after the latest READ_MMR_REG.
  [[nodiscard]] bool wait_for_power_down(std::chrono::seconds timeout = std::chrono::seconds(60));
  /// Lets waiting reads return and holds no more.
  void release_reads();
  /// SIGKILL: every call on the folder then fails with ENOTCONN.
  void kill_server();

 private:
  Rig(std::shared_ptr<RigControl> control, std::shared_ptr<RigControl> second_control,
      UniqueFd wake)
      : control_(std::move(control)),
        second_control_(std::move(second_control)),
        wake_(std::move(wake)) {}
  void unmount() const;

  test::TempDir folder_;
  std::shared_ptr<RigControl> control_;
  std::shared_ptr<RigControl> second_control_;
  UniqueFd wake_;
  pid_t server_ = -1;
  bool mounted_ = false;
};

}  // namespace gputrace::rig
