#include "kernels/bench/tests/icache/spirv_module.h"

#include <algorithm>

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kMagic = 0x07230203;
constexpr std::uint32_t kVersion = 0x00010300;
constexpr std::uint32_t kWordCountShift = 16;

std::uint32_t first_word(SpirvOp op, std::size_t operands) {
  return static_cast<std::uint32_t>(operands + 1) << kWordCountShift |
         static_cast<std::uint32_t>(op);
}

}  // namespace

void SpirvModule::add(Part part, SpirvOp op, std::initializer_list<std::uint32_t> operands) {
  std::vector<std::uint32_t>& words = words_of(part);
  words.push_back(first_word(op, operands.size()));
  words.insert(words.end(), operands);
}

void SpirvModule::add(Part part, SpirvOp op, const std::vector<std::uint32_t>& operands) {
  std::vector<std::uint32_t>& words = words_of(part);
  words.push_back(first_word(op, operands.size()));
  words.insert(words.end(), operands.begin(), operands.end());
}

SpirvId SpirvModule::add_result(Part part, SpirvOp op, SpirvId type,
                                std::initializer_list<std::uint32_t> operands) {
  const SpirvId id = new_id();
  std::vector<std::uint32_t>& words = words_of(part);
  words.push_back(first_word(op, operands.size() + 2));
  words.push_back(type);
  words.push_back(id);
  words.insert(words.end(), operands);
  return id;
}

std::vector<std::uint32_t> SpirvModule::words() const {
  // Magic number, version, generator, bound of the ids, schema.
  std::vector<std::uint32_t> all{kMagic, kVersion, 0, next_id_, 0};
  for (const std::vector<std::uint32_t>& part : parts_) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void SpirvModule::append_string(std::vector<std::uint32_t>& operands, std::string_view text) {
  constexpr std::size_t kBytes = sizeof(std::uint32_t);
  constexpr unsigned kByteBits = 8;
  for (std::size_t begin = 0; begin <= text.size(); begin += kBytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < std::min(kBytes, text.size() - begin); ++i) {
      word |= std::uint32_t{static_cast<unsigned char>(text[begin + i])} << (kByteBits * i);
    }
    operands.push_back(word);
  }
}

}  // namespace gputrace::bench
