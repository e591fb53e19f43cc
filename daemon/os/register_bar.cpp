#include "daemon/os/register_bar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <string>
#include <utility>

#include "daemon/base/mapped_region.h"
#include "daemon/base/unique_fd.h"

extern "C" {
#include <pci/pci.h>
}

namespace gputrace::os {

namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint32_t);

// libpci reports failures to a function that must not return, and has no other way.
thread_local std::jmp_buf pci_failed;
// For clang only this form of the attribute is a part of the type.
void leave_libpci(char* message, ...) __attribute__((noreturn));
void leave_libpci(char* /*message*/, ...) {
  std::longjmp(pci_failed, 1);
}
void say_nothing(char* /*message*/, ...) {}

/// In memory of the caller: what is set before a longjmp is then still known.
struct PciQuery {
  pci_access* access = nullptr;
  pci_dev* device = nullptr;
  std::string devices;  ///< path of bus/pci
  std::string address;
  int known = 0;
};

/// No object with a destructor may be made here.
bool ask_libpci(PciQuery& query) {
  if (setjmp(pci_failed) != 0) {
    return false;
  }
  query.access->error = leave_libpci;
  query.access->warning = say_nothing;
  query.access->debug = say_nothing;
  query.access->method = PCI_ACCESS_SYS_BUS_PCI;
  static char parameter[] = "sysfs.path";
  if (pci_set_param(query.access, parameter, query.devices.data()) != 0) {
    return false;
  }
  pci_init(query.access);
  pci_filter filter{};
  pci_filter_init(query.access, &filter);
  if (pci_filter_parse_slot(&filter, query.address.data()) != nullptr) {
    return false;
  }
  query.device = pci_get_dev(query.access, filter.domain, filter.bus, filter.slot, filter.func);
  query.known = pci_fill_info(query.device, PCI_FILL_BASES | PCI_FILL_SIZES);
  return true;
}

// After an unplug the kernel takes the mapping's pages away (kernfs_drain, fs/kernfs/dir.c). The
// ioctl before each read says so first, but the GPU may go between the two: the load then raises
// SIGBUS, which would end the process and with it the last seconds of a recording.
thread_local sigjmp_buf load_failed;
thread_local volatile std::sig_atomic_t loading = 0;
struct sigaction previous_action;

void on_bus_error(int signal_number, siginfo_t* /*info*/, void* context) {
  if (loading != 0) {
    loading = 0;
    // Not by sigsetjmp(): saving the mask would cost every read a system call.
    ::pthread_sigmask(SIG_SETMASK, &static_cast<const ucontext_t*>(context)->uc_sigmask, nullptr);
    ::siglongjmp(load_failed, 1);
  }
  // Not ours: as if this handler were not there.
  ::sigaction(SIGBUS, &previous_action, nullptr);
  static_cast<void>(std::raise(signal_number));
}

void catch_bus_errors() {
  static const bool kDone = [] {
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGBUS, &action, &previous_action) == 0;
  }();
  GPUTRACE_CHECK(kDone);
}

int load_words(const volatile std::uint32_t* from, std::uint32_t* to, std::size_t count) noexcept {
  if (sigsetjmp(load_failed, 0) != 0) {
    return ENODEV;
  }
  loading = 1;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = from[i];
  }
  loading = 0;
  return 0;
}

class RegisterBar final : public PrivilegedRegisters {
 public:
  RegisterBar(MappedRegion region, std::uint64_t first_byte, std::string path)
      : region_(std::move(region)), first_byte_(first_byte), path_(std::move(path)) {}

  [[nodiscard]] int read(std::uint32_t first_dword_offset,
                         std::span<std::uint32_t> words) noexcept override {
    const std::uint64_t address = first_dword_offset * kWordBytes;
    if (address < first_byte_ ||
        address + words.size_bytes() > first_byte_ + region_.bytes().size()) {
      return EINVAL;
    }
    const std::byte* from = region_.bytes().data() + (address - first_byte_);
    // The bus knows no byte reads of registers: whole aligned words, each once.
    return load_words(reinterpret_cast<const volatile std::uint32_t*>(from), words.data(),
                      words.size());
  }
  [[nodiscard]] const std::string& path() const noexcept override { return path_; }

 private:
  MappedRegion region_;
  std::uint64_t first_byte_;
  std::string path_;
};

}  // namespace

int register_bar_number(regdb::GcVersion gc) {
  return gc.major == 6 ? 2 : 5;
}

Result<std::uint64_t> bar_size(const GpuDevice& gpu, int bar, const SystemRoots& roots) {
  const std::filesystem::path pci = roots.sys / "bus/pci";
  PciQuery query{.devices = pci.string(), .address = gpu.identity.pci};
  query.access = pci_alloc();
  const bool answered = ask_libpci(query);
  std::uint64_t size = 0;
  if (answered && (query.known & PCI_FILL_SIZES) != 0 &&
      (query.device->base_addr[bar] & PCI_BASE_ADDRESS_SPACE) == PCI_BASE_ADDRESS_SPACE_MEMORY) {
    size = query.device->size[bar];
  }
  if (query.device != nullptr) {
    pci_free_dev(query.device);
  }
  pci_cleanup(query.access);
  if (!answered) {
    return fail(ErrorCode::kNotFound, fmt::format("libpci finds no resources of {} under {}",
                                                  gpu.identity.pci, pci.string()));
  }
  if (size == 0) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR {} for registers according to {}",
                                                  gpu.identity.pci, bar, pci.string()));
  }
  return size;
}

Result<std::unique_ptr<PrivilegedRegisters>> open_register_bar(
    const GpuDevice& gpu, regdb::GcVersion gc, std::span<const sampler::OfferedRegister> registers,
    const SystemRoots& roots) {
  GPUTRACE_CHECK(!registers.empty());
  const auto [low, high] = std::minmax_element(
      registers.begin(), registers.end(),
      [](const auto& one, const auto& two) { return one.dword_offset < two.dword_offset; });
  const std::uint64_t first = low->dword_offset * kWordBytes;
  const std::uint64_t end = (high->dword_offset + 1) * kWordBytes;
  const int bar = register_bar_number(gc);
  const Result<std::uint64_t> size = bar_size(gpu, bar, roots);
  if (!size) {
    return tl::unexpected(size.error());
  }
  const std::filesystem::path file = gpu.device_dir / fmt::format("resource{}", bar);
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return fail_errno(errno, "cannot open " + file.string());
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot stat " + file.string());
  }
  const std::uint64_t readable = std::min(*size, static_cast<std::uint64_t>(info.st_size));
  if (readable < end) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} has {} bytes, and {} lies at {:#x}: this is not the register BAR",
                            file.string(), readable, high->name, high->dword_offset * kWordBytes));
  }
  Result<MappedRegion> region =
      MappedRegion::map(fd.get(), first, static_cast<std::size_t>(end - first), file.string());
  if (!region) {
    return tl::unexpected(region.error());
  }
  catch_bus_errors();
  return std::make_unique<RegisterBar>(std::move(*region), first, file.string());
}

}  // namespace gputrace::os
