#include "kernels/bench/cases/article.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/cases/rounding.h"

namespace gputrace::bench {
namespace {

// article.comp
constexpr std::uint64_t kVectorFloats = 4;
constexpr std::uint64_t kVectorBytes = 16;
constexpr std::uint32_t kMostChains = 4;
constexpr float kFactor = -0.9990417F;
constexpr float kApart = 0.3713F;
/// Additions of four chains: three to begin them, three to join them.
constexpr double kAdditions = 6.0 * kVectorFloats;
constexpr std::uint32_t kMostFmas = 512;
constexpr std::uint64_t kCheckedThreads = 64;

/// What becomes of a number.
float result_of(const MultiplyAdd<float>& way, float number, std::uint32_t fmas,
                std::uint32_t chains) {
  std::array<float, kMostChains> values{};
  float start = number;
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    values.at(chain) = start;
    start += kApart;
    for (std::uint32_t i = 0; i < fmas; ++i) {
      values.at(chain) = way.of(values.at(chain), kFactor, number);
    }
  }
  float sum = values[0];
  for (std::uint32_t chain = 1; chain < chains; ++chain) {
    sum += values.at(chain);
  }
  return sum;
}

/// Each FMA rounds a value below 4 once or twice, and the next ones pass the error on and make it
/// no larger. Additions round a sum below 16.
double bound_of(std::uint32_t fmas, std::uint32_t chains) {
  return chains * (fmas * 2.0 * 4.0 + 16.0) * 0x1p-24;
}

Status check(const std::string& id, std::uint32_t fmas, std::uint32_t chains, std::uint64_t threads,
             const Outputs& outputs) {
  const std::span<const std::byte> result = outputs.buffers.at(1);
  const double bound = bound_of(fmas, chains);
  for (const std::uint64_t thread : sample_of(threads, kCheckedThreads)) {
    for (std::uint64_t place = thread * kVectorFloats; place < (thread + 1) * kVectorFloats;
         ++place) {
      const auto got = read_at<float>(result, place);
      const float wanted =
          result_of(fp32_multiply_adds().front(), pattern_float(place), fmas, chains);
      if (!(std::abs(static_cast<double>(got) - wanted) <= bound)) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("{}: float {} is {}, the CPU has {} (+- {:.2g})", id, place, got,
                                wanted, bound));
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> article_fmas() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t fmas = 1; fmas <= kMostFmas; fmas *= 2) {
    all.push_back(fmas);
  }
  return all;
}

ArticleCase article_case(const vulkan::DeviceFacts& facts, std::uint32_t fmas, std::uint32_t chains,
                         std::uint64_t bytes) {
  GPUTRACE_CHECK(chains == 1 || chains == kMostChains);
  ArticleCase article;
  article.fmas = fmas;
  article.chains = chains;
  article.label_flops = 2.0 * fmas * kVectorFloats;
  article.label_intensity = article.label_flops / (2 * kVectorBytes);

  KernelCase& kernel = article.sized.kernel;
  kernel.id = fmt::format("article.n{}.chains{}", fmas, chains);
  kernel.description =
      fmt::format("a vec4 loaded, {} FMAs on each number of {} vec4, a vec4 stored", fmas, chains);
  kernel.shader = "article.comp";
  kernel.group_threads = memory_group_threads(facts);
  kernel.constants = {kernel.group_threads, fmas, chains};

  article.sized.launch.groups =
      stream_groups(facts, bytes, static_cast<double>(kVectorBytes) * kernel.group_threads,
                    article.label_flops * chains * kernel.group_threads);
  const std::uint64_t threads =
      static_cast<std::uint64_t>(article.sized.launch.groups) * kernel.group_threads;
  kernel.buffers = {{.binding = 0, .bytes = threads * kVectorBytes, .fill = fill_with_floats},
                    {.binding = 1, .bytes = threads * kVectorBytes, .fill = {}}};
  kernel.push = [](const Launch&, std::span<const vulkan::Buffer* const>) {
    vulkan::PushConstants push{};
    write_at(push, 0, kFactor);
    write_at(push, 1, kApart);
    return push;
  };

  const double all_fmas = static_cast<double>(fmas) * chains * kVectorFloats;
  const double additions = chains == 1 ? 0 : kAdditions;
  kernel.formula = {{.operation = Operation::kFmaF32, .once = all_fmas},
                    {.operation = Operation::kAddF32, .once = additions},
                    {.operation = Operation::kLoad16, .once = 1},
                    {.operation = Operation::kStore16, .once = 1}};
  kernel.flops_once = 2 * all_fmas + additions;
  kernel.read_bytes_once = kVectorBytes;
  kernel.written_bytes_once = kVectorBytes;
  kernel.max_code_bytes = std::nullopt;
  kernel.check = [id = kernel.id, fmas, chains, group_threads = kernel.group_threads](
                     const Launch& launch, const Outputs& outputs) {
    return check(id, fmas, chains, static_cast<std::uint64_t>(launch.groups) * group_threads,
                 outputs);
  };
  kernel.stimulus =
      stimulus_of(kernel, Arithmetic::kFp32,
                  {.access = Access::kStream,
                   .footprint_bytes = 2.0 * static_cast<double>(threads) * kVectorBytes});
  return article;
}

}  // namespace gputrace::bench
