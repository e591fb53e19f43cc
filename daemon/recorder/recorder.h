// The recorder process: takes orders over a socket, opens the GPU, samples and writes. Its socket
// closing is the sign that whoever started it is gone; the file is finished all the same, unless it
// is of no use to anybody else.
#pragma once

#include <functional>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"
#include "daemon/recorder/reader_factory.h"

namespace gputrace::recorder {

struct RecorderOptions {
  ReaderFactory open_gpu;
  /// Runs when the GPU is open and before the file is created: the moment to give up privileges
  /// and to make the folder. May be empty.
  std::function<Status()> before_file;
  /// The file is one that only who started it can complete: without a stop order it is removed.
  bool discards_abandoned = false;
};

/// The body of a process that was forked for this and has one thread. Cuts itself off from the
/// terminal, from signals and from every descriptor but `socket`, and ends with _exit(2), since a
/// thread that hangs in the driver cannot be joined.
[[noreturn]] void run_recorder(UniqueFd socket, const RecorderOptions& options);

/// The same for gputraced: the recorder of one GPU and all its sessions. Over `control`
/// (SOCK_SEQPACKET) arrives, as a message of one byte with a descriptor, one end of a socket for
/// each session, which then takes orders as above; back go health reports (daemon/ipc/message.h).
/// Sessions share one sampling loop at the highest rate asked; each keeps all samples. A GPU that
/// vanished is looked for each second, and sessions go on in a new segment. Ends when `control`
/// closes: all files are finished first.
[[noreturn]] void run_shared_recorder(UniqueFd control, const RecorderOptions& options);

}  // namespace gputrace::recorder
