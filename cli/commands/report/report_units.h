// Counts of every busy bit of one GPU over the segments that recorded it, and what becomes of them
// in a report: units with intervals, and the band over time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/window.h"
#include "cli/report/report.h"
#include "daemon/store/session_reader.h"
#include "regdb/register_database.h"

namespace gputrace::commands {

/// The stretch that a report shows, cut into columns for the band.
struct Timeline {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t column_ns = store::kCellNs;
  std::size_t columns = 0;
  std::optional<store::TimeSpan> selection;  ///< absent: everything there is
};
[[nodiscard]] Timeline make_timeline(std::int64_t start_ns, std::int64_t end_ns,
                                     std::size_t max_columns, bool selected);

class UnitCollector {
 public:
  explicit UnitCollector(const Timeline& timeline);

  /// Is shown the counts of each chunk of samples, kGridChunkCells cells from a segment's start on.
  using OnCounts =
      std::function<void(const store::StoredSegment& segment, std::span<const store::BitRef> refs,
                         const store::SegmentCounts& counts)>;
  void on_counts(OnCounts show) { on_counts_ = std::move(show); }

  /// Adds a segment's samples and window means. `map` gives the bits their meaning; registers that
  /// it does not have are left out.
  Status add(const store::SessionReader& session, const store::StoredSegment& segment,
             const regdb::RegisterMap& map);

  /// Units that have at least one valid sample or mean, in the order of the tables.
  [[nodiscard]] std::vector<report::Unit> units() const;
  /// The whole pipe and the busiest unit of each other group.
  [[nodiscard]] report::Band band() const;
  /// Whether any unit came as percentages without samples.
  [[nodiscard]] bool has_window_means() const { return has_window_means_; }

 private:
  struct Column {
    double known = 0;  ///< valid samples, or ns that a mean speaks for
    double busy = 0;
  };
  struct MeanSums {
    double weight_ns = 0;
    double busy_ns = 0;
    double samples = 0;
    double busy_samples = 0;
    bool samples_known = true;
  };
  struct Series {
    report::Unit unit;
    analysis::Counts total;
    analysis::CellMerger cells;
    MeanSums means;
    std::vector<Column> columns;
  };
  struct RegisterColumns {
    std::vector<double> asleep;
    std::vector<double> unknown;
  };
  struct Bit {
    store::BitRef ref;
    std::size_t series = 0;
  };

  std::vector<Bit> bits_of(const store::StoredSegment& segment, const regdb::RegisterMap& map);
  Status add_samples(const store::SessionReader& session, const store::StoredSegment& segment,
                     std::span<const Bit> bits);
  void add_counts(const store::StoredSegment& segment, std::span<const Bit> bits,
                  const store::SegmentCounts& counts);
  Status add_means(const store::SessionReader& session, const store::StoredSegment& segment,
                   std::span<const Bit> bits);
  void add_mean(Series& series, const store::WindowMean& mean);
  [[nodiscard]] std::optional<std::size_t> column_at(std::int64_t time_ns) const;
  [[nodiscard]] report::BandCell band_cell(const Series& series, std::size_t column) const;
  [[nodiscard]] report::BandRow band_row(const Series& series) const;

  Timeline timeline_;
  std::size_t merge_factor_;
  std::vector<Series> series_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;  ///< (register, field)
  std::map<std::string, RegisterColumns> registers_;
  bool has_window_means_ = false;
  OnCounts on_counts_;
};

/// n of GRBM_STATUS_SEn.
[[nodiscard]] std::optional<int> shader_engine_of(const std::string& register_name);

}  // namespace gputrace::commands
