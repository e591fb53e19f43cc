#include "daemon/sampler/register_reader.h"

namespace gputrace::sampler {

std::string_view reason_name(SampleState state) {
  switch (state) {
    case SampleState::kValid:
      return "valid";
    case SampleState::kAsleep:
      return "asleep";
    case SampleState::kAllOnes:
      return "all_ones";
    case SampleState::kReset:
      return "reset";
    case SampleState::kGuardLate:
      return "guard_late";
    case SampleState::kReadError:
      return "read_error";
    case SampleState::kLost:
      return "lost";
    case SampleState::kAbsent:
      return "absent";
  }
  return "unknown";
}

}  // namespace gputrace::sampler
