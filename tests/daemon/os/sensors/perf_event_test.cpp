#include "daemon/os/sensors/perf_event.h"

#include <doctest/doctest.h>
#include <linux/perf_event.h>
#include <sched.h>

#include <cerrno>

#include "daemon/base/unique_fd.h"
#include "tests/daemon/os/sensors/fake_pmus.h"

namespace gputrace::os {

TEST_CASE("the kernel's own clock event can be opened on a CPU and moves") {
  const int cpu = ::sched_getcpu();
  const int opened = open_perf_event({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}, cpu);
  if (opened < 0) {
    MESSAGE("skipped: ", explain_perf_error(-opened, "cpu-clock", cpu, {}).reason);
    return;
  }
  const UniqueFd fd(opened);
  PerfCount first;
  REQUIRE(read_perf_event(fd.get(), first) == 0);
  PerfCount second;
  // cpu-clock runs with time, whatever the CPU does.
  for (int i = 0; i < 1'000'000 && second.value <= first.value; ++i) {
    REQUIRE(read_perf_event(fd.get(), second) == 0);
  }
  CHECK(second.value > first.value);
  CHECK(second.running_ns > first.running_ns);
  CHECK(second.enabled_ns >= second.running_ns);
}

TEST_CASE("a PMU that is not there is an errno") {
  CHECK(open_perf_event({0xfffffff0U, 0}, 0) < 0);
}

TEST_CASE("a read says what went wrong, and changes nothing then") {
  PerfCount count{1, 2, 3};
  CHECK(read_perf_event(-1, count) == EBADF);
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  REQUIRE(::write(write_end.get(), "short", 5) == 5);
  CHECK(read_perf_event(read_end.get(), count) == EIO);
  write_end.reset();
  CHECK(read_perf_event(read_end.get(), count) == ENODEV);  // the CPU has gone offline
  CHECK(count.value == 1);
  CHECK(count.running_ns == 3);
}

TEST_CASE("a refusal names what it needs and the setting as it is") {
  const test::FakePmus pmus;
  pmus.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  const PerfRefusal refusal = explain_perf_error(EACCES, "amd_umc_0", 3, pmus.roots());
  CHECK(refusal.is_permission);
  CHECK(refusal.reason ==
        "cannot count amd_umc_0 on CPU 3: Permission denied; it needs CAP_PERFMON, or "
        "kernel.perf_event_paranoid at 0 or below, and that is 2");
  CHECK(refusal.fix.find("sudo sysctl kernel.perf_event_paranoid=0") != std::string::npos);
  CHECK(explain_perf_error(EPERM, "x", 0, pmus.roots()).is_permission);
}

TEST_CASE("a refusal that the setting does not explain is a sandbox's") {
  const test::FakePmus pmus;
  pmus.write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  const PerfRefusal refusal = explain_perf_error(EPERM, "power", 0, pmus.roots());
  CHECK(refusal.reason.find("is -1, which allows it") != std::string::npos);
  CHECK(refusal.fix == "run gputrace outside the container");
  const test::FakePmus bare;
  CHECK(explain_perf_error(EPERM, "power", 0, bare.roots()).reason.find("that is not readable") !=
        std::string::npos);
}

TEST_CASE("every other errno is named with what it means") {
  const SystemRoots roots;
  const auto reason = [&](int error_number) {
    const PerfRefusal refusal = explain_perf_error(error_number, "amd_df", 0, roots);
    CHECK_FALSE(refusal.is_permission);
    return refusal.reason;
  };
  CHECK(reason(ENOENT).find("does not have the event") != std::string::npos);
  CHECK(reason(ENODEV).find("the CPU is offline") != std::string::npos);
  CHECK(reason(EINVAL).find("does not take the event as it is encoded") != std::string::npos);
  CHECK(reason(EMFILE).find("may not open more files") != std::string::npos);
  CHECK(reason(EBUSY).find("holds the PMU for itself") != std::string::npos);
  CHECK(reason(ENOSYS).find("without perf events") != std::string::npos);
  CHECK(reason(EIO) == "cannot count amd_df on CPU 0: Input/output error");
}

}  // namespace gputrace::os
