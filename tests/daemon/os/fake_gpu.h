// A render node and a privileged path on one clock, for tests of the guard between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/os/guarded_reader.h"

namespace gputrace::test {

/// The words are the offsets. Each call takes its time on the clock.
struct FakeGpu {
  std::int64_t now_ns = 100 * kNsPerSecond;
  std::vector<std::string> calls;  ///< "ioctl 2004+3", "read 2007+1", "power"

  int ioctl_errno = 0;
  std::map<std::uint32_t, int> ioctl_errors;  ///< by first offset
  bool ioctl_all_ones = false;
  std::int64_t ioctl_takes_ns = 1500;

  os::PowerState power = os::PowerState::kActive;
  bool node_asleep = false;
  std::int64_t power_takes_ns = 0;

  int read_errno = 0;
  std::map<std::uint32_t, std::uint32_t> read_words;  ///< instead of the offset
  std::int64_t read_takes_ns = 900;

  [[nodiscard]] std::size_t reads() const {
    return static_cast<std::size_t>(std::count_if(
        calls.begin(), calls.end(), [](const auto& call) { return call.starts_with("read"); }));
  }

  void note(const char* what, std::uint32_t offset, std::size_t count) {
    std::string text(what);
    text += ' ';
    for (int shift = 12; shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[(offset >> static_cast<unsigned>(shift)) & 15U];
    }
    calls.push_back(text + "+" + std::to_string(count));
  }

  std::unique_ptr<os::RenderNodeReader> node(std::vector<sampler::OfferedRegister> registers) {
    os::RenderNodeAccess access;
    access.read_registers = [this](std::uint32_t offset, std::span<std::uint32_t> words) {
      note("ioctl", offset, words.size());
      now_ns += ioctl_takes_ns;
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] =
            ioctl_all_ones ? 0xffffffffU : 0xab000000U + offset + static_cast<std::uint32_t>(i);
      }
      const auto error = ioctl_errors.find(offset);
      return error == ioctl_errors.end() ? ioctl_errno : error->second;
    };
    access.is_asleep = [this] { return node_asleep; };
    access.now_ns = [this] { return now_ns; };
    access.node = "/dev/dri/renderD128";
    return std::make_unique<os::RenderNodeReader>(std::move(registers), std::move(access));
  }

  os::GuardAccess guard() {
    return {[this] {
              calls.emplace_back("power");
              now_ns += power_takes_ns;
              return power;
            },
            [this] { return now_ns; }};
  }

  class Privileged final : public os::PrivilegedRegisters {
   public:
    explicit Privileged(FakeGpu& gpu) : gpu_(gpu) {}
    [[nodiscard]] int read(std::uint32_t offset, std::span<std::uint32_t> words) noexcept override {
      gpu_.note("read", offset, words.size());
      gpu_.now_ns += gpu_.read_takes_ns;
      for (std::size_t i = 0; i < words.size(); ++i) {
        const auto reg = offset + static_cast<std::uint32_t>(i);
        const auto word = gpu_.read_words.find(reg);
        words[i] = word == gpu_.read_words.end() ? 0xcd000000U + reg : word->second;
      }
      return gpu_.read_errno;
    }
    [[nodiscard]] const std::string& path() const noexcept override { return path_; }

   private:
    FakeGpu& gpu_;
    std::string path_ = "/debug/amdgpu_regs2";
  };

  std::unique_ptr<os::GuardedWords> words(std::vector<sampler::OfferedRegister> registers) {
    return std::make_unique<os::GuardedWords>(std::move(registers),
                                              std::make_unique<Privileged>(*this), guard());
  }
};

struct Sample {
  std::vector<std::uint32_t> words;
  std::vector<sampler::SampleState> states;
  std::vector<std::uint32_t> cost_ns;

  explicit Sample(std::size_t count) : words(count, 7), states(count), cost_ns(count, 99) {}
};

inline Sample read_once(sampler::RegisterReader& reader, FakeGpu& gpu,
                        std::int64_t after_ns = kNsPerMs) {
  gpu.now_ns += after_ns;
  Sample sample(reader.registers().size());
  reader.read(gpu.now_ns, {sample.words, sample.states, sample.cost_ns});
  return sample;
}

}  // namespace gputrace::test
