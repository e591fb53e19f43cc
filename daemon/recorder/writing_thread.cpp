#include "daemon/recorder/writing_thread.h"

#include <fmt/format.h>

#include <utility>

namespace gputrace::recorder {

namespace {

// How soon the time of an anchor or a commit is noticed while nothing arrives.
constexpr std::int64_t kPopNs = 100 * kNsPerMs;
// How long a read in progress may still take before the file is closed without it. With 2 s for a
// connected reader this stays under the 3 s after which the supervisor leaves.
constexpr std::int64_t kReadGraceNs = 250 * kNsPerMs;
// Two a second are sent; a flood of them must not grow memory without bound.
constexpr std::size_t kMostProcesses = 16;

}  // namespace

WritingThread::WritingThread(RecordingFile file, SamplingPool& pool, Place first, Terms terms)
    : file_(std::move(file)), pool_(pool), terms_(std::move(terms)), place_(std::move(first)) {
  thread_ = std::jthread([this] { run(); });
}

void WritingThread::add_event(store::Event event) {
  const std::scoped_lock lock(mutex_);
  // Orders come over a socket: a flood of them must not grow memory without bound.
  if (orders_.events.size() < ipc::kMaxCommandWords) {
    orders_.events.push_back(std::move(event));
  }
  place_.feed->wake();
}

void WritingThread::add_processes(ipc::ProcessesOrder processes) {
  const std::scoped_lock lock(mutex_);
  if (orders_.processes.size() < kMostProcesses) {
    orders_.processes.push_back(std::move(processes));
  }
  place_.feed->wake();
}

void WritingThread::switch_gpu(std::string pci) {
  const std::scoped_lock lock(mutex_);
  orders_.switch_to = std::move(pci);
  place_.feed->wake();
}

void WritingThread::wake() {
  const std::scoped_lock lock(mutex_);
  place_.feed->wake();
}

ipc::ClosedAnswer WritingThread::finish(std::optional<int> exit_code, std::optional<int> signal) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.end = store::SessionEnd{monotonic_now_ns(), exit_code, signal};
  }
  leave_all();
  wake();
  thread_.join();
  return closed_;
}

void WritingThread::leave_all() {
  std::vector<Place> places;
  {
    const std::scoped_lock lock(mutex_);
    places.push_back(place_);
    if (next_) {
      places.push_back(*next_);
    }
  }
  for (const Place& place : places) {
    place.sampling->leave(place.feed);
  }
}

WritingThread::Orders WritingThread::take_orders() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(orders_, {});
}

void WritingThread::run() {
  std::optional<store::SessionEnd> end;
  while (has_more(end)) {
    if (std::optional<FeedItem> item = place_.feed->pop(kPopNs)) {
      file_.take(std::move(*item));
    }
    Orders orders = take_orders();
    obey(orders);
    file_.write_anchor_when_due();
    if (orders.end) {
      end = orders.end;
    }
    join_when_open(end.has_value());
    move_when_left();
    if (!end) {  // else the end of the file is the next commit
      file_.commit_when_due();
    }
    if (file_.has_ended() && !std::exchange(left_after_end_, true)) {
      leave_all();
    }
  }
  if (opening_) {
    opening_->abandon();
  }
  closed_ = file_.close(end.value_or(store::SessionEnd{}), place_.feed->closed());
}

/// A slow disk may have kept this thread for longer than the grace: what has come is written.
bool WritingThread::has_more(const std::optional<store::SessionEnd>& end) const {
  return !end || next_ ||
         (!place_.feed->closed() &&
          (!place_.feed->empty() || monotonic_now_ns() < end->end_ns + kReadGraceNs));
}

void WritingThread::obey(Orders& orders) {
  file_.write_events(orders.events);
  for (const ipc::ProcessesOrder& processes : orders.processes) {
    file_.take(processes);
  }
  if (orders.switch_to) {
    begin_switch(std::move(*orders.switch_to));
  }
}

void WritingThread::begin_switch(std::string pci) {
  if (pci == file_.gpu().pci || file_.has_ended()) {
    return;
  }
  if (std::exchange(switched_, true)) {
    file_.warn_of(monotonic_now_ns(),
                  "the recording moves to another GPU only once; " + pci + " is not recorded");
    return;
  }
  switch_to_ = std::move(pci);
  // Whom to wake must outlive this session, should the driver hang.
  opening_ =
      GpuOpening::begin(pool_, {switch_to_, terms_.source}, [feed = place_.feed] { feed->wake(); });
}

void WritingThread::join_when_open(bool at_end) {
  if (!opening_ || at_end || file_.has_ended()) {
    return;
  }
  std::optional<GpuOpening::Opened> opened = opening_->take();
  if (!opened) {
    return;
  }
  opening_.reset();
  const std::int64_t now_ns = monotonic_now_ns();
  if (!*opened) {
    file_.warn_of(now_ns, fmt::format("the workload opened another GPU, {}, which cannot be "
                                      "recorded: {}; the recording goes on with {}",
                                      switch_to_, opened->error().message, file_.gpu().name));
    return;
  }
  const SamplingPool::OpenedSampling& other = **opened;
  left_ns_ = now_ns;
  next_name_ = other.gpu.identity.name;
  place_.sampling->leave(place_.feed);
  Place next{other.sampling, other.sampling->join(terms_.wish)};
  for (const std::string& note : other.gpu.notes) {
    file_.warn_of(now_ns, next_name_ + ": " + note);
  }
  const std::scoped_lock lock(mutex_);
  next_ = std::move(next);
  if (orders_.end) {  // finish() did not know of it
    next_->sampling->leave(next_->feed);
  }
}

void WritingThread::move_when_left() {
  const SessionFeed& feed = *place_.feed;
  if (!next_ ||
      !(feed.closed() || (feed.empty() && monotonic_now_ns() > left_ns_ + kReadGraceNs))) {
    return;
  }
  file_.write_events(
      {{left_ns_, "gpu_switch",
        fmt::format("the workload opened another GPU: {} ({}) is recorded from here on; what came "
                    "before is of {}{}",
                    next_name_, switch_to_, file_.gpu().name,
                    file_.gpu().pci.empty() ? "" : " (" + file_.gpu().pci + ")")}});
  file_.move_to_other_gpu("the workload opened another GPU: " + switch_to_);
  const std::scoped_lock lock(mutex_);
  place_ = std::exchange(next_, std::nullopt).value_or(Place{});
}

}  // namespace gputrace::recorder
