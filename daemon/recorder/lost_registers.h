// The words for registers that were lost.
#pragma once

#include <string>
#include <vector>

#include "daemon/sampler/register_reader.h"

namespace gputrace::recorder {

/// "A, B: why; C: another reason". An unplugged GPU has one reason for all its registers.
[[nodiscard]] std::string describe_lost(const std::vector<sampler::LostRegister>& lost);

}  // namespace gputrace::recorder
