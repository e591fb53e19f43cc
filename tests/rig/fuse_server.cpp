#include "tests/rig/fuse_server.h"

#define FUSE_USE_VERSION 35
#include <fcntl.h>
#include <fuse_log.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "tests/rig/device_tree.h"
#include "tests/rig/drm_node.h"

namespace gputrace::rig {
namespace {

constexpr off_t kSysfsFileSize = 4096;

struct HeldCall {
  fuse_req_t request;
  std::uint32_t command;
  std::vector<std::byte> argument;
  pid_t pid;
};

// libfuse says why a mount failed only through its log. Written in mount(), by one thread.
std::string& mount_log() {
  static std::string log;
  return log;
}

void keep_log(fuse_log_level /*level*/, const char* format, va_list arguments) {
  std::array<char, 512> line{};
  const int size = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (size > 0) {
    mount_log() += line.data();
  }
}

sigset_t stop_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

Status block_stop_signals() {
  const sigset_t signals = stop_signals();
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) {
    return fail_errno(errno, "cannot block the stop signals");
  }
  return {};
}

struct FuseServer::Impl {
  explicit Impl(const ServerOptions& options)
      : tree(options.gpu),
        node(options.gpu, options.drm_minor, options.words, options.control),
        control(options.control),
        wake_fd(options.wake_fd) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (session != nullptr) {
      fuse_session_unmount(session);
      fuse_session_destroy(session);
    }
    std::free(buffer.mem);
  }

  static Impl& of(fuse_req_t request) { return *static_cast<Impl*>(fuse_req_userdata(request)); }
  static std::size_t index_of(fuse_ino_t inode) { return inode - FUSE_ROOT_ID; }

  [[nodiscard]] bool is_gone(std::size_t index) const;
  [[nodiscard]] struct stat attributes(std::size_t index) const;
  [[nodiscard]] std::string text_of(std::size_t index) const;
  void reply_ioctl(fuse_req_t request, std::uint32_t command, std::span<const std::byte> argument,
                   pid_t pid);
  void release_held();

  static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name);
  static void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file);
  static void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* attributes, int to_set,
                         fuse_file_info* file);
  static void on_readlink(fuse_req_t request, fuse_ino_t inode);
  static void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file);
  static void on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                      fuse_file_info* file);
  static void on_write(fuse_req_t request, fuse_ino_t inode, const char* text, size_t size,
                       off_t offset, fuse_file_info* file);
  static void on_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                         fuse_file_info* file);
  static void on_ioctl(fuse_req_t request, fuse_ino_t inode, unsigned int command, void* argument,
                       fuse_file_info* file, unsigned flags, const void* in, size_t in_size,
                       size_t out_size);

  DeviceTree tree;
  DrmNode node;
  std::shared_ptr<RigControl> control;
  int wake_fd;
  fuse_session* session = nullptr;
  fuse_buf buffer{};
  std::vector<HeldCall> held;
};

// An unplugged GPU takes every name under its folders with it.
bool FuseServer::Impl::is_gone(std::size_t index) const {
  if (control->unplugged == 0) {
    return false;
  }
  for (; index != 0; index = tree.at(index).parent) {
    if (tree.at(index).of_device) {
      return true;
    }
  }
  return false;
}

struct stat FuseServer::Impl::attributes(std::size_t index) const {
  struct stat result{};
  result.st_ino = index + FUSE_ROOT_ID;
  result.st_nlink = 1;
  switch (tree.at(index).kind) {
    case NodeKind::kFolder:
      result.st_mode = S_IFDIR | 0755;
      break;
    case NodeKind::kText:
    case NodeKind::kRuntimeStatus:
      result.st_mode = S_IFREG | 0444;
      result.st_size = kSysfsFileSize;
      break;
    case NodeKind::kLink:
      result.st_mode = S_IFLNK | 0777;
      result.st_size = static_cast<off_t>(tree.at(index).text.size());
      break;
    case NodeKind::kRenderNode:
      result.st_mode = S_IFREG | 0666;
      break;
    case NodeKind::kControl:
      result.st_mode = S_IFREG | 0600;
      result.st_size = kSysfsFileSize;
      break;
  }
  result.st_uid = ::getuid();
  result.st_gid = ::getgid();
  return result;
}

