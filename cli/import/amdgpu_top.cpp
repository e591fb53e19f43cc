#include "cli/import/amdgpu_top.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/import/amdgpu_top_clients.h"
#include "cli/import/amdgpu_top_device.h"
#include "cli/import/amdgpu_top_sensors.h"
#include "cli/import/amdgpu_top_time.h"
#include "cli/import/bad_lines.h"
#include "cli/import/json_records.h"
#include "cli/import/text.h"
#include "daemon/base/time.h"

namespace gputrace::import {

namespace {

constexpr std::array<std::string_view, 2> kBusySections{"GRBM", "GRBM2"};
/// JsonApp::update reads the registers so often in each window, whatever its length.
constexpr std::uint32_t kSamplesInWindow = 100;
constexpr std::size_t kMaxLeftOut = 40;

/// Where the percentage of a name goes.
struct Target {
  std::string section;
  std::string name;
  std::size_t register_index = 0;
  std::uint8_t bit = 0;
};

class AmdgpuTopImporter {
 public:
  AmdgpuTopImporter(LineReader& input, const regdb::RegisterDatabase& regdb,
                    const ImportOptions& options, SessionSink& sink)
      : records_(input),
        name_(input.name()),
        regdb_(regdb),
        options_(options),
        bad_lines_(input.name(), options.lenient),
        sink_(sink),
        clients_(sink) {}

  Result<ImportSummary> run();

 private:
  Status take(const JsonRecord& record);
  Status begin(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window);
  void map_units(const AmdgpuTopDevice& device, const AmdgpuTopTable& table,
                 store::SegmentDescription& segment);
  Status add(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window);
  Status add_means(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window);
  void leave_out(std::string what);
  void describe(ImportSummary& summary) const;
  Result<ImportSummary> finish();

  JsonRecords records_;
  std::string name_;
  const regdb::RegisterDatabase& regdb_;
  const ImportOptions& options_;
  BadLines bad_lines_;
  SessionSink& sink_;

