#include "tests/rig/scenario_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "regdb/register_map.h"

namespace gputrace::rig {
namespace {

constexpr std::int64_t kDefaultSlotNs = 500'000;
constexpr std::string_view kSlots = "slots";
constexpr std::uint32_t kGrbmStatus = 0x2004;
constexpr std::uint32_t kGrbmStatus2 = 0x2002;
constexpr std::uint32_t kIdleStatus = 0x00003028;  // logged on GFX6 to GFX10 parts at rest
constexpr std::uint32_t kIdleStatus2 = 0x00000008;

Result<std::uint64_t> parse_seed(std::string_view scenario) {
  std::uint64_t seed = 1;
  if (scenario.size() == kSlots.size()) {
    return seed;
  }
  const std::string_view digits = scenario.substr(kSlots.size() + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return fail(ErrorCode::kUsage, fmt::format("'{}' is not a seed", digits));
  }
  return seed;
}

/// GUI_ACTIVE is bit 31 of GRBM_STATUS everywhere.
std::function<double(std::int64_t, std::int64_t)> activity_of(std::shared_ptr<SlottedWords> words) {
  const auto& bits = words->bits();
  const auto gui = std::find_if(bits.begin(), bits.end(), [](const SlottedBit& bit) {
    return bit.dword_offset == kGrbmStatus && bit.bit == 31;
  });
  GPUTRACE_CHECK(gui != bits.end());
  const auto index = static_cast<std::size_t>(gui - bits.begin());
  return [words = std::move(words), index](std::int64_t begin_ns, std::int64_t end_ns) {
    return words->true_busy(index, begin_ns, end_ns);
  };
}

}  // namespace

Result<std::shared_ptr<SlottedWords>> slotted_words_for(const GpuModel& gpu,
                                                        const regdb::RegisterDatabase& regdb,
                                                        std::uint64_t seed,
                                                        std::int64_t shortest_slot_ns) {
  const auto map = regdb.map_for(gpu.gc);
  if (!map) {
    return tl::unexpected(map.error());
  }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> duty(0.05, 0.95);
  std::uniform_int_distribution<std::int64_t> slots(1, 16);
  std::vector<SlottedBit> bits;
  for (const regdb::Register& reg : map->registers) {
    for (const regdb::RegisterField& field : reg.fields) {
      if (field.kind == regdb::FieldKind::kBusy) {
        bits.push_back(
            {reg.dword_offset, field.shift, duty(random), shortest_slot_ns * slots(random)});
      }
    }
  }
  return std::make_shared<SlottedWords>(std::move(bits), seed);
}

Result<RigScenario> open_scenario(const GpuModel& gpu, std::string_view scenario,
                                  const regdb::RegisterDatabase& regdb) {
  const bool is_slots = scenario == kSlots || scenario.starts_with("slots:");
  if (is_slots || scenario == "idle") {
    auto sensors = idle_sensors(gpu);
    if (!sensors) {
      return tl::unexpected(sensors.error());
    }
    if (scenario == "idle") {
      return RigScenario{
          words_from([](std::uint32_t offset, std::int64_t) {
            return offset == kGrbmStatus ? kIdleStatus : offset == kGrbmStatus2 ? kIdleStatus2 : 0U;
          }),
          *sensors};
    }
    const auto seed = parse_seed(scenario);
    if (!seed) {
      return tl::unexpected(seed.error());
    }
    auto words = slotted_words_for(gpu, regdb, *seed, kDefaultSlotNs);
    if (!words) {
      return tl::unexpected(words.error());
    }
    (*sensors)->activity = activity_of(*words);
    return RigScenario{*words, *sensors};
  }
  const std::string argument = "sim:" + std::string(gpu.key) + ":" + std::string(scenario);
  const std::int64_t begin_ns = monotonic_now_ns();
  auto simulation =
      simulated_gpu::open_simulated_gpu(argument, regdb, std::filesystem::path{}, begin_ns);
  if (!simulation) {
    return tl::unexpected(simulation.error());
  }
  auto sensors = std::make_shared<RigSensors>();
  sensors->model = simulation->truth;
  sensors->begin_ns = begin_ns;
  return RigScenario{words_from(std::move(simulation->reader)), std::move(sensors)};
}

}  // namespace gputrace::rig
