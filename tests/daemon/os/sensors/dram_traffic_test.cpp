// amd_umc and amd_df: what is opened, what the counts become, and what is said when they cannot.
#include <doctest/doctest.h>

#include <cerrno>

#include "daemon/os/sensors/amd_df.h"
#include "daemon/os/sensors/amd_umc.h"
#include "tests/daemon/os/sensors/fake_pmus.h"

namespace gputrace::os {

namespace {

using sampler::SensorOutcome;
using test::FakePmus;

constexpr std::uint64_t kMs = 1'000'000;
constexpr PerfEvent kRead0{40, 0x10a};
constexpr PerfEvent kWrite0{40, 0x20a};

using Values = std::vector<std::optional<double>>;

SensorOutcome read(OpenedSensors& opened, Values& values) {
  sampler::SensorReader& reader = *opened.readers.at(0);
  values.assign(reader.sensors().size(), 77.0);
  return reader.read(values);
}

void add_df(const FakePmus& pmus, bool is_zen4) {
  pmus.add("amd_df", 14, "0",
           {{"format/event", is_zen4 ? "config:0-7,32-37" : "config:0-7,32-35,59-60"},
            {"format/umask", is_zen4 ? "config:8-15,24-27" : "config:8-15"}});
}

const SourceFinding& only(const OpenedSensors& opened) {
  REQUIRE(opened.findings.size() == 1);
  return opened.findings.front();
}

}  // namespace

TEST_CASE("amd_umc: CAS commands of all controllers are bytes read and written") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  pmus.add_umc(1, 41);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(only(opened).state == SourceState::kWorks);
  CHECK(only(opened).loses.empty());
  REQUIRE(opened.readers.size() == 1);
  REQUIRE(pmus.opened().size() == 4);
  CHECK(pmus.opened()[0].first.config == 0x10a);
  CHECK(pmus.opened()[1].first.config == 0x20a);
  CHECK(pmus.opened()[3].first.type == 41);
  const auto sensors = opened.readers[0]->sensors();
  CHECK(sensors[0].name == "dram_read");
  CHECK(sensors[1].source == "pmu amd_umc umc_cas_cmd.wr");
  CHECK(sensors[1].covers == "whole machine: CPU and GPU together");
  CHECK(sensors[1].kind == sampler::SensorKind::kCounter);
  CHECK_FALSE(opened.readers[0]->needs_gpu_awake());

  pmus.push_open({40, 0x10a}, 0, {1000, 100 * kMs, 100 * kMs});
  pmus.push_open({41, 0x10a}, 0, {500, 100 * kMs, 100 * kMs});
  pmus.push_open({40, 0x20a}, 0, {10, 100 * kMs, 100 * kMs});
  pmus.push_open({41, 0x20a}, 0, {0, 100 * kMs, 100 * kMs});
  Values values;
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values == Values{1500.0 * 64, 10.0 * 64});
}

TEST_CASE("a counter that shared the hardware is scaled interval by interval, and said to be") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  pmus.push_all({0, 1000, 0});
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(opened.readers.at(0)->sensors()[0].decision.find("scaled") != std::string::npos);

  pmus.push_open(kRead0, 0, {1000, 100 * kMs + 1000, 25 * kMs});
  pmus.push_open(kWrite0, 0, {0, 100 * kMs + 1000, 0});  // its turn did not come
  Values values;
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values[0] == doctest::Approx(4000.0 * 64));
  CHECK_FALSE(values[1]);

  // Idle since: a total never goes down, as value * enabled / running would.
  pmus.push_open(kRead0, 0, {1000, 200 * kMs + 1000, 75 * kMs});
  pmus.push_open(kWrite0, 0, {50, 200 * kMs + 1000, 100 * kMs});
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values[0] == doctest::Approx(4000.0 * 64));
  CHECK(values[1] == doctest::Approx(100.0 * 64));  // of both intervals
}

TEST_CASE("what has its counters to itself makes no remark") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(opened.readers.at(0)->sensors()[0].decision.empty());
}

