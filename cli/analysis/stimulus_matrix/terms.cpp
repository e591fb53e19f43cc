#include "cli/analysis/stimulus_matrix/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gputrace::analysis {

namespace {

/// Through which units a read goes first. What lies behind them are the levels.
constexpr std::array<std::string_view, 7> kPaths{"vector", "scalar",  "constant", "texel",
                                                 "image",  "sampled", "local"};
enum Fixed : std::size_t {
  kAtomics,
  kLocalAtomics,
  kWrites,
  kArithmetic,
  kLongCode,
  kFetches,
  kPixels,
  kFixedTerms
};
constexpr std::array<std::string_view, kFixedTerms> kFixedNames{
    "atomics", "local atomics", "writes", "arithmetic", "long code", "texture fetches", "pixels"};
/// The smallest instruction cache is 32 KiB.
constexpr double kShortCodeBytes = 32 * 1024;
/// A result at the end of a long loop is no stream of writes. With fewer operations memory is the
/// limit on known GPUs: ridges lie between 16 and 64.
constexpr double kMostFlopsPerByte = 64;
/// With more, what a computation starts from and leaves is not seen beside it.
constexpr double kPureFlopsPerByte = 4096;
constexpr double kMostReadsPerWrite = 64;
/// Nodes farther apart than a line leave what lies between them out of the caches. Lines of 64 and
/// 128 bytes are known.
constexpr double kLineBytes = 128;

double touched_bytes(const StimulatedPoint& point) {
  return point.stride_bytes > kLineBytes ? point.footprint_bytes / point.stride_bytes * kLineBytes
                                         : point.footprint_bytes;
}

/// Of what is read, the share that lies behind a level of so many bytes.
double misses(const StimulatedPoint& point, double level_bytes) {
  if (point.access == "stream") {
    return 1;
  }
  const double touched = touched_bytes(point);
  return touched > 0 ? std::max(0.0, 1 - level_bytes / touched) : 0;
}

bool reads_global(const StimulatedPoint& point) {
  if (point.access == "none" || point.path == "local") {
    return false;
  }
  return point.access == "chase" || point.access == "atomic" ||
         (point.read_bytes > 0 && point.flops < kPureFlopsPerByte * point.read_bytes);
}

bool writes(const StimulatedPoint& point) {
  return !point.pixels && point.access != "atomic" && point.written_bytes > 0 &&
         point.flops <= kMostFlopsPerByte * point.written_bytes &&
         point.read_bytes <= kMostReadsPerWrite * point.written_bytes;
}

}  // namespace

bool is_mixed(const StimulatedPoint& point) {
  const double bytes = point.read_bytes + point.written_bytes;
  const bool waits = point.access == "chase" || point.access == "atomic";
  return !waits && bytes > 0 && point.flops > kMostFlopsPerByte * bytes &&
         point.flops < kPureFlopsPerByte * bytes;
}

std::vector<std::string> term_names(std::size_t levels) {
  std::vector<std::string> names(kPaths.begin(), kPaths.end());
  names.insert(names.end(), kFixedNames.begin(), kFixedNames.end());
  for (std::size_t level = 2; level <= levels; ++level) {
    names.push_back(fmt::format("level {}", level));
  }
  names.emplace_back("memory");
  return names;
}

std::vector<double> term_row(const StimulatedPoint& point, std::span<const double> level_bytes) {
  std::vector<double> row(kPaths.size() + kFixedTerms, 0.0);
  const bool atomic = point.access == "atomic";
  const bool local = point.path == "local" && point.access != "none";
  const bool fetches = point.fetches > 0;
  const auto path = std::find(kPaths.begin(), kPaths.end(), point.path);
  if (path != kPaths.end() && !atomic && !fetches && (reads_global(point) || local)) {
    row[static_cast<std::size_t>(path - kPaths.begin())] = 1;
  }
  if (point.local_bytes > 0) {
    row[kPaths.size() - 1] = 1;
  }
  const auto fixed = [&](Fixed term) -> double& { return row[kPaths.size() + term]; };
  fixed(kAtomics) = atomic && !local ? 1 : 0;
  fixed(kLocalAtomics) = atomic && local ? 1 : 0;
  fixed(kWrites) = writes(point) ? 1 : 0;
  fixed(kArithmetic) = point.flops > 0 ? 1 : 0;
  fixed(kLongCode) = point.code_bytes > kShortCodeBytes ? 1 : 0;
  fixed(kFetches) = fetches ? 1 : 0;
  fixed(kPixels) = point.pixels ? 1 : 0;
  for (std::size_t level = 1; level <= level_bytes.size(); ++level) {
    const bool is_last = level == level_bytes.size();
    const double behind = misses(point, level_bytes[level - 1]);
    const double farther = is_last ? 0 : misses(point, level_bytes[level]);
    row.push_back(reads_global(point) ? std::max(0.0, behind - farther) : 0);
  }
  return row;
}

}  // namespace gputrace::analysis
