// For tests of readers against the rig: the GPU as list_gpus finds it, and one sample of it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/os/gpu_device.h"
#include "daemon/sampler/register_reader.h"
#include "tests/rig/rig.h"

namespace gputrace::rig {

struct Sample {
  std::vector<std::uint32_t> words;
  std::vector<sampler::SampleState> states;
  std::vector<std::uint32_t> cost_ns;
};

inline Sample read_sample(sampler::RegisterReader& reader, std::int64_t now_ns) {
  const std::size_t count = reader.registers().size();
  Sample sample{std::vector<std::uint32_t>(count), std::vector<sampler::SampleState>(count),
                std::vector<std::uint32_t>(count)};
  reader.read(now_ns, {sample.words, sample.states, sample.cost_ns});
  return sample;
}

inline Sample read_sample(sampler::RegisterReader& reader) {
  return read_sample(reader, monotonic_now_ns());
}

/// All states of a sample that has only one.
inline sampler::SampleState state_of(const Sample& sample) {
  REQUIRE_FALSE(sample.states.empty());
  for (const sampler::SampleState state : sample.states) {
    CHECK(state == sample.states.front());
  }
  return sample.states.front();
}

inline std::vector<std::string> names(const sampler::RegisterReader& reader) {
  std::vector<std::string> result;
  for (const sampler::OfferedRegister& offered : reader.registers()) {
    result.push_back(offered.name);
  }
  return result;
}

inline os::SystemRoots roots_of(const Rig& rig) {
  os::SystemRoots roots;
  roots.sys = rig.sys();
  roots.dev = rig.dev();
  return roots;
}

inline os::GpuDevice only_gpu(const Rig& rig) {
  const auto gpus = os::list_gpus(roots_of(rig));
  REQUIRE(gpus.has_value());
  REQUIRE(gpus->size() == 1);
  return gpus->front();
}

}  // namespace gputrace::rig