std::string FuseServer::Impl::text_of(std::size_t index) const {
  switch (tree.at(index).kind) {
    case NodeKind::kRuntimeStatus:
      return control->suspended != 0 ? "suspended\n" : "active\n";
    case NodeKind::kControl:
      return control_text(*control);
    default:
      return tree.at(index).text;
  }
}

void FuseServer::Impl::on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const Impl& self = of(request);
  const auto index = self.tree.find(index_of(parent), name);
  if (!index || self.is_gone(*index)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry{};
  entry.ino = *index + FUSE_ROOT_ID;
  entry.attr = self.attributes(*index);
  fuse_reply_entry(request, &entry);
}

void FuseServer::Impl::on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* /*file*/) {
  const struct stat result = of(request).attributes(index_of(inode));
  fuse_reply_attr(request, &result, 0);
}

// `echo x > control` truncates first.
void FuseServer::Impl::on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* /*wanted*/,
                                  int to_set, fuse_file_info* file) {
  if (of(request).tree.at(index_of(inode)).kind != NodeKind::kControl ||
      (to_set & ~(FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_CTIME)) != 0) {
    fuse_reply_err(request, EPERM);
    return;
  }
  on_getattr(request, inode, file);
}

void FuseServer::Impl::on_readlink(fuse_req_t request, fuse_ino_t inode) {
  fuse_reply_readlink(request, of(request).tree.at(index_of(inode)).text.c_str());
}

void FuseServer::Impl::on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
  Impl& self = of(request);
  const NodeKind kind = self.tree.at(index_of(inode)).kind;
  const bool read_only = (file->flags & O_ACCMODE) == O_RDONLY;
  int error = 0;
  if (kind == NodeKind::kRenderNode) {
    error = self.node.open_error();
  } else if (kind != NodeKind::kControl && !read_only) {
    error = EACCES;
  }
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  file->direct_io = 1;
  fuse_reply_open(request, file);
}

