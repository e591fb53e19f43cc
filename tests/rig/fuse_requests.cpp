#include "tests/rig/fuse_requests.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "tests/rig/fuse_server.h"

namespace gputrace::rig {
namespace {

constexpr off_t kSysfsFileSize = 4096;

bool is_register_file(NodeKind kind) {
  return kind == NodeKind::kRegs || kind == NodeKind::kRegs2;
}

// FUSE tells the thread.
pid_t process_of_thread(pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/status");
  std::string word;
  while (file >> word) {
    pid_t process = 0;
    if (word == "Tgid:" && file >> process) {
      return process;
    }
  }
  return thread;
}

mode_t mode_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::kFolder:
      return S_IFDIR | 0755;
    case NodeKind::kPrivateFolder:
      return S_IFDIR | 0700;
    case NodeKind::kLink:
    case NodeKind::kBarLink:
      return S_IFLNK | 0777;
    case NodeKind::kRenderNode:
      return S_IFREG | 0666;
    case NodeKind::kControl:
      return S_IFREG | 0600;
    case NodeKind::kText:
    case NodeKind::kRuntimeStatus:
    case NodeKind::kPowerControl:
    case NodeKind::kClients:
    case NodeKind::kRegs:
    case NodeKind::kRegs2:
    case NodeKind::kSensor:
      break;
  }
  return S_IFREG | 0444;
}

}  // namespace

Result<std::unique_ptr<FuseRequests>> FuseRequests::make(const ServerOptions& options) {
  std::vector<GpuModel> models;
  std::vector<std::unique_ptr<RigDevice>> devices;
  for (const DeviceOptions& device : options.gpus) {
    auto made = RigDevice::make(device, devices.size(), options.drm_minor);
    if (!made) {
      return tl::unexpected(made.error());
    }
    models.push_back(device.gpu);
    devices.push_back(std::move(*made));
  }
  return std::unique_ptr<FuseRequests>(new FuseRequests(DeviceTree(models), std::move(devices)));
}

fuse_lowlevel_ops FuseRequests::operations() {
  fuse_lowlevel_ops operations{};
  operations.lookup = on_lookup;
  operations.getattr = on_getattr;
  operations.setattr = on_setattr;
  operations.readlink = on_readlink;
  operations.open = on_open;
  operations.release = on_release;
  operations.read = on_read;
  operations.write = on_write;
  operations.readdir = on_readdir;
  operations.ioctl = on_ioctl;
  return operations;
}

void FuseRequests::release(std::int64_t now_ns) {
  for (const auto& device : devices_) {
    device->held.release(now_ns);
  }
}

void FuseRequests::idle(std::int64_t now_ns) {
  for (const auto& device : devices_) {
    device->idle(now_ns);
  }
}

void FuseRequests::refuse_held() {
  for (const auto& device : devices_) {
    device->held.refuse_all(ENODEV);
  }
}

std::optional<std::int64_t> FuseRequests::next_due_ns() const {
  std::optional<std::int64_t> next;
  for (const auto& device : devices_) {
    if (const auto due = device->next_due_ns()) {
      next = std::min(next.value_or(*due), *due);
    }
  }
  return next;
}

// An unplugged GPU takes every name under its folders with it.
bool FuseRequests::is_gone(std::size_t index) const {
  const RigControl& control = *device_of(index).control;
  if (tree_.at(index).kind == NodeKind::kRegs2 && control.no_regs2 != 0) {
    return true;
  }
  if (control.unplugged == 0) {
    return false;
  }
  for (; index != 0; index = tree_.at(index).parent) {
    if (tree_.at(index).of_device) {
      return true;
    }
  }
  return false;
}

/// What a path into a folder of debugfs gets that this caller may not enter.
int FuseRequests::refusal(std::size_t index) const {
  const auto error = static_cast<int>(device_of(index).control->debugfs_errno);
  return error != EPERM && tree_.is_in_debugfs(index) ? error : 0;
}

