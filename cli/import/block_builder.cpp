#include "cli/import/block_builder.h"

#include "daemon/base/time.h"

namespace gputrace::import {

namespace {
/// A second at gputrace's own highest rate; a denser file gets shorter blocks.
constexpr std::size_t kTicksPerBlock = 20'480;
}  // namespace

BlockBuilder::BlockBuilder(SessionSink& sink, std::size_t register_count, std::int64_t first_ns)
    : sink_(sink), block_(register_count, kTicksPerBlock), limit_ns_(first_ns + kNsPerSecond) {
  block_.register_count = register_count;
  block_.start_ns = first_ns;
}

Status BlockBuilder::add(std::int64_t time_ns, std::span<const std::uint32_t> words,
                         std::span<const sampler::SampleState> states) {
  if (time_ns >= limit_ns_) {
    if (const Status written = write(limit_ns_); !written) {
      return written;
    }
    limit_ns_ += (time_ns - limit_ns_) / kNsPerSecond * kNsPerSecond + kNsPerSecond;
    block_.start_ns = limit_ns_ - kNsPerSecond;
  } else if (block_.size == block_.capacity) {
    if (const Status written = write(time_ns); !written) {
      return written;
    }
    block_.start_ns = time_ns;
  }
  const std::size_t tick = block_.size++;
  block_.time_ns[tick] = time_ns;
  for (std::size_t reg = 0; reg < words.size(); ++reg) {
    block_.words[reg * block_.capacity + tick] = words[reg];
    block_.states[reg * block_.capacity + tick] = states[reg];
  }
  ++block_.totals.ticks;
  return {};
}

Status BlockBuilder::finish(std::int64_t end_ns) {
  return write(end_ns);
}

Status BlockBuilder::write(std::int64_t end_ns) {
  block_.end_ns = end_ns;
  const Status written = sink_.add_block(block_);
  block_.size = 0;
  return written;
}

}  // namespace gputrace::import
