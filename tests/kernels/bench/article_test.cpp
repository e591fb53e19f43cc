#include "kernels/bench/cases/article.h"

#include <doctest/doctest.h>

#include "kernels/bench/cases/case_data.h"
#include "tests/kernels/bench/bench_device.h"
#include "tests/kernels/bench/case_device.h"

namespace gputrace::bench {
namespace {

constexpr std::uint64_t kBytes = 65'536;

TEST_CASE("four chains do four times the FLOPs that the article's label says, one chain as many") {
  const auto facts = test::integrated_gpu();
  const ArticleCase one = article_case(facts, 64, 1, kBytes);
  CHECK(one.label_intensity == 16);
  CHECK(one.label_flops == 512);
  CHECK(one.sized.kernel.flops_once == 512);
  const ArticleCase four = article_case(facts, 64, 4, kBytes);
  CHECK(four.label_intensity == 16);
  CHECK(four.label_flops == 512);
  CHECK(four.sized.kernel.flops_once == 4 * 512 + 24);  // and the additions around them
}

TEST_CASE("many FMAs run on less memory, so that a dispatch stays short") {
  const auto facts = test::integrated_gpu();
  const std::uint64_t bytes = 128U << 20U;
  const SizedCase few = article_case(facts, 1, 4, bytes).sized;
  CHECK(read_bytes_of(few.kernel, few.launch) == static_cast<double>(bytes));
  const SizedCase many = article_case(facts, 512, 4, bytes).sized;
  CHECK(flops_of(many.kernel, many.launch) <= 33e9);
  CHECK(read_bytes_of(many.kernel, many.launch) >= 16e6);
}

TEST_CASE("the article's table has N from 1 to 512") {
  const auto all = article_fmas();
  CHECK(all.front() == 1);
  CHECK(all.back() == 512);
  CHECK(all.size() == 10);
}

TEST_CASE("the article's shapes run on a device and leave what the CPU calculates") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const std::uint32_t chains : {1U, 4U}) {
    for (const std::uint32_t fmas : {1U, 2U, 16U, 256U}) {
      const ArticleCase article = article_case(runner->facts(), fmas, chains, kBytes);
      INFO(article.sized.kernel.id);
      const auto prepared = runner->prepare(article.sized.kernel);
      REQUIRE_MESSAGE(prepared, test::error_text(prepared));
      const Status right = (*prepared)->check_result(article.sized.launch);
      CHECK_MESSAGE(right, test::error_text(right));
    }
  }
}

TEST_CASE("the article's result of another N is wrong, at any N") {
  const auto runner = test::bench_device_or_skip();
  if (!runner) {
    return;
  }
  for (const std::uint32_t chains : {1U, 4U}) {
    for (const std::uint32_t fmas : {2U, 17U, 300U}) {
      for (const std::uint32_t made : {fmas - 1, fmas + 1}) {
        KernelCase kernel = article_case(runner->facts(), fmas, chains, kBytes).sized.kernel;
        INFO(kernel.id, " with ", made);
        kernel.constants[1] = made;
        const auto prepared = runner->prepare(kernel);
        REQUIRE_MESSAGE(prepared, test::error_text(prepared));
        const Status wrong = (*prepared)->check_result({.groups = 4});
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().message.find("the CPU has") != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace gputrace::bench