struct stat FuseRequests::attributes(std::size_t index) const {
  const TreeNode& node = tree_.at(index);
  struct stat result{};
  result.st_ino = index + FUSE_ROOT_ID;
  result.st_nlink = 1;
  result.st_mode = mode_of(node.kind);
  result.st_uid = ::getuid();
  result.st_gid = ::getgid();
  if (node.kind == NodeKind::kLink) {
    result.st_size = static_cast<off_t>(node.text.size());
  } else if (S_ISREG(result.st_mode) && node.kind != NodeKind::kRenderNode &&
             !is_register_file(node.kind)) {
    result.st_size = kSysfsFileSize;
  }
  return result;
}

std::string FuseRequests::text_of(std::size_t index) const {
  const RigDevice& device = device_of(index);
  switch (tree_.at(index).kind) {
    case NodeKind::kRuntimeStatus:
      return device.control->suspended != 0 ? "suspended\n" : "active\n";
    case NodeKind::kPowerControl:
      return device.control->power_auto != 0 ? "auto\n" : "on\n";
    case NodeKind::kClients:
      return device.debugfs.clients_text(files_);
    case NodeKind::kControl:
      return control_text(*device.control);
    default:
      return tree_.at(index).text;
  }
}

void FuseRequests::on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const FuseRequests& self = of(request);
  if (const int error = self.refusal(index_of(parent)); error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  const auto index = self.tree_.find(index_of(parent), name);
  if (!index || self.is_gone(*index)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = *index + FUSE_ROOT_ID;
  entry.attr = self.attributes(*index);
  fuse_reply_entry(request, &entry);
}

void FuseRequests::on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* /*file*/) {
  const struct stat result = of(request).attributes(index_of(inode));
  fuse_reply_attr(request, &result, 0);
}

// `echo x > control` truncates first.
void FuseRequests::on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* /*wanted*/,
                              int to_set, fuse_file_info* file) {
  if (of(request).kind_of(inode) != NodeKind::kControl ||
      (to_set & ~(FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_CTIME)) != 0) {
    fuse_reply_err(request, EPERM);
    return;
  }
  on_getattr(request, inode, file);
}

void FuseRequests::on_readlink(fuse_req_t request, fuse_ino_t inode) {
  FuseRequests& self = of(request);
  if (self.kind_of(inode) == NodeKind::kBarLink) {
    BarFile& bar = *self.device_of(index_of(inode)).bar;
    const std::string& path = bar.path_for_client();
    bar.renew(monotonic_now_ns());
    fuse_reply_readlink(request, path.c_str());
    return;
  }
  fuse_reply_readlink(request, self.tree_.at(index_of(inode)).text.c_str());
}

int FuseRequests::open_error(fuse_ino_t inode, bool read_only) {
  const NodeKind kind = kind_of(inode);
  RigDevice& device = device_of(index_of(inode));
  if (kind == NodeKind::kRenderNode) {
    return device.node.open_error();
  }
  if (kind == NodeKind::kControl) {
    return 0;
  }
  if (tree_.is_in_debugfs(index_of(inode)) && !read_only) {
    ++device.control->writes_attempted;  // root passes the mode of the file
  }
  if (is_register_file(kind)) {
    return device.debugfs.open_error();
  }
  return read_only ? 0 : EACCES;
}

void FuseRequests::on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
  FuseRequests& self = of(request);
  const NodeKind kind = self.kind_of(inode);
  if (const int error = self.open_error(inode, (file->flags & O_ACCMODE) == O_RDONLY); error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  if (kind == NodeKind::kRenderNode || kind == NodeKind::kSensor || is_register_file(kind)) {
    file->fh = self.files_.add({.kind = kind,
                                .process = process_of_thread(fuse_req_ctx(request)->pid),
                                .gpu = self.tree_.at(index_of(inode)).gpu});
    self.count_sensor_files();
  }
  file->direct_io = 1;
  if (fuse_reply_open(request, file) != 0) {  // interrupted: there will be no release
    self.files_.remove(file->fh);
    self.count_sensor_files();
  }
}

void FuseRequests::count_sensor_files() {
  for (std::size_t gpu = 0; gpu < devices_.size(); ++gpu) {
    const auto is_one = [gpu](const auto& entry) {
      return entry.second.kind == NodeKind::kSensor && entry.second.gpu == gpu;
    };
    devices_[gpu]->control->open_sensor_files =
        static_cast<std::uint64_t>(std::count_if(files_.all().begin(), files_.all().end(), is_one));
  }
}

