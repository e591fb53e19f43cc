#include "cli/commands/report/kept_chunks.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace gputrace::commands {
namespace {

/// Two hours at 1 kHz of 40 units that all work.
constexpr std::size_t kMostPlainBytes = std::size_t{6} << 20U;
/// The rest of a day of them. What does not fit is read from the file again.
constexpr std::size_t kMostCompressedBytes = std::size_t{44} << 20U;

/// Lists behind each other, each compressed alone: units have distributions of their own.
class ChunkWriter {
 public:
  explicit ChunkWriter(store::Compressor& compressor) : compressor_(compressor) {}

  void write(const PackedCounts& counts) {
    for (const std::span<const std::uint8_t> list : {counts.low(), counts.high()}) {
      if (list.empty()) {
        number(0);
        continue;
      }
      const auto blob = compressor_.compress(std::as_bytes(list));
      failed_ = failed_ || !blob;
      if (blob) {
        number(blob->size());
        bytes_.insert(bytes_.end(), blob->begin(), blob->end());
      }
    }
  }
  void number(std::size_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xffU));
    }
  }
  void text(const std::string& text) {
    number(text.size());
    const auto raw = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  /// Absent when something could not be compressed.
  [[nodiscard]] std::optional<std::vector<std::byte>> take() {
    bytes_.shrink_to_fit();
    return failed_ ? std::nullopt : std::optional(std::move(bytes_));
  }

 private:
  store::Compressor& compressor_;
  std::vector<std::byte> bytes_;
  bool failed_ = false;
};

/// Reads what ChunkWriter wrote in this process.
class ChunkReader {
 public:
  ChunkReader(std::span<const std::byte> bytes, store::Decompressor& decompressor)
      : left_(bytes), decompressor_(decompressor) {}

  PackedCounts counts() {
    PackedCounts counts;
    counts.set_low(list());
    counts.set_high(list());
    return counts;
  }
  std::size_t number() {
    std::size_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : take(4)) {
      value |= std::to_integer<std::size_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }
  std::string text() {
    std::string text;
    for (const std::byte byte : take(number())) {
      text.push_back(std::to_integer<char>(byte));
    }
    return text;
  }

 private:
  /// Valid until the next call.
  std::span<const std::byte> list() {
    const std::span<const std::byte> blob = take(number());
    if (blob.empty()) {
      return {};
    }
    const auto list = decompressor_.decompress(blob, kGridChunkCells);
    GPUTRACE_CHECK(list.has_value());  // this process wrote it
    return *list;
  }
  std::span<const std::byte> take(std::size_t size) {
    const std::span<const std::byte> taken = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  std::span<const std::byte> left_;
  store::Decompressor& decompressor_;
};

std::optional<std::vector<std::byte>> compress(const KeptChunk& chunk,
                                               store::Compressor& compressor) {
  ChunkWriter writer(compressor);
  writer.number(chunk.valid.size());
  for (const auto& [name, counts] : chunk.valid) {
    writer.text(name);
    writer.write(counts);
  }
  writer.number(chunk.units.size());
  for (const KeptChunk::Unit& unit : chunk.units) {
    writer.write(unit.busy);
    writer.write(unit.changes);
  }
  writer.write(chunk.asleep);
  writer.write(chunk.unknown);
  return writer.take();
}

KeptChunk decompress(std::span<const std::byte> bytes, store::Decompressor& decompressor) {
  ChunkReader reader(bytes, decompressor);
  KeptChunk chunk;
  for (std::size_t left = reader.number(); left > 0; --left) {
    std::string name = reader.text();
    chunk.valid.emplace(std::move(name), reader.counts());
  }
  for (std::size_t left = reader.number(); left > 0; --left) {
    PackedCounts busy = reader.counts();
    chunk.units.push_back({std::move(busy), reader.counts()});
  }
  chunk.asleep = reader.counts();
  chunk.unknown = reader.counts();
  return chunk;
}

}  // namespace

bool KeptChunks::full() const {
  return compressed_bytes_ >= kMostCompressedBytes;
}

bool KeptChunks::put(std::size_t index, const ChunkCounts& chunk) {
  if (plain_.contains(index) || compressed_.contains(index)) {
    return true;
  }
  if (full()) {
    return false;
  }
  std::optional<KeptChunk> packed = pack(chunk);
  if (!packed) {
    return false;
  }
  if (plain_bytes_ + packed->bytes() <= kMostPlainBytes) {
    plain_bytes_ += packed->bytes();
    plain_.emplace(index, std::move(*packed));
    return true;
  }
  std::optional<Compressed> compressed = compress(*packed, compressor_);
  if (!compressed) {
    return false;
  }
  compressed_bytes_ += compressed->size();
  compressed_.emplace(index, std::move(*compressed));
  return true;
}

const KeptChunk* KeptChunks::find(std::size_t index) {
  if (const auto plain = plain_.find(index); plain != plain_.end()) {
    return &plain->second;
  }
  if (open_ && open_->first == index) {
    return &open_->second;
  }
  const auto compressed = compressed_.find(index);
  if (compressed == compressed_.end()) {
    return nullptr;
  }
  open_.emplace(index, decompress(compressed->second, decompressor_));
  return &open_->second;
}

}  // namespace gputrace::commands
