// Reading and writing the integers inside a block's blobs: little endian and LEB128. The reader
// checks every length, since the bytes may come from a stranger.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace gputrace::store {

class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void fixed32(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) {
      byte(static_cast<std::uint8_t>(value >> shift));
    }
  }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      byte(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  /// The low `bits` bits of a plane, eight a byte, first tick in bit 0.
  void plane(std::span<const std::uint64_t> words, std::size_t bits) {
    for (std::size_t i = 0; i < bits; i += 8) {
      byte(static_cast<std::uint8_t>(words[i / 64] >> (i % 64)));
    }
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

/// After a read past the end or a malformed number, ok() is false and every value is 0.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && position_ == bytes_.size(); }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }

  std::uint8_t byte() {
    if (!ok_ || position_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }
  std::uint32_t fixed32() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      value |= static_cast<std::uint32_t>(byte()) << shift;
    }
    return ok_ ? value : 0;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) {
        return ok_ ? value : 0;
      }
    }
    ok_ = false;
    return 0;
  }
  /// A value of at most `limit`; anything larger is malformed.
  std::uint64_t varint_up_to(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) {
      ok_ = false;
      return 0;
    }
    return value;
  }
  /// Into words that are 0.
  void plane(std::span<std::uint64_t> words, std::size_t bits) {
    std::size_t i = 0;
    if constexpr (std::endian::native == std::endian::little) {  // eight bytes at once
      for (; i + 64 <= bits && ok_ && remaining() >= 8; i += 64, position_ += 8) {
        std::memcpy(&words[i / 64], &bytes_[position_], 8);
      }
    }
    for (; i < bits; i += 8) {
      words[i / 64] |= static_cast<std::uint64_t>(byte()) << (i % 64);
    }
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace gputrace::store
