// zstd for the blobs of a block. A blob is one version byte and one zstd frame that states its
// content size; the size is checked against the caller's bound before anything is decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::store {

inline constexpr std::uint8_t kBlobVersion = 1;
/// Chosen with tests/bench/bench_store_size: higher levels find no more in bit planes.
inline constexpr int kBlockLevel = 6;
/// For what only memory holds.
inline constexpr int kFastestLevel = 1;

class Compressor {
 public:
  explicit Compressor(int level = kBlockLevel);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  Result<std::vector<std::byte>> compress(std::span<const std::byte> raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  int level_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Valid until the next call. kCorrupt when the blob is damaged or would be larger than
  /// `max_size`; kUnsupported for another version byte.
  Result<std::span<const std::byte>> decompress(std::span<const std::byte> blob,
                                                std::size_t max_size);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace gputrace::store
