#include "cli/commands/report/sensor_sums.h"

namespace gputrace::commands {

using report::SensorKind;

void SensorSums::add(const analysis::ReadingRun& run) {
  switch (kind_) {
    case SensorKind::kGauge:
      gauge_.add(run);
      break;
    case SensorKind::kCounter:
      counter_.add(run);
      break;
    case SensorKind::kBits:
      bits_.add(run);
      break;
  }
}

void SensorSums::merge(const SensorSums& other) {
  gauge_.merge(other.gauge_);
  counter_.merge(other.counter_);
  bits_.merge(other.bits_);
}

void SensorSums::fill(report::Sensor& sensor) const {
  switch (kind_) {
    case SensorKind::kGauge:
      sensor.samples = gauge_.readings();
      sensor.mean = gauge_.mean();
      sensor.min = gauge_.smallest();
      sensor.max = gauge_.largest();
      sensor.covered_s = gauge_.covered_s();
      break;
    case SensorKind::kCounter:
      sensor.samples = counter_.readings();
      sensor.total = counter_.total();
      sensor.covered_s = counter_.covered_s();
      sensor.resets = counter_.resets();
      break;
    case SensorKind::kBits:
      sensor.samples = bits_.readings;
      if (bits_.readings > 0) {
        sensor.bits_ever = bits_.ever;
        sensor.bits_always = bits_.always;
      }
      break;
  }
}

}  // namespace gputrace::commands
