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

#include "daemon/base/result.h"
#include "tests/rig/bar_file.h"
#include "tests/rig/control.h"
#include "tests/rig/debugfs_files.h"
#include "tests/rig/device_tree.h"
#include "tests/rig/drm_node.h"
#include "tests/rig/fuse_lowlevel.h"
#include "tests/rig/graphics_core.h"
#include "tests/rig/held_calls.h"
#include "tests/rig/open_files.h"

namespace gputrace::rig {

struct ServerOptions;

class FuseRequests {
 public:
  static Result<std::unique_ptr<FuseRequests>> make(const ServerOptions& options);

  /// To be given to fuse_session_new() with this object as its user data.
  [[nodiscard]] static fuse_lowlevel_ops operations();

  /// Answers requests that waited and need not any more.
  void release(std::int64_t now_ns) { held_.release(now_ns); }
  /// No request waits to be served.
  void idle(std::int64_t now_ns);
  /// When release() or idle() has something to do; absent when only a request can change that.
  [[nodiscard]] std::optional<std::int64_t> next_due_ns() const;
  void refuse_held() { held_.refuse_all(ENODEV); }

 private:
  struct PrivilegedRead {
    std::uint64_t handle;
    std::size_t size;
    std::uint64_t offset;
  };

  FuseRequests(const ServerOptions& options, std::shared_ptr<GraphicsCore> core,
               std::unique_ptr<BarFile> bar);

  static FuseRequests& of(fuse_req_t request) {
    return *static_cast<FuseRequests*>(fuse_req_userdata(request));
  }
  static std::size_t index_of(fuse_ino_t inode) { return inode - FUSE_ROOT_ID; }
  [[nodiscard]] NodeKind kind_of(fuse_ino_t inode) const { return tree_.at(index_of(inode)).kind; }

  [[nodiscard]] bool is_gone(std::size_t index) const;
  [[nodiscard]] int refusal(std::size_t index) const;
  [[nodiscard]] int open_error(fuse_ino_t inode, bool read_only);
  [[nodiscard]] struct stat attributes(std::size_t index) const;
  [[nodiscard]] std::string text_of(std::size_t index) const;
  void reply_ioctl(fuse_req_t request, std::uint32_t command, std::span<const std::byte> argument,
                   pid_t pid);
  void start_read(fuse_req_t request, const PrivilegedRead& read);
  void reply_read(fuse_req_t request, const PrivilegedRead& read);

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
  std::shared_ptr<RigControl> control_;
  std::shared_ptr<GraphicsCore> core_;
  DrmNode node_;
  DebugfsFiles debugfs_;
  std::unique_ptr<BarFile> bar_;
  OpenFiles files_;
  HeldCalls held_;
};

}  // namespace gputrace::rig
