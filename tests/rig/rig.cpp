#include "tests/rig/rig.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

#include "tests/rig/fuse_server.h"

namespace gputrace::rig {
namespace {

void report(int fd, char code, const std::string& message) {
  const std::string text = code + message;
  (void)!::write(fd, text.data(), text.size());
}

// The child: never returns into the test.
[[noreturn]] void serve(const ServerOptions& options, pid_t parent, UniqueFd ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::prctl(PR_SET_NAME, "gputrace-rig");
  Status status = block_stop_signals();
  if (::getppid() != parent || !status) {
    ::_exit(1);
  }
  {
    Result<FuseServer> server = FuseServer::mount(options);
    if (!server) {
      report(ready.get(), static_cast<char>('0' + static_cast<int>(server.error().code)),
             server.error().message);
      ::_exit(1);
    }
    report(ready.get(), 'R', "");
    ready.reset();
    status = server->run();
  }
  ::_exit(status ? 0 : 1);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 512> part{};
  while (true) {
    const ssize_t size = ::read(fd, part.data(), part.size());
    if (size > 0) {
      text.append(part.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || errno != EINTR) {
      return text;
    }
  }
}

bool wait_for(sem_t& semaphore, std::chrono::seconds timeout) {
  timespec deadline{};
  ::clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += timeout.count();
  while (::sem_timedwait(&semaphore, &deadline) != 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void wait_for_exit(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

namespace {

Result<std::vector<DeviceOptions>> devices_of(RigOptions options,
                                              std::shared_ptr<RigControl> control,
                                              std::shared_ptr<RigControl> second_control) {
  if (!options.sensors) {
    const auto sensors = idle_sensors(options.gpu);
    if (!sensors) {
      return tl::unexpected(sensors.error());
    }
    options.sensors = *sensors;
  }
  std::vector<DeviceOptions> gpus{
      {options.gpu, options.words, std::move(options.sensors), std::move(control)}};
  if (options.second_gpu) {
    const auto sensors = idle_sensors(*options.second_gpu);
    if (!sensors) {
      return tl::unexpected(sensors.error());
    }
    gpus.push_back(
        {*options.second_gpu, std::move(options.words), *sensors, std::move(second_control)});
  }
  return gpus;
}

}  // namespace

Result<std::unique_ptr<Rig>> Rig::start(const RigOptions& options) {
  auto control = make_shared_control();
  auto second_control = make_shared_control();
  if (!control || !second_control) {
    return tl::unexpected(control ? second_control.error() : control.error());
  }
  auto gpus = devices_of(options, *control, *second_control);
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::array<int, 2> ends{-1, -1};
  if (!wake || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno(errno, "cannot start the rig");
  }
  UniqueFd ready_read(ends[0]);
  UniqueFd ready_write(ends[1]);
  std::unique_ptr<Rig> rig(new Rig(*control, *second_control, std::move(wake)));

  ServerOptions server;
  server.gpus = std::move(*gpus);
  server.drm_minor = options.drm_minor;
  server.mount_point = rig->root();
  server.wake_fd = rig->wake_.get();
  const pid_t parent = ::getpid();
  rig->server_ = ::fork();
  if (rig->server_ < 0) {
    return fail_errno(errno, "cannot start the rig's server");
  }
  if (rig->server_ == 0) {
    ready_read.reset();
    serve(server, parent, std::move(ready_write));
  }
  // Where Yama restricts ptrace, a sibling may write into this process only by name.
  ::prctl(PR_SET_PTRACER, rig->server_, 0, 0, 0);
  ready_write.reset();
  const std::string word = read_to_end(ready_read.get());
  if (word == "R") {
    rig->mounted_ = true;
    return rig;
  }
  wait_for_exit(std::exchange(rig->server_, -1));
  if (word.empty()) {
    return fail(ErrorCode::kIo, "the rig's server ended before it was ready");
  }
  return fail(static_cast<ErrorCode>(word.front() - '0'), word.substr(1));
}

Rig::~Rig() {
  if (mounted_) {
    unmount();
  }
  kill_server();
}

// Lazy: a test that failed may still hold the node open.
void Rig::unmount() const {
  if (::umount2(root().c_str(), MNT_DETACH) == 0) {
    return;
  }
  std::array<std::string, 4> words{"fusermount3", "-u", "-z", root().string()};
  std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                 nullptr};
  pid_t pid = -1;
  if (::posix_spawnp(&pid, "fusermount3", nullptr, nullptr, arguments.data(), environ) == 0) {
    wait_for_exit(pid);
  }
}

bool Rig::wait_for_held_read(std::chrono::seconds timeout) {
  return wait_for(control_->read_is_held, timeout);
}

bool Rig::wait_for_power_down(std::chrono::seconds timeout) {
  while (control_->guarded != 0) {  // the semaphore may be posted from earlier times
    if (!wait_for(control_->power_is_down, timeout)) {
      return false;
    }
  }
  return true;
}

void Rig::release_reads() {
  control_->hold_reads = 0;
  control_->hold_privileged_reads = 0;
  control_->hold_sensors = 0;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

void Rig::kill_server() {
  if (server_ > 0) {
    ::kill(server_, SIGKILL);
    wait_for_exit(std::exchange(server_, -1));
  }
}

}  // namespace gputrace::rig