void FuseRequests::on_release(fuse_req_t request, fuse_ino_t /*inode*/, fuse_file_info* file) {
  of(request).files_.remove(file->fh);
  of(request).count_sensor_files();
  fuse_reply_err(request, 0);
}

void FuseRequests::on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                           fuse_file_info* file) {
  FuseRequests& self = of(request);
  const NodeKind kind = self.kind_of(inode);
  if (kind == NodeKind::kRenderNode) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const FileRead read{index_of(inode), file->fh, size, static_cast<std::uint64_t>(offset)};
  if (is_register_file(kind)) {
    self.start_registers_read(request, read);
    return;
  }
  if (self.is_gone(index_of(inode))) {
    fuse_reply_err(request, ENODEV);
    return;
  }
  if (kind == NodeKind::kSensor) {
    self.start_sensor_read(request, read);
    return;
  }
  const std::string text = self.text_of(index_of(inode));
  const std::size_t start = std::min(text.size(), static_cast<std::size_t>(offset));
  fuse_reply_buf(request, text.data() + start, std::min(size, text.size() - start));
}

void FuseRequests::on_write(fuse_req_t request, fuse_ino_t inode, const char* text, size_t size,
                            off_t /*offset*/, fuse_file_info* /*file*/) {
  FuseRequests& self = of(request);
  RigDevice& device = self.device_of(index_of(inode));
  if (is_register_file(self.kind_of(inode))) {
    ++device.control->writes_attempted;
    fuse_reply_err(request, EPERM);
    return;
  }
  if (self.kind_of(inode) != NodeKind::kControl ||
      !apply_control_text(*device.control, {text, size})) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  device.bar->renew(monotonic_now_ns());
  fuse_reply_write(request, size);
}

void FuseRequests::on_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                              fuse_file_info* /*file*/) {
  const FuseRequests& self = of(request);
  const TreeNode& folder = self.tree_.at(index_of(inode));
  std::string reply(size, '\0');
  std::size_t used = 0;
  for (auto i = static_cast<std::size_t>(offset); i < folder.children.size(); ++i) {
    const std::size_t child = folder.children[i];
    if (self.is_gone(child)) {
      continue;
    }
    const struct stat attributes = self.attributes(child);
    const std::size_t entry = fuse_add_direntry(request, reply.data() + used, size - used,
                                                self.tree_.at(child).name.c_str(), &attributes,
                                                static_cast<off_t>(i + 1));
    if (entry > size - used) {
      break;
    }
    used += entry;
  }
  fuse_reply_buf(request, reply.data(), used);
}

void FuseRequests::on_ioctl(fuse_req_t request, fuse_ino_t inode, unsigned int command,
                            void* /*argument*/, fuse_file_info* file, unsigned /*flags*/,
                            const void* in, size_t in_size, size_t /*out_size*/) {
  FuseRequests& self = of(request);
  RigDevice& device = self.device_of(index_of(inode));
  const std::span argument(static_cast<const std::byte*>(in), in_size);
  if (is_register_file(self.kind_of(inode))) {
    const int error = device.debugfs.set_state(self.files_.at(file->fh), command, argument);
    if (error != 0) {
      fuse_reply_err(request, error);
    } else {
      fuse_reply_ioctl(request, 0, in, in_size);
    }
    return;
  }
  if (self.kind_of(inode) != NodeKind::kRenderNode) {
    fuse_reply_err(request, ENOTTY);
    return;
  }
  const pid_t pid = fuse_req_ctx(request)->pid;
  device.node.touch();
  if (device.control->hold_reads == 0 || !DrmNode::is_register_read(command, argument)) {
    reply_ioctl(request, device.answer(command, argument, pid));
    return;
  }
  device.held.hold_while(
      device.control->hold_reads, request,
      [&device, request, command, pid, copy = std::vector(argument.begin(), argument.end())] {
        reply_ioctl(request, device.answer(command, copy, pid));
      });
}

void FuseRequests::reply_ioctl(fuse_req_t request, const IoctlAnswer& answer) {
  if (answer.error != 0) {
    fuse_reply_err(request, answer.error);
    return;
  }
  fuse_reply_ioctl(request, 0, answer.result.data(), answer.result.size());
}

}  // namespace gputrace::rig
