#include "daemon/recorder/recorder.h"

#include <unistd.h>

#include <utility>

#include "daemon/ipc/message_socket.h"
#include "daemon/recorder/process_isolation.h"
#include "daemon/recorder/sampling_pool.h"
#include "daemon/recorder/session.h"

namespace gputrace::recorder {

void run_recorder(UniqueFd socket, const RecorderOptions& options) {
  isolate_process(socket.get());
  SamplingPool pool(options.open_gpu, [] {});
  Session session(ipc::MessageSocket(std::move(socket)), options, pool);
  session.run();
  ::_exit(0);  // before any destructor: the reading thread may never end
}

}  // namespace gputrace::recorder