  AmdgpuTopRecord record_;
  AmdgpuTopClock clock_;
  std::unique_ptr<AmdgpuTopChoice> choice_;
  std::unique_ptr<AmdgpuTopSensors> sensors_;  ///< from the first object with the GPU on
  AmdgpuTopClients clients_;
  std::vector<Target> targets_;
  std::vector<std::string> registers_;
  std::optional<regdb::GcVersion> gc_;
  std::string no_units_;               ///< why bits cannot be named
  std::vector<std::string> left_out_;  ///< names without a field, and why
  std::vector<store::WindowMean> means_;
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t without_gpu_ = 0;  ///< objects that do not have the GPU
  std::uint64_t values_ = 0;
  std::uint64_t impossible_ = 0;  ///< percentages
};

void AmdgpuTopImporter::leave_out(std::string what) {
  if (left_out_.size() < kMaxLeftOut &&
      std::find(left_out_.begin(), left_out_.end(), what) == left_out_.end()) {
    left_out_.push_back(std::move(what));
  }
}

void AmdgpuTopImporter::map_units(const AmdgpuTopDevice& device, const AmdgpuTopTable& table,
                                  store::SegmentDescription& segment) {
  if (!table.map) {
    no_units_ = table.problem;
    return;
  }
  segment.regdb_table = table.map->table;
  for (const std::string_view section : kBusySections) {
    const AmdgpuTopSection* found = device.find(section);
    if (found == nullptr) {
      continue;
    }
    for (const AmdgpuTopValue& value : found->values) {
      const AmdgpuTopUnit unit =
          find_amdgpu_top_unit(section, value.name, *table.map, table.table_gc, record_.version);
      if (unit.register_name.empty()) {
        leave_out(fmt::format("{} ({})", printable(value.name), unit.reason));
        continue;
      }
      auto& registers = segment.registers;
      auto at = std::find_if(registers.begin(), registers.end(),
                             [&unit](const auto& one) { return one.name == unit.register_name; });
      if (at == registers.end()) {
        const regdb::Register* reg = table.map->find(unit.register_name);
        at = registers.insert(registers.end(), {unit.register_name, reg->dword_offset, "import"});
      }
      targets_.push_back({std::string(section), value.name,
                          static_cast<std::size_t>(at - registers.begin()), unit.bit});
    }
  }
}

Status AmdgpuTopImporter::begin(const AmdgpuTopDevice& device,
                                const AmdgpuTopClock::Window& window) {
  const Result<AmdgpuTopTable> table = find_amdgpu_top_table(device, regdb_, options_.gc);
  if (!table) {
    return tl::unexpected(table.error());
  }
  start_ns_ = window.start_ns;
  gc_ = table->gc;
  store::SessionDescription session;
  session.kind = store::SessionKind::kImport;
  session.origin = "amdgpu_top JSON " + name_;
  if (clock_.has_wall_clock()) {
    session.started = TimeAnchor{start_ns_, start_ns_, start_ns_};
  }
  store::SegmentDescription segment;
  segment.gpu.name = device.name.empty() ? "AMD GPU" : device.name;
  segment.gpu.gc = gc_;
  segment.gpu.pci = device.pci;
  if (device.device_id) {
    segment.gpu.vendor_id = 0x1002;
    segment.gpu.device_id = device.device_id;
    segment.gpu.revision_id = device.revision_id;
  }
  segment.start_ns = start_ns_;
  segment.reason = "start";
  segment.regdb_revision = regdb_.revision();
  map_units(device, *table, segment);
  for (const sampler::OfferedRegister& reg : segment.registers) {
    registers_.push_back(reg.name);
  }
  if (Status status = sink_.begin(session, segment); !status) {
    return status;
  }
  Result<AmdgpuTopSensors> sensors = AmdgpuTopSensors::define(sink_, device, gc_);
  if (!sensors) {
    return tl::unexpected(sensors.error());
  }
  sensors_ = std::make_unique<AmdgpuTopSensors>(std::move(*sensors));
  return {};
}

Status AmdgpuTopImporter::add_means(const AmdgpuTopDevice& device,
                                    const AmdgpuTopClock::Window& window) {
  means_.clear();
  for (const Target& target : targets_) {
    const AmdgpuTopSection* section = device.find(target.section);
    if (section == nullptr) {
      continue;
    }
    const auto value = std::find_if(section->values.begin(), section->values.end(),
                                    [&target](const auto& one) { return one.name == target.name; });
    if (value == section->values.end()) {
      continue;
    }
    const std::optional<double>& read = value->value;
    if (!read) {
      continue;
    }
    const double percent = *read;
    if (percent < 0 || percent > 100 || (!value->unit.empty() && value->unit != "%")) {
      ++impossible_;
      continue;
    }
    std::optional<std::uint32_t> samples;
    if (percent == std::floor(percent)) {
      samples = kSamplesInWindow;
    }
    means_.push_back({.register_index = target.register_index,
                      .bit = target.bit,
                      .start_ns = window.start_ns,
                      .end_ns = window.end_ns,
                      .busy = percent / 100,
                      .samples = samples});
  }
  values_ += means_.size();
  return sink_.add_window_means(means_);
}

Status AmdgpuTopImporter::add(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window) {
  if (!sensors_) {
    if (Status status = begin(device, window); !status) {
      return status;
    }
  }
  ++rows_;
  end_ns_ = window.end_ns;
  if (Status status = add_means(device, window); !status) {
    return status;
  }
  if (Status status = sensors_->add(device, window.end_ns); !status) {
    return status;
  }
  return clients_.add(device, window);
}

Status AmdgpuTopImporter::take(const JsonRecord& record) {
  std::optional<BadCell> bad;
  if (!record.problem.empty()) {
    bad = {1, std::string(record.problem)};
  } else {
    bad = parse_amdgpu_top_record(record.text, record_);
  }
  AmdgpuTopClock::Window window;
  if (!bad) {
    window = clock_.place(record_, bad);
  }
  if (bad) {
    // A byte of the object is in one of its lines.
    const std::string_view before = record.text.substr(0, bad->column - 1);
    const auto lines = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_end = before.rfind('\n');
    bad->column = lines == 0 ? record.column + bad->column - 1 : before.size() - line_end;
    return bad_lines_.add(record.line + lines, *bad);
  }
  if (!choice_) {
    Result<AmdgpuTopChoice> choice = choose_amdgpu_top_device(record_, options_.gpu);
    if (!choice) {
      return tl::unexpected(choice.error());
    }
    choice_ = std::make_unique<AmdgpuTopChoice>(std::move(*choice));
  }
  const AmdgpuTopDevice* device = choice_->find_in(record_);
  if (device == nullptr) {
    ++without_gpu_;
    return {};
  }
  return add(*device, window);
}

Result<ImportSummary> AmdgpuTopImporter::run() {
  JsonRecord record;
  for (;;) {
    const Result<bool> more = records_.next(record);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return finish();
    }
    if (Status status = take(record); !status) {
      return tl::unexpected(status.error());
    }
  }
}

void AmdgpuTopImporter::describe(ImportSummary& summary) const {
  if (choice_ && !choice_->others.empty()) {
    summary.notes.push_back(
        fmt::format("one GPU of several: {}; not imported: {} (--gpu chooses)",
                    choice_->pci.empty() ? std::to_string(choice_->index) : printable(choice_->pci),
                    fmt::join(choice_->others, ", ")));
  }
  if (!no_units_.empty()) {
    summary.warnings.push_back("GRBM and GRBM2 left out: " + no_units_);
  }
  if (!left_out_.empty()) {
    summary.warnings.push_back(fmt::format("names left out, as they are no busy bit here: {}",
                                           fmt::join(left_out_, ", ")));
  }
  if (!sensors_->unknown().empty()) {
    summary.notes.push_back(
        fmt::format("names without a meaning here: {}", fmt::join(sensors_->unknown(), ", ")));
  }
  std::vector<std::string> impossible;
  for (const auto& [name, times] : sensors_->impossible()) {
    impossible.push_back(fmt::format("{} ({} times)", name, times));
  }
  if (impossible_ > 0) {
    impossible.push_back(fmt::format("percentages of units ({} times)", impossible_));
  }
  if (!impossible.empty()) {
    summary.warnings.push_back(
        fmt::format("values that cannot be, left out: {}", fmt::join(impossible, ", ")));
  }
  if (const std::string note = sensors_->metrics_note(); !note.empty()) {
    summary.warnings.push_back(note);
  }
  if (without_gpu_ > 0) {
    summary.notes.push_back(fmt::format(
        "{} objects do not have this GPU: it was suspended, or not there", without_gpu_));
  }
  if (clock_.restarts() > 0) {
    summary.warnings.push_back(
        fmt::format("the period begins anew {} times: runs of amdgpu_top one after the other",
                    clock_.restarts()));
  }
  if (!clock_.has_wall_clock()) {
    summary.notes.emplace_back(
        "no date and time: amdgpu_top writes a timestamp from version 0.11.5 on");
  }
  if (clients_.left_out() > 0) {
    summary.warnings.emplace_back("too many processes; the later ones were left out");
  }
}

Result<ImportSummary> AmdgpuTopImporter::finish() {
  ImportSummary summary;
  summary.format = Format::kAmdgpuTop;
  summary.gc = gc_;
  summary.rows = rows_;
  summary.bad_lines = bad_lines_.count();
  summary.bad_line_examples = bad_lines_.examples();
  if (!sensors_) {
    return summary;
  }
  summary.start_ns = start_ns_;
  summary.end_ns = end_ns_;
  if (Status status = sensors_->finish(start_ns_, end_ns_); !status) {
    return tl::unexpected(status.error());
  }
  summary.registers = registers_;
  summary.values = values_ + sensors_->values();
  summary.sensors = sensors_->names();
  summary.processes = clients_.processes();
  describe(summary);
  return summary;
}

}  // namespace

Result<ImportSummary> import_amdgpu_top(LineReader& input, const regdb::RegisterDatabase& regdb,
                                        const ImportOptions& options, SessionSink& sink) {
  if (options.ticks) {
    return fail(ErrorCode::kUsage,
                "--ticks is for radeontop dumps; amdgpu_top takes 100 samples for each object");
  }
  return AmdgpuTopImporter(input, regdb, options, sink).run();
}

bool looks_like_amdgpu_top(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n[");
  if (first == std::string_view::npos || text[first] != '{') {
    return false;
  }
  constexpr std::array<std::string_view, 4> kKeys{"\"amdgpu_top_version\"", "\"GRBM\"",
                                                  "\"Sensors\"", "\"devices\""};
  return std::any_of(kKeys.begin(), kKeys.end(), [text](std::string_view key) {
    return text.find(key) != std::string_view::npos;
  });
}

}  // namespace gputrace::import
