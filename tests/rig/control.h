// Switches and counters of a running rig, in memory that the server and the test share. Also as
// text, for shell tests: the file "control" in the mounted folder.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::rig {

struct RigControl {
  using Switch = std::atomic<std::uint32_t>;
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Switch::is_always_lock_free && Counter::is_always_lock_free,
                "locks of one process mean nothing to another");

  // Switches. An errno switch of 0 is off.
  Switch open_errno{0};     ///< opening the node fails: EACCES
  Switch read_errno{0};     ///< READ_MMR_REG fails: ENOENT (reset), EPERM, EIO
  Switch unplugged{0};      ///< ENODEV from open files; node and sysfs folders are gone
  Switch all_ones{0};       ///< every register reads 0xffffffff
  Switch hold_reads{0};     ///< READ_MMR_REG does not return before the switch is off again
  Switch suspended{0};      ///< runtime_status; the first open or ioctl resumes the device
  Switch no_read_mmr{0};    ///< a kernel that does not know READ_MMR_REG: EINVAL
  Switch denied_offset{0};  ///< this register is not in the list any more: EFAULT
  Switch power_auto{1};     ///< power/control: auto or on
  Switch other_clients{0};  ///< that many strangers in the file clients

  // Switches of debugfs and the BAR, which know nothing of the driver's guards.
  Switch no_regs2{0};       ///< a kernel before 5.16: no amdgpu_regs2
  Switch regs2_v1_only{0};  ///< before 6.4: its ioctl has the first form only
  /// EPERM: opening a register file fails (lockdown). Others refuse all of debugfs: EACCES.
  Switch debugfs_errno{0};
  Switch debugfs_all_ones{0};
  Switch bar_all_ones{0};
  Switch privileged_denied_offset{0};  ///< reading this register through debugfs: EPERM
  Switch gfx_off{0};                   ///< GFXOFF is real: all ones 100 ms after READ_MMR_REG
  Switch hold_privileged_reads{0};     ///< a debugfs read does not return while it is on
  Switch late_privileged_read{0};      ///< it returns so many ms later

  // Switches of the sensor files in sysfs.
  Switch sensor_file{0};    ///< which file the next three concern: sensor_file_number(); 0 = all
  Switch sensor_errno{0};   ///< reading it fails: EPERM, EINVAL, ENODEV, EOPNOTSUPP
  Switch hold_sensors{0};   ///< a read of it does not return while this is on
  Switch late_sensors{0};   ///< a read of it returns so many ms later
  Switch metrics_fault{0};  ///< what gpu_metrics holds: MetricsFault
  Switch stuck_busy{0};     ///< gpu_busy_percent says 100, whatever the GPU does

  // Counters.
  Counter opens{0};                    ///< of the render node
  Counter ioctls{0};                   ///< on it
  Counter register_reads{0};           ///< READ_MMR_REG calls that succeeded
  Counter failed_register_reads{0};    ///< and that did not
  Counter touched_while_suspended{0};  ///< opens, ioctls and debugfs reads that woke it
  Counter held{0};                     ///< calls that wait now
  Counter regs_reads{0};               ///< of amdgpu_regs and amdgpu_regs2 that succeeded
  Counter unguarded_reads{0};          ///< of them with the graphics core without power
  Counter writes_attempted{0};         ///< files of debugfs opened for writing, and writes

  Counter sensor_reads{0};                  ///< of sensor files
  Counter metrics_reads{0};                 ///< of gpu_metrics
  Counter sensor_reads_while_suspended{0};  ///< of them with the GPU asleep, waking it or not
  Counter open_sensor_files{0};             ///< that are open now

  Counter guarded{0};      ///< 1 for 100 ms after each READ_MMR_REG
  Counter power_downs{0};  ///< times that 100 ms passed after a READ_MMR_REG

  sem_t read_is_held{};   ///< posted once for each call that begins to wait
  sem_t power_is_down{};  ///< posted with each of power_downs
};

/// Values of RigControl::metrics_fault.
enum class MetricsFault : std::uint32_t {
  kNone,
  kEmpty,
  kTorn,
  kAllZero,
  kTruncated,
  kUnknownRevision,
  kAllOnes
};

/// Value of RigControl::sensor_file for "gpu_metrics", "power1_average", ...; 0 for other names.
[[nodiscard]] std::uint32_t sensor_file_number(std::string_view name);

/// One RigControl in anonymous shared memory, unmapped by the last owner in each process.
[[nodiscard]] Result<std::shared_ptr<RigControl>> make_shared_control();

/// "key=value" lines of all switches and counters.
[[nodiscard]] std::string control_text(const RigControl& control);
/// Sets switches from "key=value" lines; errno values by number, sensor_file by name or number.
/// kInvalidArgument names the line.
Status apply_control_text(RigControl& control, std::string_view text);

}  // namespace gputrace::rig
