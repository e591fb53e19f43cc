// The readers that gputrace can offer the recorder: real GPUs and the simulated one.
#pragma once

#include "daemon/recorder/reader_factory.h"

namespace gputrace::commands {

/// Resolves --gpu and --source: "sim:..." opens the simulated GPU (tapes cached in
/// $XDG_CACHE_HOME/gputrace), anything else selects and opens a real one.
[[nodiscard]] recorder::ReaderFactory make_reader_factory();

}  // namespace gputrace::commands
