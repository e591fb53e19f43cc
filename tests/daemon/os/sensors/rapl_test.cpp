#include "daemon/os/sensors/rapl.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tests/daemon/os/sensors/fake_pmus.h"

namespace gputrace::os {

namespace {

using sampler::SensorOutcome;
using test::FakePmus;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint64_t kUnsignedMs = 1'000'000;

void add_power(const FakePmus& pmus, const std::string& name, const std::string& cpus,
               const std::string& event, const std::string& config) {
  pmus.add(name, name == "power" ? 23 : 24, cpus,
           {{"format/event", "config:0-7"},
            {"events/" + event, config},
            {"events/" + event + ".scale", "2.3283064365386962890625e-10"},
            {"events/" + event + ".unit", "Joules"}});
}

void add_zone(const FakePmus& pmus, const std::string& folder, const std::string& name,
              const std::string& energy_uj) {
  const std::filesystem::path zone = "sys/class/powercap/" + folder;
  pmus.write(zone / "name", name + "\n");
  pmus.write(zone / "max_energy_range_uj", "65532610987\n");
  pmus.write(zone / "energy_uj", energy_uj + "\n");
}

const SourceFinding& finding(const OpenedSensors& opened, std::string_view source) {
  for (const SourceFinding& found : opened.findings) {
    if (found.source == source) {
      return found;
    }
  }
  FAIL("no finding of ", source);
  return opened.findings.front();
}

struct Clock {
  std::int64_t now_ns = 1000 * kMs;
  [[nodiscard]] std::function<std::int64_t()> function() {
    return [this] { return now_ns; };
  }
};

std::optional<double> read_one(OpenedSensors& opened, std::size_t index, SensorOutcome expected) {
  std::vector<std::optional<double>> values(1, 77.0);
  CHECK(opened.readers.at(index)->read(values) == expected);
  return values[0];
}

}  // namespace

TEST_CASE("package energy comes from the PMU power, in joules by its own scale, of all packages") {
  FakePmus pmus;
  add_power(pmus, "power", "0,16", "energy-pkg", "event=0x02");
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener());
  REQUIRE(opened.readers.size() == 1);
  CHECK(finding(opened, "pmu power energy-pkg").state == SourceState::kWorks);
  const sampler::SensorDescription& sensor = opened.readers[0]->sensors()[0];
  CHECK(sensor.name == "package_energy");
  CHECK(sensor.source == "pmu power energy-pkg");
  CHECK(sensor.covers == "CPU package, on an APU the GPU too");
  pmus.push_all({std::uint64_t{2} << 32, 100 * kUnsignedMs, 100 * kUnsignedMs});
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(4.0));
  // What was there at the first read is no energy of ours, and 1 MW is none at all.
  pmus.push_all({std::uint64_t{200'002} << 32, 200 * kUnsignedMs, 200 * kUnsignedMs});
  CHECK_FALSE(read_one(opened, 0, SensorOutcome::kRejected));
  pmus.push_all({std::uint64_t{200'003} << 32, 300 * kUnsignedMs, 300 * kUnsignedMs});
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(6.0));
}

TEST_CASE("core energy is the sum of the cores of power_core, else energy-cores of power") {
  FakePmus pmus;
  add_power(pmus, "power_core", "0-3", "energy-core", "event=0x01");
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener());
  REQUIRE(opened.readers.size() == 1);
  CHECK(opened.readers[0]->sensors()[0].name == "core_energy");
  CHECK(opened.readers[0]->sensors()[0].covers == "all CPU cores");
  CHECK(pmus.opened().size() == 4);

  FakePmus intel;
  add_power(intel, "power", "0", "energy-cores", "event=0x01");
  OpenedSensors cores = open_rapl(intel.roots(), intel.opener());
  REQUIRE(cores.readers.size() == 1);
  CHECK(cores.readers[0]->sensors()[0].source == "pmu power energy-cores");
}

TEST_CASE("powercap stands in where the PMU cannot be had") {
  FakePmus pmus;
  add_power(pmus, "power", "0", "energy-pkg", "event=0x02");
  add_zone(pmus, "intel-rapl:0", "package-0", "1000000");
  add_zone(pmus, "intel-rapl:1", "package-1", "5000000");
  add_zone(pmus, "intel-rapl:2", "psys", "9000000");
  pmus.refuse(EACCES);
  Clock clock;
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener(), clock.function());
  REQUIRE(opened.readers.size() == 1);
  CHECK(finding(opened, "powercap package").state == SourceState::kWorks);
  CHECK(opened.readers[0]->sensors()[0].source == "powercap package energy_uj");
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == 0.0);
  clock.now_ns += 100 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "3500000\n");
  pmus.write("sys/class/powercap/intel-rapl:1/energy_uj", "6000000\n");
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(3.5));
}