void FuseServer::Impl::on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                               fuse_file_info* /*file*/) {
  const Impl& self = of(request);
  if (self.tree.at(index_of(inode)).kind == NodeKind::kRenderNode) {
    fuse_reply_err(request, EINVAL);
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

void FuseServer::Impl::on_write(fuse_req_t request, fuse_ino_t inode, const char* text, size_t size,
                                off_t /*offset*/, fuse_file_info* /*file*/) {
  Impl& self = of(request);
  if (self.tree.at(index_of(inode)).kind != NodeKind::kControl ||
      !apply_control_text(*self.control, {text, size})) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  fuse_reply_write(request, size);
  self.release_held();
}

void FuseServer::Impl::on_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                                  fuse_file_info* /*file*/) {
  const Impl& self = of(request);
  const TreeNode& folder = self.tree.at(index_of(inode));
  std::string reply(size, '\0');
  std::size_t used = 0;
  for (auto i = static_cast<std::size_t>(offset); i < folder.children.size(); ++i) {
    const std::size_t child = folder.children[i];
    if (self.is_gone(child)) {
      continue;
    }
    const struct stat attributes = self.attributes(child);
    const std::size_t entry =
        fuse_add_direntry(request, reply.data() + used, size - used,
                          self.tree.at(child).name.c_str(), &attributes, static_cast<off_t>(i + 1));
    if (entry > size - used) {
      break;
    }
    used += entry;
  }
  fuse_reply_buf(request, reply.data(), used);
}

void FuseServer::Impl::on_ioctl(fuse_req_t request, fuse_ino_t inode, unsigned int command,
                                void* /*argument*/, fuse_file_info* /*file*/, unsigned /*flags*/,
                                const void* in, size_t in_size, size_t /*out_size*/) {
  Impl& self = of(request);
  if (self.tree.at(index_of(inode)).kind != NodeKind::kRenderNode) {
    fuse_reply_err(request, ENOTTY);
    return;
  }
  const std::span argument(static_cast<const std::byte*>(in), in_size);
  const pid_t pid = fuse_req_ctx(request)->pid;
  self.node.touch();
  if (!self.node.is_held(command, argument)) {
    self.reply_ioctl(request, command, argument, pid);
    return;
  }
  self.held.push_back({request, command, {argument.begin(), argument.end()}, pid});
  self.control->held = self.held.size();
  ::sem_post(&self.control->read_is_held);
}

void FuseServer::Impl::reply_ioctl(fuse_req_t request, std::uint32_t command,
                                   std::span<const std::byte> argument, pid_t pid) {
  const IoctlAnswer answer = node.answer(command, argument, pid);
  if (answer.error != 0) {
    fuse_reply_err(request, answer.error);
    return;
  }
  fuse_reply_ioctl(request, 0, answer.result.data(), answer.result.size());
}

void FuseServer::Impl::release_held() {
  if (control->hold_reads != 0) {
    return;
  }
  for (const HeldCall& call : std::exchange(held, {})) {
    reply_ioctl(call.request, call.command, call.argument, call.pid);
  }
  control->held = 0;
}

FuseServer::FuseServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FuseServer::FuseServer(FuseServer&&) noexcept = default;
FuseServer& FuseServer::operator=(FuseServer&&) noexcept = default;
FuseServer::~FuseServer() = default;

Result<FuseServer> FuseServer::mount(const ServerOptions& options) {
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    return fail_errno(errno, "the rig needs /dev/fuse");
  }
  // allow_other, so that a program that gave up root still sees the GPU; only root may ask for it.
  std::string mount_options = "fsname=gputrace-rig,subtype=gputrace-rig,default_permissions";
  if (::geteuid() == 0) {
    mount_options += ",allow_other";
  }
  std::array<std::string, 3> words{"gputrace-rig", "-o", mount_options};
  std::array<char*, 3> pointers{words[0].data(), words[1].data(), words[2].data()};
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());

  fuse_lowlevel_ops operations{};
  operations.lookup = Impl::on_lookup;
  operations.getattr = Impl::on_getattr;
  operations.setattr = Impl::on_setattr;
  operations.readlink = Impl::on_readlink;
  operations.open = Impl::on_open;
  operations.read = Impl::on_read;
  operations.write = Impl::on_write;
  operations.readdir = Impl::on_readdir;
  operations.ioctl = Impl::on_ioctl;

  auto impl = std::make_unique<Impl>(options);
  mount_log().clear();
  fuse_set_log_func(keep_log);
  impl->session = fuse_session_new(&arguments, &operations, sizeof(operations), impl.get());
  fuse_opt_free_args(&arguments);
  const bool mounted = impl->session != nullptr &&
                       fuse_session_mount(impl->session, options.mount_point.c_str()) == 0;
  fuse_set_log_func(nullptr);
  if (!mounted) {
    return fail(ErrorCode::kUnsupported,
                "cannot mount the rig at " + options.mount_point.string() + ": " + mount_log());
  }
  return FuseServer(std::move(impl));
}

Status FuseServer::run() {
  const sigset_t signals = stop_signals();
  const UniqueFd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  const int fuse_fd = fuse_session_fd(impl_->session);
  if (!signal_fd || ::fcntl(fuse_fd, F_SETFL, O_NONBLOCK) != 0) {
    return fail_errno(errno, "cannot set up the rig's loop");
  }
  std::array<pollfd, 3> wait{
      {{fuse_fd, POLLIN, 0}, {signal_fd.get(), POLLIN, 0}, {impl_->wake_fd, POLLIN, 0}}};
  while (fuse_session_exited(impl_->session) == 0) {
    if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) {
      return fail_errno(errno, "poll in the rig's loop");
    }
    if ((wait[1].revents & POLLIN) != 0) {
      break;
    }
    if ((wait[2].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      if (::read(impl_->wake_fd, &count, sizeof(count)) == static_cast<ssize_t>(sizeof(count))) {
        impl_->release_held();
      }
    }
    if (wait[0].revents == 0) {
      continue;
    }
    const int size = fuse_session_receive_buf(impl_->session, &impl_->buffer);
    if (size > 0) {
      fuse_session_process_buf(impl_->session, &impl_->buffer);
    } else if (size == 0 || (size != -EAGAIN && size != -EINTR)) {
      break;
    }
  }
  for (const HeldCall& call : std::exchange(impl_->held, {})) {
    fuse_reply_err(call.request, ENODEV);
  }
  return {};
}

}  // namespace gputrace::rig
