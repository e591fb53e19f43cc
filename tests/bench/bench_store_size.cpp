// What a finished session file costs: per tick for 10 minutes at 1 kHz, and per hour of sensors;
// everything in the file counted.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "daemon/simulated_gpu/simulated_gpu.h"
#include "daemon/store/query.h"
#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"
#include "regdb/register_database.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace {
namespace {

const std::vector<std::string> kRegisters{"GRBM_STATUS", "GRBM_STATUS2", "GRBM_STATUS3",
                                          "GRBM_STATUS_SE0", "GRBM_STATUS_SE1"};

constexpr std::size_t kBits = 70;

/// The busy bits of the registers, and as many others as make kBits.
std::vector<store::BitRef> signal_bits() {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const Result<regdb::RegisterMap> map = regdb.map_for_table("11.0.0");
  GPUTRACE_CHECK(map.has_value());
  std::vector<store::BitRef> bits;
  for (std::size_t r = 0; r < kRegisters.size(); ++r) {
    for (const regdb::RegisterField& field : map->find(kRegisters[r])->fields) {
      if (field.kind == regdb::FieldKind::kBusy) {
        bits.push_back({r, field.shift});
      }
    }
  }
  const auto taken = [&](std::size_t r, std::uint8_t bit) {
    return std::any_of(bits.begin(), bits.end(), [&](const store::BitRef& other) {
      return other.register_index == r && other.bit == bit;
    });
  };
  for (std::uint8_t bit = 0; bit < 32; ++bit) {
    for (std::size_t r = 0; r < kRegisters.size() && bits.size() < kBits; ++r) {
      if (!taken(r, bit)) {
        bits.push_back({r, bit});
      }
    }
  }
  GPUTRACE_CHECK(bits.size() == kBits);
  return bits;
}

/// Independent two-state chains: P(change) in a tick follows from duty p and relaxation time tau,
/// which is spread evenly in the logarithm from 0.5 to 8 ms over the bits.
class TwoStateBits {
 public:
  TwoStateBits(double duty_spread, std::uint64_t seed) : random_(seed), bits_(signal_bits()) {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(bits_.size() - 1);
      const double keep = std::exp(-1.0 / (0.5 * std::pow(16.0, share)));
      const double duty = 0.5 + duty_spread * (uniform() - 0.5);
      chains_.push_back({(1 - keep) * duty, (1 - keep) * (1 - duty), uniform() < duty});
    }
  }
  [[nodiscard]] std::span<const store::BitRef> bits() const { return bits_; }
  void step(std::vector<std::uint32_t>& words) {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      Chain& chain = chains_[i];
      if (uniform() < (chain.busy ? chain.fall : chain.rise)) {
        chain.busy = !chain.busy;
      }
      const std::uint32_t mask = 1U << bits_[i].bit;
      std::uint32_t& word = words[bits_[i].register_index];
      word = chain.busy ? word | mask : word & ~mask;
    }
  }

 private:
  struct Chain {
    double rise = 0;
    double fall = 0;
    bool busy = false;
  };
  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  std::mt19937_64 random_;
  std::vector<store::BitRef> bits_;
  std::vector<Chain> chains_;
};

using NextWords = std::function<void(std::int64_t time_ns, std::vector<std::uint32_t>& words)>;

/// A recording of `seconds` at 1 kHz with the traces of a real one: an anchor and a commit a
/// second.
std::filesystem::path record(const test::TempDir& dir, std::size_t seconds, const NextWords& next) {
  const auto path = dir.path() / "bench.gputrace";
  test::SessionRecipe recipe;
  recipe.registers = kRegisters;
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(path, store::OnExisting::kReplace, {});
  GPUTRACE_CHECK(writer.has_value());
  GPUTRACE_CHECK(writer->begin_segment(test::segment_of(recipe)).has_value());
  std::vector<std::uint32_t> words(kRegisters.size());
  for (std::size_t second = 0; second < seconds; ++second) {
    sampler::SampleBlock block = test::block_of(recipe, second * 1000, (second + 1) * 1000);
    for (std::size_t i = 0; i < block.size; ++i) {
      next(block.time_ns[i], words);
      for (std::size_t r = 0; r < words.size(); ++r) {
        block.words[r * block.capacity + i] = words[r];
      }
      ++block.totals.lateness[20 + static_cast<std::size_t>(block.time_ns[i] / 1000 % 12)];
    }
    GPUTRACE_CHECK(writer->write_block(block).has_value());
    GPUTRACE_CHECK(writer->write_anchor({block.end_ns, block.end_ns + 12345, 0}).has_value());
    GPUTRACE_CHECK(writer->commit().has_value());
  }
  GPUTRACE_CHECK(writer->finish({}).has_value());
  return path;
}

