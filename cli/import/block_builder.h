// Cuts a stream of imported samples into blocks of one second.
#pragma once

#include <cstdint>
#include <span>

#include "cli/import/session_sink.h"

namespace gputrace::import {

class BlockBuilder {
 public:
  /// Blocks begin at whole seconds after `first_ns`, the time of the first sample.
  BlockBuilder(SessionSink& sink, std::size_t register_count, std::int64_t first_ns);

  /// A sample later than all before it. `words` and `states` have an entry a register.
  Status add(std::int64_t time_ns, std::span<const std::uint32_t> words,
             std::span<const sampler::SampleState> states);
  /// The last block; it ends at `end_ns`.
  Status finish(std::int64_t end_ns);

 private:
  Status write(std::int64_t end_ns);

  SessionSink& sink_;
  sampler::SampleBlock block_;
  std::int64_t limit_ns_;
};

}  // namespace gputrace::import
