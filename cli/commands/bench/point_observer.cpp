#include "cli/commands/bench/point_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands/bench/stimulus_json.h"
#include "daemon/base/time.h"
#include "daemon/ipc/message.h"

namespace gputrace::commands {

namespace {

/// Names of kernels and configurations are ASCII; what is not cannot be sent.
std::string sendable_label(std::string_view label) {
  std::string text(label.substr(0, ipc::kMaxPointLabelBytes));
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
  return text;
}

}  // namespace

SessionObserver::SessionObserver(BenchSensors sensors, Play play, BenchRecorder* recorder,
                                 std::function<void(const std::string&)> note)
    : sensors_(std::move(sensors)),
      play_(std::move(play)),
      recorder_(recorder),
      note_(std::move(note)) {}

void SessionObserver::begin_point(const std::string& label, const bench::Stimulus& stimulus) {
  tell(label, stimulus_json(stimulus));
}

void SessionObserver::end_point(const std::string& label) {
  tell(label, std::nullopt);
}

void SessionObserver::tell(const std::string& label, const std::optional<std::string>& stimulus) {
  Status recorded;
  if (recorder_ != nullptr) {
    recorded = recorder_->send_point({monotonic_now_ns(), sendable_label(label), stimulus});
  }
  if (play_) {  // while the recorder does the same
    if (const Status played = play_(stimulus.value_or(std::string())); !played) {
      note_(fmt::format("no clock and power of {}: {}", label, played.error().message));
    }
  }
  if (recorder_ == nullptr) {
    return;
  }
  recorded = recorded ? recorder_->await_point() : recorded;
  for (const std::string& warning : recorder_->take_warnings()) {
    note_(warning);
  }
  if (!recorded) {
    note_(fmt::format("busy bits are not marked from {} on: {}", label, recorded.error().message));
    recorder_ = nullptr;
  }
}

std::optional<double> SessionObserver::clock_mhz() {
  return sensors_.read({"gfx_clock"});
}

std::optional<double> SessionObserver::power_w() {
  return sensors_.read({"package_power", "apu_power"});
}

std::optional<double> SessionObserver::temperature_c() {
  return sensors_.read({"edge_temperature", "gfx_temperature", "temperature"});
}

std::optional<double> SessionObserver::fan_rpm() {
  return sensors_.read({"fan_speed"});
}

}  // namespace gputrace::commands
