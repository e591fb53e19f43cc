#include "cli/report/stimulus_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace gputrace::report {

namespace {

using analysis::StimulusMatrix;
using analysis::UnitResponse;

/// Less of the time is not worth a word.
constexpr double kShown = 0.05;
/// Beyond it a response is not known.
constexpr double kMostError = 0.25;

/// "vector 95 ±1 %", the strongest first.
std::string responses(const StimulusMatrix& matrix, const UnitResponse& unit) {
  std::vector<std::size_t> order(matrix.terms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return unit.response[a] > unit.response[b]; });
  std::vector<std::string> words;
  for (const std::size_t term : order) {
    if (unit.response[term] < kShown) {
      continue;
    }
    const std::string& name = matrix.terms[term].name;
    const double error = unit.standard_error[term];
    words.push_back(error > kMostError || matrix.terms[term].points < 2
                        ? fmt::format("{} {:.0f} % (n = {})", name, 100 * unit.response[term],
                                      matrix.terms[term].points)
                        : fmt::format("{} {:.0f} ±{:.0f} %", name, 100 * unit.response[term],
                                      std::ceil(100 * error)));
  }
  if (words.empty()) {
    return fmt::format("none of these for {:.0f} % or more", 100 * kShown);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string names(const std::vector<analysis::UnitKey>& keys) {
  std::vector<std::string> words;
  words.reserve(keys.size());
  for (const analysis::UnitKey& key : keys) {
    words.emplace_back(short_name(key.name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void append_stimulus_matrix(Page& page, const StimulusMatrix& matrix) {
  if (matrix.points == 0) {
    return;
  }
  page.line("What keeps each unit busy", Ink::kBold);
  page.paragraph(page.words(fmt::format(
                     "  Share of the time that the GPU works, for what is asked for all the "
                     "time, with its standard error; fitted to {} points.",
                     matrix.points)),
                 4, Ink::kDim);
  for (const UnitResponse& unit : matrix.units) {
    page.entry(page.safe(short_name(unit.key.name)), page.words(responses(matrix, unit)));
  }
  for (const std::vector<analysis::UnitKey>& set : matrix.not_separated) {
    page.paragraph(page.safe(fmt::format("  No stimulus tells these apart: {}.", names(set))), 4);
  }
  if (!matrix.silent.empty()) {
    page.paragraph(
        page.safe(fmt::format("  Nothing here makes these busy: {}.", names(matrix.silent))), 4);
  }
  for (const std::vector<std::string>& set : matrix.inseparable_terms) {
    page.paragraph(page.safe(fmt::format("  Always asked for together: {}.", fmt::join(set, ", "))),
                   2);
  }
}

std::string render_stimulus_text(const StimulusMatrix& matrix, const TextOptions& options) {
  Page page(options);
  append_stimulus_matrix(page, matrix);
  return page.take();
}

}  // namespace gputrace::report
