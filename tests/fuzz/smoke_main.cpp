// Runs a fuzz target without a fuzzer: each seed of a folder, and seeded mutations of it. Any
// compiler can build it; a fault shows as an abort or a sanitizer's report.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr int kMutationsPerSeed = 400;

void mutate(Bytes& input, const std::vector<Bytes>& seeds, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) {
    return random() % std::max<std::size_t>(limit, 1);
  };
  const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
  switch (random() % 6) {
    case 0:
      input.insert(input.begin() + at, static_cast<std::uint8_t>(random()));
      break;
    case 1:
      input.resize(static_cast<std::size_t>(at));
      break;
    case 2:
      input.insert(input.begin() + at, below(2000), static_cast<std::uint8_t>('0' + random() % 10));
      break;
    case 3: {
      const Bytes& other = seeds[below(seeds.size())];
      input.insert(input.begin() + at, other.begin(), other.end());
      break;
    }
    default:
      if (!input.empty()) {
        input[below(input.size())] = static_cast<std::uint8_t>(random());
      }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: smoke_NAME SEED_FOLDER\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());  // the folder's own order differs between machines
  std::vector<Bytes> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds in %s\n", argv[1]);
    return 1;
  }
  std::mt19937 random(2026);
  std::size_t runs = 0;
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (const Bytes& seed : seeds) {
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
    for (int i = 0; i < kMutationsPerSeed; ++i, ++runs) {
      Bytes input = seed;
      for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
        mutate(input, seeds, random);
      }
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  }
  std::printf("%zu seeds, %zu mutations\n", seeds.size(), runs);
  return 0;
}
