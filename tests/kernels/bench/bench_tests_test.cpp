#include <doctest/doctest.h>

#include <set>
#include <string>

#include "kernels/bench/bench_test.h"
#include "tests/kernels/bench/fake_runner.h"

using namespace gputrace;         // NOLINT(google-build-using-namespace)
using namespace gputrace::bench;  // NOLINT(google-build-using-namespace)

TEST_CASE("every test of the bench says what it is and what it takes") {
  std::set<std::string> ids;
  for (const BenchTest& test : bench_tests()) {
    CAPTURE(std::string(test.id));
    CHECK(ids.insert(std::string(test.id)).second);
    CHECK_FALSE(test.summary.empty());
    CHECK(test.quick_s > 0);
    CHECK(test.full_s > test.quick_s);
    CHECK((test.run != nullptr));
    CHECK((test.cases != nullptr));
  }
  CHECK(ids.contains("latency"));
  CHECK(ids.contains("atomics"));
  CHECK(ids.contains("occupancy"));
}

TEST_CASE("every case has a name of its own, a shader, a check and a description") {
  const test::FakeRunner runner;
  std::set<std::string> ids;
  for (const KernelCase& kernel : all_cases(runner.facts())) {
    CAPTURE(kernel.id);
    CHECK(ids.insert(kernel.id).second);
    CHECK_FALSE(kernel.description.empty());
    CHECK_FALSE((kernel.code.empty() && shader_code(kernel.shader).empty()));
    CHECK(kernel.check);
    REQUIRE(kernel.stimulus);
    const Stimulus stimulus = kernel.stimulus({.groups = 2, .trips = 3, .repeats = 4});
    CHECK(stimulus.kernel == kernel.id);
    CHECK(stimulus.threads > 0);
    CHECK(stimulus.launches == 4);
  }
}
