// Tells what became of the device from the states of its samples: resets, sleep and waking.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/sampler/sample_block.h"
#include "daemon/store/session.h"

namespace gputrace::recorder {

class StateWatch {
 public:
  /// What began or ended inside the block. Sleep that comes and goes within a second (GFXOFF
  /// between two frames) gives one pair a second at most; a pair is never torn.
  [[nodiscard]] std::vector<store::Event> look(const sampler::SampleBlock& block);

 private:
  void look_at(std::int64_t time_ns, bool reset, bool asleep, std::vector<store::Event>& events);

  std::optional<std::int64_t> reset_since_ns_;
  bool seen_awake_ = false;
  std::optional<std::int64_t> told_asleep_since_ns_;
  std::optional<std::int64_t> last_suspend_told_ns_;
};

}  // namespace gputrace::recorder
