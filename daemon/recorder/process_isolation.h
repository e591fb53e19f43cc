// Cuts the recorder process off from what it was forked from, so that neither a Ctrl-C nor a pipe
// that somebody waits on depends on it.
#pragma once

namespace gputrace::recorder {

/// Ignores the signals of a terminal, of polite killers and of soft limits, leaves the session,
/// points standard input, output and error at /dev/null and closes every other descriptor but
/// `keep_fd`.
void isolate_process(int keep_fd);

}  // namespace gputrace::recorder
