#include "tests/support/memory_hierarchy.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gputrace::test {

namespace {

constexpr std::uint64_t kNothing = ~std::uint64_t{0};
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
/// Walks are measured over this many accesses at most.
constexpr std::uint64_t kMostMeasured = 60'000;
constexpr std::uint64_t kFewestMeasured = 20'000;
constexpr std::size_t kKeptTimes = 4096;
/// Random replacement forgets its beginning slowly; of streams only the plateaus are looked at.
constexpr std::uint64_t kWarmPasses = 2;
constexpr std::uint64_t kFramesPerPage = 4;

/// Steele, Lea and Flood 2014: lower bits as good as the others, whatever the number of sets.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
  return value ^ (value >> 31U);
}

class Tags {
 public:
  explicit Tags(const SimulatedCache& cache) : cache_(cache) {
    const double lines = cache.bytes / cache.line;
    ways_ = std::max<std::uint32_t>(1, std::min(cache.ways, static_cast<std::uint32_t>(lines)));
    sets_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(lines / ways_));
    tags_.assign(sets_ * ways_, kNothing);
    ages_.assign(sets_ * ways_, 0);
    tree_.assign(sets_, 0);
  }

  bool access(std::uint64_t address, std::mt19937_64& random) {
    const std::uint64_t line = address / cache_.line;
    std::uint64_t key = line;
    if (cache_.hashed) {
      key = mixed(line);
    }
    const std::uint64_t set = key % sets_;
    const std::uint64_t first = set * ways_;
    // Plain pointers: this loop is most of what tests without optimisation wait for.
    std::uint64_t* const tags = &tags_[first];
    const std::uint32_t ways = ways_;
    for (std::uint32_t way = 0; way < ways; ++way) {
      if (tags[way] == line) {
        touch(set, way);
        return true;
      }
    }
    const std::uint32_t way = victim(set, random);
    tags[way] = line;
    touch(set, way);
    return false;
  }

 private:
  void touch(std::uint64_t set, std::uint32_t way) {
    ages_[set * ways_ + way] = ++time_;
    if (cache_.replacement != Replacement::kTreeLru) {
      return;
    }
    std::uint64_t& tree = tree_[set];
    std::uint32_t node = 1;
    for (std::uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool upper = (way & half) != 0;
      // Each node points away from what was used last.
      tree = upper ? tree & ~(std::uint64_t{1} << node) : tree | (std::uint64_t{1} << node);
      node = 2 * node + (upper ? 1 : 0);
    }
  }

  std::uint32_t victim(std::uint64_t set, std::mt19937_64& random) const {
    const std::uint64_t first = set * ways_;
    switch (cache_.replacement) {
      case Replacement::kRandom:
        return static_cast<std::uint32_t>(random() % ways_);
      case Replacement::kTreeLru: {
        std::uint32_t node = 1;
        std::uint32_t way = 0;
        for (std::uint32_t half = ways_ / 2; half > 0; half /= 2) {
          const bool upper = ((tree_[set] >> node) & 1U) != 0;
          way += upper ? half : 0;
          node = 2 * node + (upper ? 1 : 0);
        }
        return way;
      }
      case Replacement::kLru:
        break;
    }
    const std::uint64_t* const ages = &ages_[first];
    std::uint32_t oldest = 0;
    for (std::uint32_t way = 1; way < ways_; ++way) {
      oldest = ages[way] < ages[oldest] ? way : oldest;
    }
    return oldest;
  }

  SimulatedCache cache_;
  std::uint32_t ways_ = 1;
  std::uint64_t sets_ = 1;
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint64_t> ages_;
  std::vector<std::uint64_t> tree_;
  std::uint64_t time_ = 0;
};

struct Machine {
  const SimulatedHierarchy& hierarchy;
  std::vector<Tags> caches;
  std::vector<Tags> tlbs;
  std::vector<std::uint64_t> frames;
  std::mt19937_64 random;

