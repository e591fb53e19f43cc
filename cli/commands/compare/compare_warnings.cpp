#include "cli/commands/compare/compare_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "cli/report/text_format.h"

namespace gputrace::commands {
namespace {

using report::Warning;
using Side = std::span<const ComparedRecording>;

constexpr double kMuchUnknown = 0.05;
/// Lengths of repeats of one load differ by less.
constexpr double kSameLength = 0.1;

std::set<std::string> texts(Side side,
                            const std::function<std::string(const ComparedRecording&)>& text) {
  std::set<std::string> all;
  for (const ComparedRecording& recording : side) {
    all.insert(text(recording));
  }
  return all;
}

std::string joined(const std::set<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

void warn_of_gpus(Side a, Side b, std::vector<Warning>& out) {
  const auto gpu = [](const ComparedRecording& recording) {
    const report::Gpu& it = recording.session.gpu;
    return (it.name.empty() ? "an unknown GPU" : it.name) + (it.simulated ? " (simulated)" : "");
  };
  const std::set<std::string> left = texts(a, gpu);
  const std::set<std::string> right = texts(b, gpu);
  if (left != right || left.size() > 1) {
    out.push_back({"gpus_differ",
                   fmt::format("Not one GPU: A is of {}, B of {}. Busy fractions of different "
                               "GPUs measure different units.",
                               joined(left), joined(right)),
                   "Compare frame times and energy only."});
  }
}

void warn_of_rates(Side a, Side b, std::vector<Warning>& out) {
  const auto rate = [](const ComparedRecording& recording) {
    return recording.sampling.rate_hz ? fmt::format("{:g} Hz", *recording.sampling.rate_hz)
                                      : std::string("unknown");
  };
  const std::set<std::string> left = texts(a, rate);
  const std::set<std::string> right = texts(b, rate);
  if (left != right) {
    out.push_back({"rates_differ",
                   fmt::format("Sampled at different rates: A {}, B {}. The interval of the slower "
                               "one is wider.",
                               joined(left), joined(right)),
                   ""});
  }
}

void warn_of_unknown(Side side, std::vector<Warning>& out) {
  for (const ComparedRecording& recording : side) {
    const double share = report::unknown_share(recording.sampling);
    if (share > kMuchUnknown) {
      out.push_back({"unknown_samples",
                     fmt::format("{}: {} of its samples are unknown and left out.",
                                 recording.session.file, report::format_percent(share)),
                     "`gputrace report` says why."});
    }
  }
}

double mean_length(Side side) {
  double sum = 0;
  for (const ComparedRecording& recording : side) {
    sum += recording.session.duration_s.value_or(0);
  }
  return sum / static_cast<double>(side.size());
}

void warn_of_lengths(Side a, Side b, std::vector<Warning>& out) {
  const double left = mean_length(a);
  const double right = mean_length(b);
  if (std::abs(left - right) > kSameLength * std::max(left, right)) {
    out.push_back({"lengths_differ",
                   fmt::format("A is {} long, B {}: energies are of different times.",
                               report::format_duration(left), report::format_duration(right)),
                   "Cut both to the same scene with --from and --to."});
  }
}

void warn_of_phases(Side a, Side b, std::vector<Warning>& out) {
  const auto several = [](const ComparedRecording& recording) { return recording.classes > 1; };
  if (std::any_of(a.begin(), a.end(), several) || std::any_of(b.begin(), b.end(), several)) {
    out.push_back({"several_phases",
                   "A recording holds phases with different limits: its means are of the mix, and "
                   "its intervals mean what the same mix would show again.",
                   "Cut both to one phase with --from and --to."});
  }
}

}  // namespace

std::vector<Warning> compare_warnings(Side a, Side b) {
  std::vector<Warning> out;
  warn_of_gpus(a, b, out);
  warn_of_rates(a, b, out);
  warn_of_unknown(a, out);
  warn_of_unknown(b, out);
  warn_of_lengths(a, b, out);
  warn_of_phases(a, b, out);
  if (a.size() == 1 || b.size() == 1) {
    out.push_back({"single_recording",
                   fmt::format("{} one recording: how much repeats vary (heat, loading, what "
                               "else ran) is not in the intervals.",
                               a.size() == b.size() ? "Each side is" : "One side is"),
                   "Record each at least three times: gputrace compare A1,A2,A3 B1,B2,B3."});
  }
  return out;
}

}  // namespace gputrace::commands
