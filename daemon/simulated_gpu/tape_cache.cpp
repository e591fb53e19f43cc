#include "daemon/simulated_gpu/tape_cache.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <system_error>
#include <vector>

namespace gputrace::simulated_gpu {

namespace {

// A file is a row of 64-bit words in the machine's order: header, operating point, variants.
// Another byte order does not match the magic.
constexpr std::uint64_t kMagic = 0x6770757461706532;  // "gputape2"
constexpr std::size_t kHeaderWords = 3;               // magic, key, checksum of what follows
constexpr std::size_t kPointWords = 13;
constexpr std::uintmax_t kMaxFileBytes = 1U << 30U;

using Words = std::vector<std::uint64_t>;

std::uint64_t checksum(std::span<const std::uint64_t> words) {
  std::uint64_t sum = words.size();
  for (const std::uint64_t word : words) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    sum ^= sum >> 32U;
  }
  return sum;
}

std::array<double, kPointWords> to_numbers(const OperatingPoint& point) {
  const WorkDone& work = point.work;
  return {point.clock_ghz, point.power_w,        point.cpu_ms,
          point.length_ns, point.gpu_ns,         work.flops,
          work.threads,    work.dram_read_bytes, work.dram_written_bytes,
          work.ta_busy_ns, work.simd_busy_ns,    work.cb_busy_ns,
          point.cpu_w};
}

OperatingPoint to_point(const std::array<double, kPointWords>& n) {
  return {.clock_ghz = n[0],
          .power_w = n[1],
          .cpu_w = n[12],
          .cpu_ms = n[2],
          .length_ns = n[3],
          .gpu_ns = n[4],
          .work = {.flops = n[5],
                   .dram_read_bytes = n[7],
                   .dram_written_bytes = n[8],
                   .threads = n[6],
                   .simd_busy_ns = n[10],
                   .ta_busy_ns = n[9],
                   .cb_busy_ns = n[11]}};
}

Words encode(std::uint64_t key, const SteadySignal& signal) {
  Words words{kMagic, key, 0};
  for (const double number : to_numbers(signal.operating_point())) {
    words.push_back(std::bit_cast<std::uint64_t>(number));
  }
  words.push_back(signal.variants().size());
  for (const Tape& tape : signal.variants()) {
    const TapeShape& shape = tape.shape();
    words.insert(words.end(), {shape.length_ns, shape.body_begin_ns, shape.body_end_ns,
                               shape.repeats, tape.segments().size()});
    words.insert(words.end(), tape.segments().begin(), tape.segments().end());
  }
  words[2] = checksum(std::span(words).subspan(kHeaderWords));
  return words;
}

/// Takes words off the front; `ok` turns false when there are too few.
class Cursor {
 public:
  explicit Cursor(std::span<const std::uint64_t> words) : words_(words) {}
  [[nodiscard]] std::span<const std::uint64_t> take(std::uint64_t count) {
    if (count > words_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = words_.first(count);
    words_ = words_.subspan(count);
    return taken;
  }
  [[nodiscard]] std::uint64_t take_one() {
    const auto taken = take(1);
    return taken.empty() ? 0 : taken.front();
  }
  [[nodiscard]] std::uint32_t take_u32() {
    const std::uint64_t word = take_one();
    ok_ = ok_ && word <= UINT32_MAX;
    return static_cast<std::uint32_t>(word);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return words_.empty(); }

 private:
  std::span<const std::uint64_t> words_;
  bool ok_ = true;
};

std::optional<Tape> decode_tape(Cursor& cursor) {
  TapeShape shape;
  shape.length_ns = cursor.take_u32();
  shape.body_begin_ns = cursor.take_u32();
  shape.body_end_ns = cursor.take_u32();
  shape.repeats = cursor.take_u32();
  const auto segments = cursor.take(cursor.take_one());
  if (!cursor.ok()) {
    return std::nullopt;
  }
  auto tape = Tape::from_segments({segments.begin(), segments.end()}, shape);
  return tape ? std::optional(std::move(*tape)) : std::nullopt;
}

std::optional<SteadySignal> decode(std::uint64_t key, std::span<const std::uint64_t> words) {
  if (words.size() < kHeaderWords || words[0] != kMagic || words[1] != key ||
      words[2] != checksum(words.subspan(kHeaderWords))) {
    return std::nullopt;
  }
  Cursor cursor(words.subspan(kHeaderWords));
  std::array<double, kPointWords> numbers{};
  for (double& number : numbers) {
    number = std::bit_cast<double>(cursor.take_one());
  }
  const std::uint64_t count = cursor.take_one();
  if (!cursor.ok() || !std::has_single_bit(count) || count > kMaxVariants) {
    return std::nullopt;
  }
  std::vector<Tape> variants;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto tape = decode_tape(cursor);
    if (!tape) {
      return std::nullopt;
    }
    variants.push_back(std::move(*tape));
  }
  return cursor.at_end() ? std::optional(SteadySignal(to_point(numbers), std::move(variants)))
                         : std::nullopt;
}

struct FileCloser {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

bool write_words(const std::filesystem::path& path, const Words& words) {
  std::FILE* file = std::fopen(path.c_str(), "wbxe");
  if (file == nullptr) {
    return false;
  }
  const bool written =
      std::fwrite(words.data(), sizeof(std::uint64_t), words.size(), file) == words.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

std::filesystem::path TapeCache::file_of(std::uint64_t key) const {
  return folder_ / fmt::format("simulated-{:016x}.tape", key);
}

std::optional<SteadySignal> TapeCache::load(std::uint64_t key) const {
  if (folder_.empty()) {
    return std::nullopt;
  }
  const auto path = file_of(key);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMaxFileBytes || bytes % sizeof(std::uint64_t) != 0) {
    return std::nullopt;
  }
  const File file(std::fopen(path.c_str(), "rbe"));
  Words words(bytes / sizeof(std::uint64_t));
  if (file == nullptr ||
      std::fread(words.data(), sizeof(std::uint64_t), words.size(), file.get()) != words.size()) {
    return std::nullopt;
  }
  return decode(key, words);
}

void TapeCache::store(std::uint64_t key, const SteadySignal& signal) const {
  if (folder_.empty() || signal.variants().empty()) {
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const auto path = file_of(key);
  auto part = path;
  part += fmt::format(".part-{:08x}", std::random_device{}());
  bool kept = write_words(part, encode(key, signal));
  if (kept) {
    std::filesystem::rename(part, path, error);
    kept = !error;
  }
  if (!kept) {
    std::filesystem::remove(part, error);
  }
}

}  // namespace gputrace::simulated_gpu