/// Bytes a tick of each kind of blob.
void print_parts(const std::filesystem::path& path, double ticks) {
  const Status asked = store::query_session(
      path, "SELECT sum(length(planes)), sum(length(times)), sum(length(summary)) FROM blocks", {},
      {[](std::span<const std::string>) {},
       [&](std::span<const store::QueryValue> row) -> Status {
         const auto part = [&](std::size_t i) {
           return static_cast<double>(std::get<std::int64_t>(row[i])) / ticks;
         };
         fmt::print("  planes {:.2f}, stamps {:.2f}, summaries {:.2f}\n", part(0), part(1),
                    part(2));
         return {};
       }});
  GPUTRACE_CHECK(asked.has_value());
}

void print_size(const std::string& name, double target, const NextWords& next) {
  const test::TempDir dir;
  constexpr std::size_t kSeconds = 600;
  const std::int64_t cpu_ns = process_cpu_time_ns();
  const auto path = record(dir, kSeconds, next);
  const double cpu_s = static_cast<double>(process_cpu_time_ns() - cpu_ns) * 1e-9;
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print("{:<58} {:>6.2f} bytes a tick (at most {}), {:.2f} s CPU\n", name,
             bytes / (kSeconds * 1000), target, cpu_s);
  print_parts(path, kSeconds * 1000);
}

void print_two_state(double duty_spread) {
  TwoStateBits bits(duty_spread, 1);
  print_size(fmt::format("{} two-state bits, duty {:.2f} to {:.2f}, tau 0.5 to 8 ms", kBits,
                         0.5 - duty_spread / 2, 0.5 + duty_spread / 2),
             9, [&](std::int64_t, std::vector<std::uint32_t>& words) { bits.step(words); });
}

/// The game phase of the simulated 780M, read as a recording would.
void print_game() {
  const regdb::RegisterDatabase regdb = regdb::RegisterDatabase::built_in();
  const test::TempDir cache;
  Result<simulated_gpu::OpenedSimulation> gpu = simulated_gpu::open_simulated_gpu(
      "sim:780m:game", regdb, cache.path(), test::SessionRecipe{}.start_ns);
  GPUTRACE_CHECK(gpu.has_value());
  std::vector<std::ptrdiff_t> slots;  // of kRegisters among what the reader offers; -1 = none
  const auto offered = gpu->reader->registers();
  for (const std::string& name : kRegisters) {
    const auto found = std::find_if(offered.begin(), offered.end(),
                                    [&](const auto& reg) { return reg.name == name; });
    slots.push_back(found == offered.end() ? -1 : found - offered.begin());
    if (found == offered.end()) {
      fmt::print("the simulated GPU does not offer {}\n", name);
    }
  }
  std::vector<std::uint32_t> words(offered.size());
  std::vector<sampler::SampleState> states(offered.size());
  std::vector<std::uint32_t> costs(offered.size());
  print_size("SIMULATED game phase, STATUS, STATUS2, STATUS3, SE0, SE1", 5,
             [&](std::int64_t time_ns, std::vector<std::uint32_t>& out) {
               gpu->reader->read(time_ns, {words, states, costs});
               for (std::size_t r = 0; r < slots.size(); ++r) {
                 out[r] = slots[r] < 0 ? 0 : words[static_cast<std::size_t>(slots[r])];
               }
             });
}

