#include "daemon/store/compression.h"

#include <fmt/format.h>
#include <zstd.h>

namespace gputrace::store {

struct Compressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { ZSTD_freeCCtx(zstd); }
};

Compressor::Compressor(int level) : context_(std::make_unique<Context>()), level_(level) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

Result<std::vector<std::byte>> Compressor::compress(std::span<const std::byte> raw) {
  std::vector<std::byte> blob(1 + ZSTD_compressBound(raw.size()));
  blob[0] = std::byte{kBlobVersion};
  const std::size_t size = ZSTD_compressCCtx(context_->zstd, blob.data() + 1, blob.size() - 1,
                                             raw.data(), raw.size(), level_);
  if (ZSTD_isError(size) != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot compress a sample block: {}", ZSTD_getErrorName(size)));
  }
  blob.resize(1 + size);
  return blob;
}

struct Decompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  std::vector<std::byte> buffer;
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { ZSTD_freeDCtx(zstd); }
};

Decompressor::Decompressor() : context_(std::make_unique<Context>()) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

Result<std::span<const std::byte>> Decompressor::decompress(std::span<const std::byte> blob,
                                                            std::size_t max_size) {
  if (blob.empty()) {
    return fail(ErrorCode::kCorrupt, "an empty blob");
  }
  if (blob[0] != std::byte{kBlobVersion}) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("a blob of version {}", static_cast<unsigned>(blob[0])));
  }
  const std::span<const std::byte> frame = blob.subspan(1);
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > max_size) {
    return fail(ErrorCode::kCorrupt, "a blob that is no zstd frame of a possible size");
  }
  std::vector<std::byte>& buffer = context_->buffer;
  if (buffer.size() < size) {
    buffer.resize(static_cast<std::size_t>(size));
  }
  const std::size_t got = ZSTD_decompressDCtx(
      context_->zstd, buffer.data(), static_cast<std::size_t>(size), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return fail(ErrorCode::kCorrupt, "a damaged zstd frame");
  }
  return std::span<const std::byte>(buffer.data(), got);
}

}  // namespace gputrace::store
