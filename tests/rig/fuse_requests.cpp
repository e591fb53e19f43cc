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
      break;
  }
  return S_IFREG | 0444;
}

}  // namespace

Result<std::unique_ptr<FuseRequests>> FuseRequests::make(const ServerOptions& options) {
  auto core = std::make_shared<GraphicsCore>(options.words, options.control);
  auto bar = BarFile::make(options.gpu, core, options.control);
  if (!bar) {
    return tl::unexpected(bar.error());
  }
  return std::unique_ptr<FuseRequests>(new FuseRequests(options, std::move(core), std::move(*bar)));
}

FuseRequests::FuseRequests(const ServerOptions& options, std::shared_ptr<GraphicsCore> core,
                           std::unique_ptr<BarFile> bar)
    : tree_(options.gpu),
      control_(options.control),
      core_(std::move(core)),
      node_(options.gpu, options.drm_minor, core_, control_),
      debugfs_(options.gpu, core_, control_),
      bar_(std::move(bar)),
      held_(control_) {}

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

void FuseRequests::idle(std::int64_t now_ns) {
  if (core_->end_power_if_due(now_ns)) {
    bar_->renew(now_ns);
    control_->guarded = 0;
    ++control_->power_downs;
    ::sem_post(&control_->power_is_down);
  }
}

std::optional<std::int64_t> FuseRequests::next_due_ns() const {
  const auto power = core_->power_ends_ns();
  const auto held = held_.next_due_ns();
  return power && held ? std::min(power, held) : power ? power : held;
}

// An unplugged GPU takes every name under its folders with it.
bool FuseRequests::is_gone(std::size_t index) const {
  if (tree_.at(index).kind == NodeKind::kRegs2 && control_->no_regs2 != 0) {
    return true;
  }
  if (control_->unplugged == 0) {
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
  const auto error = static_cast<int>(control_->debugfs_errno);
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
  switch (tree_.at(index).kind) {
    case NodeKind::kRuntimeStatus:
      return control_->suspended != 0 ? "suspended\n" : "active\n";
    case NodeKind::kPowerControl:
      return control_->power_auto != 0 ? "auto\n" : "on\n";
    case NodeKind::kClients:
      return debugfs_.clients_text(files_);
    case NodeKind::kControl:
      return control_text(*control_);
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
    const std::string& path = self.bar_->path_for_client();
    self.bar_->renew(monotonic_now_ns());
    fuse_reply_readlink(request, path.c_str());
    return;
  }
  fuse_reply_readlink(request, self.tree_.at(index_of(inode)).text.c_str());
}

int FuseRequests::open_error(fuse_ino_t inode, bool read_only) {
  const NodeKind kind = kind_of(inode);
  if (kind == NodeKind::kRenderNode) {
    return node_.open_error();
  }
  if (kind == NodeKind::kControl) {
    return 0;
  }
  if (tree_.is_in_debugfs(index_of(inode)) && !read_only) {
    ++control_->writes_attempted;  // root passes the mode of the file
  }
  if (is_register_file(kind)) {
    return debugfs_.open_error();
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
  if (kind == NodeKind::kRenderNode || is_register_file(kind)) {
    file->fh = self.files_.add({kind, process_of_thread(fuse_req_ctx(request)->pid), {}});
  }
  file->direct_io = 1;
  if (fuse_reply_open(request, file) != 0) {  // interrupted: there will be no release
    self.files_.remove(file->fh);
  }
}

void FuseRequests::on_release(fuse_req_t request, fuse_ino_t /*inode*/, fuse_file_info* file) {
  of(request).files_.remove(file->fh);
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
  if (is_register_file(kind)) {
    self.start_read(request, {file->fh, size, static_cast<std::uint64_t>(offset)});
    return;
  }
  if (self.is_gone(index_of(inode))) {
    fuse_reply_err(request, ENODEV);
    return;
  }
  const std::string text = self.text_of(index_of(inode));
  const std::size_t start = std::min(text.size(), static_cast<std::size_t>(offset));
  fuse_reply_buf(request, text.data() + start, std::min(size, text.size() - start));
}

void FuseRequests::start_read(fuse_req_t request, const PrivilegedRead& read) {
  auto answer = [this, request, read] { reply_read(request, read); };
  if (control_->hold_privileged_reads != 0) {
    held_.hold_while(control_->hold_privileged_reads, request, std::move(answer));
  } else if (const std::int64_t late_ms = control_->late_privileged_read; late_ms != 0) {
    held_.delay_until(monotonic_now_ns() + late_ms * kNsPerMs, request, std::move(answer));
  } else {
    answer();
  }
}

void FuseRequests::reply_read(fuse_req_t request, const PrivilegedRead& read) {
  const RegistersAnswer answer = debugfs_.read(files_.at(read.handle), read.size, read.offset);
  if (answer.error != 0) {
    fuse_reply_err(request, answer.error);
    return;
  }
  fuse_reply_buf(request, reinterpret_cast<const char*>(answer.bytes.data()), answer.bytes.size());
}

void FuseRequests::on_write(fuse_req_t request, fuse_ino_t inode, const char* text, size_t size,
                            off_t /*offset*/, fuse_file_info* /*file*/) {
  FuseRequests& self = of(request);
  if (is_register_file(self.kind_of(inode))) {
    ++self.control_->writes_attempted;
    fuse_reply_err(request, EPERM);
    return;
  }
  if (self.kind_of(inode) != NodeKind::kControl ||
      !apply_control_text(*self.control_, {text, size})) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  self.bar_->renew(monotonic_now_ns());
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
  const std::span argument(static_cast<const std::byte*>(in), in_size);
  if (is_register_file(self.kind_of(inode))) {
    const int error = self.debugfs_.set_state(self.files_.at(file->fh), command, argument);
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
  self.node_.touch();
  if (self.control_->hold_reads == 0 || !DrmNode::is_register_read(command, argument)) {
    self.reply_ioctl(request, command, argument, pid);
    return;
  }
  self.held_.hold_while(
      self.control_->hold_reads, request,
      [&self, request, command, pid, copy = std::vector(argument.begin(), argument.end())] {
        self.reply_ioctl(request, command, copy, pid);
      });
}

void FuseRequests::reply_ioctl(fuse_req_t request, std::uint32_t command,
                               std::span<const std::byte> argument, pid_t pid) {
  const IoctlAnswer answer = node_.answer(command, argument, pid);
  if (DrmNode::is_register_read(command, argument)) {
    // Before the answer, so that the BAR is never behind what the caller has just read.
    bar_->renew(core_->last_guarded_read_ns());
  }
  if (answer.error != 0) {
    fuse_reply_err(request, answer.error);
    return;
  }
  fuse_reply_ioctl(request, 0, answer.result.data(), answer.result.size());
}

}  // namespace gputrace::rig
