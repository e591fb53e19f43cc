// Builds session files for tests: words from a function of tick and register, one random-looking
// but seeded instant per period. Link gputrace_store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/session_writer.h"

namespace gputrace::test {

struct SessionRecipe {
  std::vector<std::string> registers{"GRBM_STATUS"};
  double rate_hz = 1000;
  double seconds = 2;
  std::int64_t start_ns = 1'000'000'000'000;
  std::int64_t start_realtime_ns = 1'790'000'000'000'000'000;
  std::string gc = "11.0.1";
  std::string regdb_table = "11.0.0";
  std::string gpu_name = "AMD Radeon 780M";
  bool simulated = true;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;
  std::optional<int> exit_code = 0;
  bool finish = true;  ///< false: the file stays as a cut session
  std::uint64_t seed = 1;
  /// The word of a register in a tick; the default alternates all bits in runs of four ticks.
  std::function<std::uint32_t(std::size_t reg, std::size_t tick)> word =
      [](std::size_t, std::size_t tick) { return tick / 4 % 2 == 0 ? 0x3028U : 0xA0003028U; };
  std::function<sampler::SampleState(std::size_t reg, std::size_t tick)> state =
      [](std::size_t, std::size_t) { return sampler::SampleState::kValid; };
};

inline store::SegmentDescription segment_of(const SessionRecipe& recipe) {
  store::SegmentDescription segment;
  segment.gpu.name = recipe.gpu_name;
  const Result<regdb::GcVersion> gc = regdb::parse_gc_version(recipe.gc);
  GPUTRACE_CHECK(gc.has_value());
  segment.gpu.gc = *gc;
  segment.gpu.driver = "amdgpu 3.57.0";
  segment.gpu.simulated = recipe.simulated;
  segment.gpu.scenario = recipe.simulated ? "demo" : "";
  segment.start_ns = recipe.start_ns;
  segment.rate_hz = recipe.rate_hz;
  segment.regdb_table = recipe.regdb_table;
  segment.regdb_revision = "test";
  std::uint32_t offset = 0x2000;
  for (const std::string& name : recipe.registers) {
    segment.registers.push_back({name, offset++, recipe.simulated ? "simulated" : "drm ioctl"});
  }
  segment.reason = "start";
  return segment;
}

/// The ticks of [first, last) as one block. Time stamps are whole microseconds, as stored.
inline sampler::SampleBlock block_of(const SessionRecipe& recipe, std::size_t first,
                                     std::size_t last) {
  const double period_ns = 1e9 / recipe.rate_hz;
  const auto start_of = [&](std::size_t tick) {
    return recipe.start_ns + static_cast<std::int64_t>(static_cast<double>(tick) * period_ns);
  };
  sampler::SampleBlock block(recipe.registers.size(), last - first + 1);
  block.register_count = recipe.registers.size();
  block.size = last - first;
  block.start_ns = start_of(first);
  block.end_ns = start_of(last);
  block.totals.ticks = last;
  std::mt19937_64 random(recipe.seed * 1'000'003 + first);
  for (std::size_t i = 0; i < block.size; ++i) {
    const auto offset_us = random() % static_cast<std::uint64_t>(period_ns / 1000);
    const std::int64_t since = start_of(first + i) - recipe.start_ns;
    block.time_ns[i] =
        recipe.start_ns + (since / 1000 + static_cast<std::int64_t>(offset_us)) * 1000;
    for (std::size_t r = 0; r < block.register_count; ++r) {
      const sampler::SampleState state = recipe.state(r, first + i);
      const bool valid = state == sampler::SampleState::kValid;
      block.states[r * block.capacity + i] = state;
      block.words[r * block.capacity + i] = valid ? recipe.word(r, first + i) : 0;
    }
  }
  return block;
}

/// Writes a whole session and returns what the first failing step says.
inline Status make_session(const std::filesystem::path& path, const SessionRecipe& recipe) {
  store::SessionDescription description;
  description.label = recipe.label;
  description.command = recipe.command;
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, recipe.start_realtime_ns};
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(path, store::OnExisting::kReplace, description);
  if (!writer) {
    return tl::unexpected<Error>(writer.error());
  }
  Status status = writer->begin_segment(segment_of(recipe));
  const auto ticks = static_cast<std::size_t>(recipe.seconds * recipe.rate_hz);
  const auto per_block = static_cast<std::size_t>(std::max(1.0, recipe.rate_hz));
  for (std::size_t first = 0; status && first < ticks; first += per_block) {
    status = writer->write_block(block_of(recipe, first, std::min(ticks, first + per_block)));
    if (status) {
      status = writer->commit();
    }
  }
  if (status && recipe.finish) {
    const std::int64_t end_ns = recipe.start_ns + static_cast<std::int64_t>(recipe.seconds * 1e9);
    const auto finished = writer->finish({end_ns, recipe.exit_code, std::nullopt});
    if (!finished) {
      return tl::unexpected<Error>(finished.error());
    }
  }
  return status;
}

}  // namespace gputrace::test
