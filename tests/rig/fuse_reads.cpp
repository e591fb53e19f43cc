// Reads whose answer may wait: registers in debugfs and sensor files.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "daemon/base/time.h"
#include "tests/rig/fuse_requests.h"

namespace gputrace::rig {

void FuseRequests::start_registers_read(fuse_req_t request, const FileRead& read) {
  RigDevice& device = device_of(read.node);
  auto answer = [this, request, read] { reply_registers(request, read); };
  if (device.control->hold_privileged_reads != 0) {
    device.held.hold_while(device.control->hold_privileged_reads, request, std::move(answer));
  } else if (const std::int64_t late_ms = device.control->late_privileged_read; late_ms != 0) {
    device.held.delay_until(monotonic_now_ns() + late_ms * kNsPerMs, request, std::move(answer));
  } else {
    answer();
  }
}

void FuseRequests::reply_registers(fuse_req_t request, const FileRead& read) {
  const RegistersAnswer answer =
      device_of(read.node).debugfs.read(files_.at(read.handle), read.size, read.offset);
  if (answer.error != 0) {
    fuse_reply_err(request, answer.error);
    return;
  }
  fuse_reply_buf(request, reinterpret_cast<const char*>(answer.bytes.data()), answer.bytes.size());
}

void FuseRequests::start_sensor_read(fuse_req_t request, const FileRead& read) {
  RigDevice& device = device_of(read.node);
  const RigControl& control = *device.control;
  const bool is_faulty = read.offset == 0 && device.sensors.is_faulty(tree_.at(read.node).sensor);
  auto answer = [this, request, read] { reply_sensor(request, read); };
  if (is_faulty && control.hold_sensors != 0) {
    device.held.hold_while(control.hold_sensors, request, std::move(answer));
  } else if (const std::int64_t late_ms = control.late_sensors; is_faulty && late_ms != 0) {
    device.held.delay_until(monotonic_now_ns() + late_ms * kNsPerMs, request, std::move(answer));
  } else {
    answer();
  }
}

// As seq_file and sysfs do: a read at offset 0 makes the text anew, others go on in it.
void FuseRequests::reply_sensor(fuse_req_t request, const FileRead& read) {
  std::string& text = files_.at(read.handle).text;
  if (read.offset == 0) {
    SensorAnswer answer =
        device_of(read.node).sensors.read(tree_.at(read.node).sensor, monotonic_now_ns());
    if (answer.error != 0) {
      fuse_reply_err(request, answer.error);
      return;
    }
    text = std::move(answer.bytes);
  }
  const std::size_t start = std::min<std::size_t>(text.size(), read.offset);
  fuse_reply_buf(request, text.data() + start, std::min(read.size, text.size() - start));
}

}  // namespace gputrace::rig