  Machine(const SimulatedHierarchy& what, double bytes, std::uint64_t seed)
      : hierarchy(what), random(seed) {
    caches.reserve(what.caches.size());
    for (const SimulatedCache& cache : what.caches) {
      caches.emplace_back(cache);
    }
    for (const SimulatedCache& tlb : what.tlbs) {
      tlbs.emplace_back(tlb);
    }
    const auto pages = static_cast<std::uint64_t>(bytes) / what.page + 2;
    frames.resize(pages * kFramesPerPage);
    std::iota(frames.begin(), frames.end(), std::uint64_t{0});
    std::shuffle(frames.begin(), frames.end(), random);
  }

  struct Access {
    double ns = 0;
    std::size_t served_by = 0;
    std::size_t tlbs_missed = 0;
  };

  Access access(std::uint64_t address) {
    const std::uint64_t physical =
        frames[address / hierarchy.page] * hierarchy.page + address % hierarchy.page;
    Access result{.ns = hierarchy.base_ns, .served_by = 0, .tlbs_missed = 0};
    for (; result.served_by < caches.size(); ++result.served_by) {
      const SimulatedCache& cache = hierarchy.caches[result.served_by];
      if (caches[result.served_by].access(cache.physical ? physical : address, random)) {
        break;
      }
      result.ns += cache.added_ns;
    }
    for (; result.tlbs_missed < tlbs.size(); ++result.tlbs_missed) {
      if (tlbs[result.tlbs_missed].access(address, random)) {
        break;
      }
      result.ns += hierarchy.tlbs[result.tlbs_missed].added_ns;
    }
    return result;
  }
};

std::vector<std::uint32_t> order_of(std::uint32_t nodes, Walk kind, std::mt19937_64& random) {
  std::vector<std::uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  if (kind != Walk::kInOrder) {
    std::shuffle(order.begin(), order.end(), random);
  }
  return order;
}

}  // namespace

SimulatedWalk walk(const SimulatedHierarchy& hierarchy, double bytes, std::uint64_t stride,
                   Walk kind, std::uint64_t seed) {
  Machine machine(hierarchy, bytes, seed);
  const auto nodes =
      std::max<std::uint32_t>(1, static_cast<std::uint32_t>(bytes / static_cast<double>(stride)));
  const auto order = order_of(nodes, kind, machine.random);
  const auto address = [&](std::uint64_t step) {
    const std::uint64_t node = order[step % nodes];
    std::uint64_t at = node * stride;
    if (kind == Walk::kJittered && stride > 64) {
      at += (node * kGolden >> 40U) % (stride / 64) * 64;
    }
    return at;
  };
  const std::uint64_t warm = (kind == Walk::kInOrder ? 1 : kWarmPasses) * nodes;
  for (std::uint64_t step = 0; step < warm; ++step) {
    machine.access(address(step));
  }
  SimulatedWalk result;
  result.served.assign(hierarchy.caches.size() + 1, 0.0);
  result.tlb_missed.assign(hierarchy.tlbs.size(), 0.0);
  const std::uint64_t measured =
      std::min(std::max<std::uint64_t>(nodes, kFewestMeasured), kMostMeasured);
  for (std::uint64_t step = 0; step < measured; ++step) {
    const Machine::Access access = machine.access(address(warm + step));
    result.mean_ns += access.ns / static_cast<double>(measured);
    result.served[access.served_by] += 1.0 / static_cast<double>(measured);
    for (std::size_t i = 0; i < access.tlbs_missed; ++i) {
      result.tlb_missed[i] += 1.0 / static_cast<double>(measured);
    }
    if (result.ns.size() < kKeptTimes) {
      result.ns.push_back(access.ns);
    }
  }
  return result;
}

double bandwidth(const SimulatedHierarchy& hierarchy, double bytes, std::uint64_t seed) {
  const std::uint64_t line = hierarchy.caches.empty() ? 64 : hierarchy.caches.front().line;
  const SimulatedWalk stream = walk(hierarchy, bytes, line, Walk::kInOrder, seed);
  double ns_per_byte = stream.served.back() / hierarchy.memory_gbps;
  for (std::size_t i = 0; i < hierarchy.caches.size(); ++i) {
    ns_per_byte += stream.served[i] / hierarchy.caches[i].gbps;
  }
  return 1 / ns_per_byte;
}

}  // namespace gputrace::test
