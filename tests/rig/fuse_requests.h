// Answers what the kernel asks the rig's server through FUSE: the callbacks of libfuse, one at a
// time, all in the server's thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "tests/rig/device_tree.h"
#include "tests/rig/fuse_lowlevel.h"
#include "tests/rig/open_files.h"
#include "tests/rig/rig_device.h"

namespace gputrace::rig {

struct ServerOptions;

class FuseRequests {
 public:
  static Result<std::unique_ptr<FuseRequests>> make(const ServerOptions& options);

  /// To be given to fuse_session_new() with this object as its user data.
  [[nodiscard]] static fuse_lowlevel_ops operations();

  /// Answers requests that waited and need not any more.
  void release(std::int64_t now_ns);
  /// No request waits to be served.
  void idle(std::int64_t now_ns);
  /// When release() or idle() has something to do; absent when only a request can change that.
  [[nodiscard]] std::optional<std::int64_t> next_due_ns() const;
  void refuse_held();

 private:
  /// Of a file that the server keeps in files_.
  struct FileRead {
    std::size_t node;
    std::uint64_t handle;
    std::size_t size;
    std::uint64_t offset;
  };

  FuseRequests(const DeviceTree& tree, std::vector<std::unique_ptr<RigDevice>> devices)
      : tree_(tree), devices_(std::move(devices)) {}

  static FuseRequests& of(fuse_req_t request) {
    return *static_cast<FuseRequests*>(fuse_req_userdata(request));
  }
  static std::size_t index_of(fuse_ino_t inode) { return inode - FUSE_ROOT_ID; }
  [[nodiscard]] NodeKind kind_of(fuse_ino_t inode) const { return tree_.at(index_of(inode)).kind; }

  [[nodiscard]] RigDevice& device_of(std::size_t index) const {
    return *devices_.at(tree_.at(index).gpu);
  }
  [[nodiscard]] bool is_gone(std::size_t index) const;
  [[nodiscard]] int refusal(std::size_t index) const;
  void count_sensor_files();
  [[nodiscard]] int open_error(fuse_ino_t inode, bool read_only);
  [[nodiscard]] struct stat attributes(std::size_t index) const;
  [[nodiscard]] std::string text_of(std::size_t index) const;
  static void reply_ioctl(fuse_req_t request, const IoctlAnswer& answer);
  void start_registers_read(fuse_req_t request, const FileRead& read);
  void reply_registers(fuse_req_t request, const FileRead& read);
  void start_sensor_read(fuse_req_t request, const FileRead& read);
  void reply_sensor(fuse_req_t request, const FileRead& read);

  static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name);
  static void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file);
  static void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* attributes, int to_set,
                         fuse_file_info* file);
  static void on_readlink(fuse_req_t request, fuse_ino_t inode);
  static void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file);
  static void on_release(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file);
  static void on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                      fuse_file_info* file);
  static void on_write(fuse_req_t request, fuse_ino_t inode, const char* text, size_t size,
                       off_t offset, fuse_file_info* file);
  static void on_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                         fuse_file_info* file);
  static void on_ioctl(fuse_req_t request, fuse_ino_t inode, unsigned int command, void* argument,
                       fuse_file_info* file, unsigned flags, const void* in, size_t in_size,
                       size_t out_size);

  DeviceTree tree_;
  std::vector<std::unique_ptr<RigDevice>> devices_;
  OpenFiles files_;
};

}  // namespace gputrace::rig
