// Background monitoring: bursts into day files, and devices that are left to sleep.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/daemon/service/running_service.h"

namespace gputrace::service {
namespace {

using test::ask;
using test::FakeRegisterReader;
using test::kApu;
using test::kDiscrete;
using test::RunningService;

Config monitoring() {
  Config config;
  config.background.enabled = true;
  config.background.every_s = 1;
  config.background.burst_s = 0.1;
  config.limits.reserve_bytes = 0;
  return config;
}

/// Readers leave a sign, "sampled-PCI", when they have been read a few hundred times: more than one
/// burst.
test::MakeReader signs_in(const std::filesystem::path& folder) {
  return [folder](const std::string& pci) {
    auto reader = std::make_unique<FakeRegisterReader>();
    reader->on_read([folder, pci](std::uint64_t read) {
      if (read == 250) {
        RunningService::leave_sign(folder / ("sampled-" + pci));
      }
    });
    return reader;
  };
}

std::vector<std::filesystem::path> day_files(const RunningService& service,
                                             const std::string& pci) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = service.data() / "background" / pci;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path());
    }
  }
  return files;
}

std::filesystem::path device_of(const std::filesystem::path& sys, const std::string& pci) {
  return sys / "devices" / pci;
}

/// The discrete GPU of the laptop sleeps when nobody uses it. debugfs says who does.
void make_discrete_suspendable(const std::filesystem::path& sys, const std::string& clients) {
  const std::filesystem::path power = device_of(sys, kDiscrete) / "power";
  std::ofstream(power / "control") << "auto\n";
  std::ofstream(power / "autosuspend_delay_ms") << "5000\n";
  std::ofstream(power / "runtime_status") << "active\n";
  std::string card;
  for (const auto& entry : std::filesystem::directory_iterator(sys / "class/drm")) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with("card") && name.find('-') == std::string::npos &&
        std::filesystem::equivalent(entry.path() / "device", device_of(sys, kDiscrete), ignored)) {
      card = name.substr(4);
    }
  }
  REQUIRE_FALSE(card.empty());
  const std::filesystem::path debugfs = sys / "kernel/debug/dri" / card;
  std::filesystem::create_directories(debugfs);
  std::ofstream(debugfs / "name") << "amdgpu dev=" << kDiscrete << " unique=" << kDiscrete << "\n";
  std::ofstream(debugfs / "clients") << "             command  tgid dev master a   uid      magic\n"
                                     << clients;
}

TEST_CASE("bursts of samples go into a day file that the group may read") {
  test::TempDir signs;
  RunningService service({.config = monitoring(),
                          .make_reader = signs_in(signs.path()),
                          .change_sysfs = {},
                          .data = {}});
  REQUIRE(test::wait_for_change(signs.path(), [&] {
    return std::filesystem::exists(signs.path() / (std::string("sampled-") + kApu));
  }));
  CHECK(ask<ipc::StatusReply>(service.connect(), ipc::StatusRequest{}).background);
  service.send_signal(SIGTERM);
  CHECK(service.wait_until_gone() == 0);
  const std::vector<std::filesystem::path> files = day_files(service, kApu);
  REQUIRE(files.size() == 1);
  CHECK((std::filesystem::status(files[0]).permissions() & std::filesystem::perms::group_read) !=
        std::filesystem::perms::none);
  const store::SessionReader session = test::open_session(files[0]);
  CHECK(test::ticks_of(session) > 200);
  CHECK_FALSE(session.description().command);
  // 250 samples at 1 kHz in bursts of 0.1 s, a second apart: most of the time nothing is read.
  const store::StoredSegment& first = session.segments().front();
  CHECK(static_cast<double>(session.segments().back().end_ns - first.description.start_ns) / 1e9 >
        1.9);
  // The other GPU sleeps, and is left alone.
  CHECK(day_files(service, kDiscrete).empty());
}

TEST_CASE("a device with runtime power management is sampled only while somebody uses it") {
  const auto last_look = [](const RunningService& service) {
    // The APU is looked at in the same round as the other GPU.
    REQUIRE(service.wait_for_log(std::string("background/") + kApu));
  };
  SUBCASE("nobody") {
    RunningService service(
        {.config = monitoring(),
         .make_reader = test::idle_reader,
         .change_sysfs =
             [](const std::filesystem::path& sys) { make_discrete_suspendable(sys, ""); },
         .data = {}});
    last_look(service);
    service.send_signal(SIGTERM);
    CHECK(service.wait_until_gone() == 0);
    CHECK(day_files(service, kDiscrete).empty());
    CHECK_FALSE(day_files(service, kApu).empty());
  }
  SUBCASE("a game") {
    RunningService service({.config = monitoring(),
                            .make_reader = test::idle_reader,
                            .change_sysfs =
                                [](const std::filesystem::path& sys) {
                                  make_discrete_suspendable(
                                      sys,
                                      "                game     1 128   n    n  1000          0\n");
                                },
                            .data = {}});
    REQUIRE(service.wait_for_log(std::string("background/") + kDiscrete));
    // It ends: the next look stops the monitoring.
    std::filesystem::remove_all(service.sys() / "kernel");
    REQUIRE(service.wait_for_log("left alone, since nothing says whether somebody uses it"));
    service.send_signal(SIGTERM);
    CHECK(service.wait_until_gone() == 0);
    const std::vector<std::filesystem::path> files = day_files(service, kDiscrete);
    REQUIRE(files.size() == 1);
    CHECK(test::open_session(files[0]).end().has_value());
  }
}

TEST_CASE("monitoring can be switched on and off by a reload") {
  RunningService service;
  std::ofstream(service.config_file()) << "[background]\nenabled = true\n";
  service.send_signal(SIGHUP);
  service.wait_for_notice("reloading");
  REQUIRE(service.wait_for_log(std::string("background/") + kApu));
  std::ofstream(service.config_file()) << "[background]\nenabled = false\n";
  service.send_signal(SIGHUP);
  service.wait_for_notice("reloading");
  service.wait_for_notice("ready");
  CHECK_FALSE(ask<ipc::StatusReply>(service.connect(), ipc::StatusRequest{}).background);
  service.send_signal(SIGTERM);
  CHECK(service.wait_until_gone() == 0);
  REQUIRE(day_files(service, kApu).size() == 1);
  CHECK(test::open_session(day_files(service, kApu)[0]).end().has_value());
}

}  // namespace
}  // namespace gputrace::service