TEST_CASE("a wrap of energy_uj is energy, a counter that began anew is not") {
  FakePmus pmus;
  add_zone(pmus, "intel-rapl:0", "package-0", "65532000000");
  Clock clock;
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener(), clock.function());
  clock.now_ns += 100 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(1.610987));

  clock.now_ns += 100 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "0\n");
  CHECK_FALSE(read_one(opened, 0, SensorOutcome::kRejected));
  CHECK(opened.readers[0]->last_error().find("began anew") != std::string::npos);
  clock.now_ns += 100 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "2000000\n");
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(3.610987));
}

TEST_CASE("after so long that it may have wrapped twice energy_uj says nothing") {
  FakePmus pmus;
  add_zone(pmus, "intel-rapl:0", "package-0", "1000000");
  Clock clock;
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener(), clock.function());
  clock.now_ns += 70'000 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "2000000\n");
  CHECK_FALSE(read_one(opened, 0, SensorOutcome::kRejected));
  clock.now_ns += 100 * kMs;
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n");
  CHECK(read_one(opened, 0, SensorOutcome::kRead) == doctest::Approx(1.0));
}

TEST_CASE("energy_uj without a number is rejected, and absent") {
  FakePmus pmus;
  add_zone(pmus, "intel-rapl:0", "package-0", "1000000");
  Clock clock;
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener(), clock.function());
  pmus.write("sys/class/powercap/intel-rapl:0/energy_uj", "\n");
  CHECK_FALSE(read_one(opened, 0, SensorOutcome::kRejected));
  CHECK(opened.readers[0]->last_error().find("holds no number") != std::string::npos);

  FakePmus never;
  add_zone(never, "intel-rapl:0", "package-0", "none");
  OpenedSensors broken = open_rapl(never.roots(), never.opener(), clock.function());
  CHECK(broken.readers.empty());
  CHECK(finding(broken, "powercap package").state == SourceState::kBroken);
}

TEST_CASE("AMD's core zone of powercap is one core, and says so") {
  FakePmus pmus;
  pmus.set_processor("AuthenticAMD", 0x19, 0x74);
  add_zone(pmus, "intel-rapl:0:0", "core", "1000000");
  Clock clock;
  OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener(), clock.function());
  REQUIRE(opened.readers.size() == 1);
  CHECK(opened.readers[0]->sensors()[0].name == "core_energy");
  CHECK(opened.readers[0]->sensors()[0].covers == "one core of each CPU package");

  FakePmus intel;
  intel.set_processor("GenuineIntel", 6, 151);
  add_zone(intel, "intel-rapl:0:0", "core", "1000000");
  OpenedSensors all = open_rapl(intel.roots(), intel.opener(), clock.function());
  CHECK(all.readers.at(0)->sensors()[0].covers == "all CPU cores");
}

TEST_CASE("without permission both ways are named with what helps") {
  FakePmus pmus;
  add_power(pmus, "power", "0", "energy-pkg", "event=0x02");
  add_zone(pmus, "intel-rapl:0", "package-0", "1000000");
  const std::filesystem::path file = pmus.roots().sys / "class/powercap/intel-rapl:0/energy_uj";
  REQUIRE(::chmod(file.c_str(), 0) == 0);
  pmus.refuse(EACCES);
  const OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener());
  if (::access(file.c_str(), R_OK) == 0) {
    MESSAGE("skipped: root may read every file");
    return;
  }
  CHECK(opened.readers.empty());
  CHECK(finding(opened, "pmu power energy-pkg").state == SourceState::kRefused);
  CHECK(finding(opened, "powercap package").state == SourceState::kRefused);
  CHECK(finding(opened, "powercap package").error_number == EACCES);
  CHECK(finding(opened, "powercap package").fix.find("sudo") != std::string::npos);
  CHECK(finding(opened, "powercap package").loses == "energy of the CPU package");
}

TEST_CASE("a machine without RAPL has findings and no readers") {
  FakePmus pmus;
  const OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener());
  CHECK(opened.readers.empty());
  CHECK(opened.findings.size() == 5);
  for (const SourceFinding& found : opened.findings) {
    CHECK(found.state == SourceState::kAbsent);
  }
}

TEST_CASE("an energy event in an unknown unit is not taken") {
  FakePmus pmus;
  add_power(pmus, "power", "0", "energy-pkg", "event=0x02");
  pmus.write("sys/bus/event_source/devices/power/events/energy-pkg.unit", "Furlongs\n");
  const OpenedSensors opened = open_rapl(pmus.roots(), pmus.opener());
  CHECK(opened.readers.empty());
  CHECK(finding(opened, "pmu power energy-pkg").state == SourceState::kBroken);
}

}  // namespace gputrace::os
