#include "tests/rig/debugfs_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "daemon/base/time.h"

namespace gputrace::rig {

namespace {

constexpr std::uint32_t kSetState = 0xc0282000;
constexpr std::uint32_t kSetStateV2 = 0xc02c2001;
constexpr std::size_t kV1Bytes = 40;
constexpr std::uint32_t kAllOnes = 0xffffffff;
constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
constexpr std::size_t kClientNameWidth = 64;  // DRM_CLIENT_NAME_MAX_LEN

std::uint32_t bits(std::uint64_t value, unsigned first, unsigned count) {
  return static_cast<std::uint32_t>((value >> first) & ((std::uint64_t{1} << count) - 1));
}

std::uint32_t bank(std::uint64_t offset, unsigned first) {
  constexpr std::uint32_t kBroadcast = 0x3ff;
  const std::uint32_t value = bits(offset, first, 10);
  return value == kBroadcast ? kAllOnes : value;
}

std::string command_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  return std::getline(file, name) ? name : "<unknown>";
}

std::string client_line(std::string_view command, pid_t process, int minor, int id) {
  return fmt::format("{:>20} {:>5} {:>3}   n    y {:>5} {:>10} {:>{}} {:>20}\n", command, process,
                     minor, 0, 0, "<unset>", kClientNameWidth, id);
}

}  // namespace

struct DebugfsFiles::Request {
  std::uint32_t first_dword = 0;
  bool selects_bank = false;
  std::uint32_t engine = 0;
  std::uint32_t array = 0;
};

int DebugfsFiles::open_error() const {
  return static_cast<int>(control_->debugfs_errno);
}

int DebugfsFiles::request_of(const OpenFile& file, std::size_t size, std::uint64_t offset,
                             Request& request) const {
  if (size % kWordBytes != 0 || offset % kWordBytes != 0) {
    return EINVAL;
  }
  if (file.kind == NodeKind::kRegs2) {
    if (file.regs2.use_srbm != 0 && file.regs2.use_grbm != 0) {
      return EINVAL;
    }
    request = {static_cast<std::uint32_t>(offset) / 4, file.regs2.use_grbm != 0, file.regs2.grbm_se,
               file.regs2.grbm_sh};
  } else {
    const bool use_ring = bits(offset, 61, 1) != 0;
    const bool use_bank = bits(offset, 62, 1) != 0;
    if (use_ring && use_bank) {
      return EINVAL;
    }
    request = {bits(offset, 0, 22) / 4, use_bank, bank(offset, 24), bank(offset, 34)};
  }
  const auto is_outside = [](std::uint32_t value, std::uint32_t count) {
    return value != kAllOnes && value >= count;
  };
  if (request.selects_bank && (is_outside(request.engine, gpu_.shader_engines) ||
                               is_outside(request.array, gpu_.arrays_per_engine))) {
    return EINVAL;
  }
  return 0;
}

RegistersAnswer DebugfsFiles::read(const OpenFile& file, std::size_t size, std::uint64_t offset) {
  if (control_->unplugged != 0) {
    return {EIO, {}};  // debugfs_file_get, fs/debugfs/file.c
  }
  Request request;
  if (const int error = request_of(file, size, offset, request); error != 0) {
    return {error, {}};
  }
  if (control_->suspended.exchange(0) != 0) {  // pm_runtime_get_sync
    ++control_->touched_while_suspended;
  }
  const bool has_power = core_->has_power();
  if (!has_power) {
    ++control_->unguarded_reads;
  }
  const std::int64_t now_ns = monotonic_now_ns();
  RegistersAnswer answer;
  answer.bytes.resize(size);
  for (std::size_t i = 0; i < size / kWordBytes; ++i) {
    const std::uint32_t offset_of_word = request.first_dword + static_cast<std::uint32_t>(i);
    if (control_->privileged_denied_offset == offset_of_word && offset_of_word != 0) {
      return {EPERM, {}};
    }
    const bool is_dead = !has_power || control_->all_ones != 0 || control_->debugfs_all_ones != 0;
    const std::uint32_t word = is_dead ? kAllOnes : core_->word(offset_of_word, now_ns);
    std::memcpy(answer.bytes.data() + i * kWordBytes, &word, sizeof(word));
  }
  ++control_->regs_reads;
  return answer;
}

int DebugfsFiles::set_state(OpenFile& file, std::uint32_t command,
                            std::span<const std::byte> argument) const {
  if (file.kind != NodeKind::kRegs2) {
    return ENOTTY;
  }
  const auto state = std::as_writable_bytes(std::span(&file.regs2, 1));
  if (command == kSetStateV2 && control_->regs2_v1_only == 0 &&
      argument.size() == sizeof(Regs2State)) {
    std::copy(argument.begin(), argument.end(), state.begin());
    return 0;
  }
  if (command == kSetState && argument.size() == kV1Bytes) {
    // The kernel forgets to copy srbm.vmid of this form.
    const std::uint32_t vmid = file.regs2.srbm_vmid;
    std::copy(argument.begin(), argument.end(), state.begin());
    file.regs2.srbm_vmid = vmid;
    file.regs2.xcc_id = 0;
    return 0;
  }
  return EINVAL;
}

std::string DebugfsFiles::clients_text(const OpenFiles& files) const {
  const int primary_minor = 1 + static_cast<int>(index_);
  const int render_minor = 128 + static_cast<int>(index_);
  constexpr pid_t kFirstOther = 4'100'000;  // hardly in use: ids are given out from below
  std::string text =
      fmt::format("{:>20} {:>5} {:>3} master a {:>5} {:>10} {:>{}} {:>20}\n", "command", "tgid",
                  "dev", "uid", "magic", "name", kClientNameWidth, "id");
  int id = 1;
  for (std::uint32_t i = 0; i < control_->other_clients; ++i) {
    text += client_line("game client", kFirstOther + static_cast<pid_t>(i), primary_minor, id++);
  }
  for (const auto& [handle, file] : files.all()) {
    if (file.kind == NodeKind::kRenderNode && file.gpu == index_) {
      text += client_line(command_of(file.process), file.process, render_minor, id++);
    }
  }
  return text;
}

}  // namespace gputrace::rig