TEST_CASE("a counter that moved by more than half its range is rejected, and goes on from there") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  const std::uint64_t day = 86'400'000 * kMs;
  const std::uint64_t saturated = (std::uint64_t{1} << 48) - 1;
  pmus.push_open(kRead0, 0, {saturated, day, day});
  pmus.push_open(kWrite0, 0, {100, day, day});
  Values values;
  REQUIRE(read(opened, values) == SensorOutcome::kRejected);
  CHECK(values == Values{std::nullopt, std::nullopt});
  CHECK(opened.readers[0]->last_error().find("amd_umc_0 umc_cas_cmd.rd on CPU 0") == 0);
  pmus.push_open(kRead0, 0, {saturated + 7, day + kMs, day + kMs});
  pmus.push_open(kWrite0, 0, {101, day + kMs, day + kMs});
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values == Values{7.0 * 64, 101.0 * 64});
}

TEST_CASE("more bytes than memory can move are no measurement") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  pmus.push_all({std::uint64_t{1} << 40, 100 * kMs, 100 * kMs});
  Values values;
  CHECK(read(opened, values) == SensorOutcome::kRejected);
}

TEST_CASE("a counter that stays at zero is no counter, but not at once") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  pmus.push_all({0, 100 * kMs, 100 * kMs});
  Values values;
  CHECK(read(opened, values) == SensorOutcome::kRead);
  CHECK(values == Values{std::nullopt, std::nullopt});
  pmus.push_all({0, 1100 * kMs, 1100 * kMs});
  CHECK(read(opened, values) == SensorOutcome::kRejected);
  CHECK(opened.readers[0]->last_error().find("counted nothing") != std::string::npos);
}

TEST_CASE("a CPU that goes offline is a failure, and the counters are opened anew") {
  FakePmus pmus;
  pmus.add_umc(0, 40);
  OpenedSensors opened = open_amd_umc(pmus.roots(), pmus.opener());
  pmus.push_all({100, 100 * kMs, 100 * kMs});
  Values values;
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  pmus.take_offline();
  CHECK(read(opened, values) == SensorOutcome::kFailed);
  CHECK(values == Values{std::nullopt, std::nullopt});
  CHECK(opened.readers[0]->last_error() ==
        "cannot read the counter of amd_umc_0 umc_cas_cmd.rd on CPU 0: No such device");
  pmus.refuse(ENODEV);
  CHECK(read(opened, values) == SensorOutcome::kFailed);
  pmus.refuse(0);
  REQUIRE(read(opened, values) == SensorOutcome::kRead);  // counts from here
  CHECK(values == Values{std::nullopt, std::nullopt});
  pmus.push_all({150, 150 * kMs, 150 * kMs});
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values == Values{150.0 * 64, 150.0 * 64});
}

TEST_CASE("amd_umc: none is normal, a refusal has a fix, and a part is nothing") {
  FakePmus pmus;
  OpenedSensors none = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(only(none).state == SourceState::kAbsent);
  CHECK(only(none).reason.find("no amd_umc_* in ") == 0);
  CHECK_FALSE(only(none).loses.empty());

  pmus.add_umc(0, 40);
  pmus.write("proc/sys/kernel/perf_event_paranoid", "2");
  pmus.refuse(EACCES);
  OpenedSensors refused = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(refused.readers.empty());
  CHECK(only(refused).state == SourceState::kRefused);
  CHECK(only(refused).error_number == EACCES);
  CHECK(only(refused).fix.find("gputraced") != std::string::npos);
  CHECK_FALSE(only(refused).loses.empty());

  pmus.refuse(0);
  pmus.add("amd_umc_1", 41, "6",
           {{"format/event", "config:0-7"}, {"format/rdwrmask", "config:8-9"}});
  pmus.refuse_on_cpu(6, ENODEV);
  OpenedSensors partly = open_amd_umc(pmus.roots(), pmus.opener());
  CHECK(partly.readers.empty());
  CHECK(only(partly).state == SourceState::kBroken);
  CHECK(only(partly).reason.find("amd_umc_1 umc_cas_cmd.rd on CPU 6") != std::string::npos);
}

TEST_CASE("amd_df: Zen 3 of a client counts two channels, reads and writes together, unverified") {
  FakePmus pmus;
  add_df(pmus, false);
  pmus.set_processor("AuthenticAMD", 0x19, 0x44);  // Rembrandt
  OpenedSensors opened = open_amd_df(pmus.roots(), pmus.opener());
  REQUIRE(opened.readers.size() == 1);
  REQUIRE(pmus.opened().size() == 2);
  CHECK(pmus.opened()[0].first.config == 0x3807);
  CHECK(pmus.opened()[1].first.config == 0x3847);
  const auto sensors = opened.readers[0]->sensors();
  REQUIRE(sensors.size() == 1);
  CHECK(sensors[0].name == "dram_traffic");
  CHECK(sensors[0].decision.find("unverified") != std::string::npos);
  pmus.push_all({10, kMs, kMs});
  Values values;
  REQUIRE(read(opened, values) == SensorOutcome::kRead);
  CHECK(values == Values{20.0 * 64});
}