/// An hour of 60 sensors at 10 Hz. `changing` of them give another value each time, like power and
/// clocks; the others every 10 s, like limits and totals.
void print_sensors(std::size_t changing) {
  constexpr std::size_t kSeries = 60;
  constexpr std::int64_t kTicks = 36'000;
  constexpr std::int64_t kTicksUnchanged = 100;
  const test::TempDir dir;
  const auto path = dir.path() / "bench.gputrace";
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(path, store::OnExisting::kReplace, {});
  GPUTRACE_CHECK(writer.has_value());
  const auto source = writer->define_sensor_source(
      {"bench", std::nullopt, std::vector<sampler::SensorDescription>(kSeries)});
  GPUTRACE_CHECK(source.has_value());
  const std::int64_t start_ns = test::SessionRecipe{}.start_ns;
  const std::int64_t cpu_ns = process_cpu_time_ns();
  std::mt19937_64 random(3);
  for (std::int64_t tick = 0; tick < kTicks; ++tick) {
    const std::int64_t now_ns = start_ns + tick * 100 * kNsPerMs;
    for (std::size_t i = 0; i < kSeries; ++i) {
      const bool changes = i < changing;
      if (!changes && tick % kTicksUnchanged != kTicksUnchanged - 1) {
        continue;
      }
      const std::int64_t first_ns = changes ? now_ns : now_ns - (kTicksUnchanged - 1) * 100'000'000;
      const store::SensorRun run{
          .start_ns = first_ns,
          .end_ns = now_ns,
          .readings = changes ? 1U : std::uint32_t{kTicksUnchanged},
          .value = static_cast<double>(random() % 100'000) / 1000};  // mW, as hwmon has them
      GPUTRACE_CHECK(writer->write_sensor_run(source->series[i], run).has_value());
    }
    if (tick % 10 == 9) {
      GPUTRACE_CHECK(writer->commit().has_value());
    }
  }
  GPUTRACE_CHECK(writer->finish({}).has_value());
  const double write_s = static_cast<double>(process_cpu_time_ns() - cpu_ns) * 1e-9;
  const std::int64_t read_ns = monotonic_now_ns();
  const Result<store::SessionReader> reader = store::SessionReader::open(path);
  std::size_t runs = 0;
  GPUTRACE_CHECK(reader && reader->for_each_sensor_run(std::nullopt,
                                                       [&](std::int64_t, const store::SensorRun&) {
                                                         ++runs;
                                                         return Status{};
                                                       }));
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print(
      "{} sensors at 10 Hz, {} of them changing: {:.1f} MB an hour, {:.1f} bytes a row, written in "
      "{:.1f} s CPU, read in {:.2f} s\n",
      kSeries, changing, bytes / 1e6, bytes / static_cast<double>(runs), write_s,
      static_cast<double>(monotonic_now_ns() - read_ns) * 1e-9);
}

long peak_memory_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void print_hour_of_counts() {
  const test::TempDir dir;
  TwoStateBits bits(1, 2);
  const std::int64_t start_ns = process_cpu_time_ns();
  const auto path =
      record(dir, 3600, [&](std::int64_t, std::vector<std::uint32_t>& words) { bits.step(words); });
  fmt::print("one hour of the same: written in {:.2f} s CPU\n",
             static_cast<double>(process_cpu_time_ns() - start_ns) * 1e-9);
  const std::int64_t read_ns = monotonic_now_ns();
  const Result<store::SessionReader> reader = store::SessionReader::open(path);
  GPUTRACE_CHECK(reader.has_value());
  const auto counts = reader->counts(reader->segments()[0], bits.bits(), std::nullopt);
  GPUTRACE_CHECK(counts.has_value());
  fmt::print("its counts of {} bits per 100 ms: {:.3f} s, process peak {} MiB\n", kBits,
             static_cast<double>(monotonic_now_ns() - read_ns) * 1e-9, peak_memory_kib() / 1024);
}

}  // namespace
}  // namespace gputrace

int main() {
  gputrace::print_game();
  gputrace::print_two_state(0.0);
  gputrace::print_two_state(1.0);
  gputrace::print_hour_of_counts();
  gputrace::print_sensors(20);
  gputrace::print_sensors(60);
}
