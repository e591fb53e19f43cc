// The words behind gputrace-rig: a scenario of the simulated GPU, or noise with a known truth.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "regdb/register_database.h"
#include "tests/rig/gpu_model.h"
#include "tests/rig/rig_sensors.h"
#include "tests/rig/word_source.h"

namespace gputrace::rig {

/// Every busy bit of the GPU's registers, each with its own duty (5 to 95 %) and slot length
/// (`shortest_slot_ns` to 16 times that), from the seed.
[[nodiscard]] Result<std::shared_ptr<SlottedWords>> slotted_words_for(
    const GpuModel& gpu, const regdb::RegisterDatabase& regdb, std::uint64_t seed,
    std::int64_t shortest_slot_ns);

struct RigScenario {
  std::shared_ptr<WordSource> words;
  std::shared_ptr<const RigSensors> sensors;
};

/// "slots" or "slots:SEED": slotted_words_for, and the sensors of a GPU at rest but for its
/// activity. "idle": a GPU that is awake and does nothing. Anything else is a scenario of the
/// simulated GPU ("demo"), which not every model has.
[[nodiscard]] Result<RigScenario> open_scenario(const GpuModel& gpu, std::string_view scenario,
                                                const regdb::RegisterDatabase& regdb);

}  // namespace gputrace::rig