TEST_CASE("amd_df: servers have the channels that AMD documents, in either layout of the event") {
  FakePmus pmus;
  add_df(pmus, false);
  pmus.set_processor("AuthenticAMD", 0x17, 0x31);  // Rome
  OpenedSensors rome = open_amd_df(pmus.roots(), pmus.opener());
  REQUIRE(pmus.opened().size() == 8);
  CHECK(pmus.opened()[7].first.config == 0x1'0000'38c7);  // event 0x1c7
  CHECK(rome.readers.at(0)->sensors()[0].decision.empty());

  FakePmus old_layout;
  old_layout.add("amd_df", 14, "0",
                 {{"format/event", "config:0-7,32-35"}, {"format/umask", "config:8-15"}});
  old_layout.set_processor("AuthenticAMD", 0x19, 0x01);  // Milan
  OpenedSensors milan = open_amd_df(old_layout.roots(), old_layout.opener());
  REQUIRE(old_layout.opened().size() == 8);
  CHECK(old_layout.opened()[7].first.config == 0x1'0000'38c7);
}

TEST_CASE("amd_df: Zen 4 and 5 tell reads from writes") {
  FakePmus zen4;
  add_df(zen4, true);
  zen4.set_processor("AuthenticAMD", 0x19, 0x74);  // Phoenix
  OpenedSensors phoenix = open_amd_df(zen4.roots(), zen4.opener());
  REQUIRE(zen4.opened().size() == 4);
  CHECK(zen4.opened()[0].first.config == 0x0700'fe1f);
  CHECK(zen4.opened()[3].first.config == 0x0700'ff5f);
  CHECK(phoenix.readers.at(0)->sensors()[1].name == "dram_write");
  CHECK(phoenix.readers.at(0)->sensors()[1].covers == "whole machine; perhaps without the GPU");

  FakePmus zen5;
  add_df(zen5, true);
  zen5.set_processor("AuthenticAMD", 0x1a, 0x24);  // Strix
  OpenedSensors strix = open_amd_df(zen5.roots(), zen5.opener());
  CHECK(zen5.opened().at(0).first.config == 0x0f00'fe1f);
  CHECK(strix.readers.at(0)->sensors()[0].decision.find("unverified") != std::string::npos);
}

TEST_CASE("amd_df: a sandbox that hides cpuinfo still shows the processor in sysfs") {
  FakePmus pmus;
  add_df(pmus, true);
  pmus.write("sys/devices/system/cpu/modalias",
             "cpu:type:x86,ven0002fam0019mod0074:feature:,0000,0001,0002\n");
  CHECK(only(open_amd_df(pmus.roots(), pmus.opener())).state == SourceState::kWorks);
  CHECK(pmus.opened().at(0).first.config == 0x0700'fe1f);
  FakePmus other;
  add_df(other, true);
  other.write("sys/devices/system/cpu/modalias", "cpu:type:aarch64:feature:,0000\n");
  CHECK(only(open_amd_df(other.roots(), other.opener())).state == SourceState::kAbsent);
}

TEST_CASE("amd_df: without the PMU, on unknown processors and on old kernels nothing is counted") {
  FakePmus pmus;
  CHECK(only(open_amd_df(pmus.roots(), pmus.opener())).state == SourceState::kAbsent);
  add_df(pmus, false);
  OpenedSensors unnamed = open_amd_df(pmus.roots(), pmus.opener());
  CHECK(only(unnamed).reason.find("on this processor is not known") != std::string::npos);
  pmus.set_processor("GenuineIntel", 6, 151);
  CHECK(only(open_amd_df(pmus.roots(), pmus.opener())).reason.find("GenuineIntel family 0x6") !=
        std::string::npos);
  pmus.set_processor("AuthenticAMD", 0x1a, 0x50);
  CHECK(only(open_amd_df(pmus.roots(), pmus.opener())).state == SourceState::kAbsent);
  pmus.set_processor("AuthenticAMD", 0x19, 0x74);  // whose umask has 12 bits
  CHECK(only(open_amd_df(pmus.roots(), pmus.opener())).reason.find("has no room for umask") !=
        std::string::npos);
  CHECK(pmus.opened().empty());
}

}  // namespace gputrace::os
