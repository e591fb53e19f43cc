// Builds gpu_metrics tables as the driver does: all ones, then the header, then what is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "regdb/gpu_metrics.h"

namespace gputrace::test {

class MetricsTable {
 public:
  MetricsTable(std::uint8_t format, std::uint8_t content)
      : layout_(regdb::find_metrics_layout(format, content)) {
    GPUTRACE_CHECK(layout_ != nullptr);
    bytes_.assign(layout_->size, std::byte{0xff});
    put(0, 2, layout_->size);
    put(2, 1, format);
    put(3, 1, content);
  }

  MetricsTable& set(std::string_view field, std::uint64_t raw, std::size_t element = 0) {
    const regdb::MetricsField* found = layout_->find(field);
    GPUTRACE_CHECK(found != nullptr && element < found->count);
    put(found->offset + element * found->width, found->width, raw);
    return *this;
  }
  MetricsTable& put(std::size_t offset, std::size_t width, std::uint64_t raw) {
    for (std::size_t i = 0; i < width; ++i) {
      bytes_.at(offset + i) = static_cast<std::byte>(raw >> (8 * i));
    }
    return *this;
  }

  [[nodiscard]] const regdb::MetricsLayout& layout() const { return *layout_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  void write(const std::string& path) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes_.data()),
               static_cast<std::streamsize>(bytes_.size()));
  }

 private:
  const regdb::MetricsLayout* layout_;
  std::vector<std::byte> bytes_;
};

/// A file of tests/fixtures/gpu_metrics.
inline std::vector<std::byte> read_table(const std::string& name) {
  std::ifstream file(std::string(GPUTRACE_FIXTURES) + "/gpu_metrics/" + name, std::ios::binary);
  GPUTRACE_CHECK(file.good());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::byte> bytes;
  for (const char c : text) {
    bytes.push_back(static_cast<std::byte>(c));
  }
  return bytes;
}

}  // namespace gputrace::test
