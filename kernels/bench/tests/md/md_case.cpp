#include "kernels/bench/tests/md/md_case.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/bench/cases/case_data.h"
#include "kernels/bench/workload_table.h"

namespace gputrace::bench {
namespace {

constexpr std::uint32_t kGroup = 64;  // md_pairs.comp
constexpr std::uint32_t kTile = 64;
constexpr std::uint32_t kListsInTrip = 8;
constexpr double kAtomBytes = 16;
constexpr double kForceBytes = 16;
constexpr double kIndexBytes = 4;
constexpr std::uint64_t kCheckedAtoms = 24;
constexpr double kLeastSquares = 1e-12;  ///< no force at all has no relative error

// md.glsl, a pair. Products: three to count boxes, the square, seven of the potential, the charges;
// multiply-adds: three to the nearest image, two to the square, three of the potential, three to
// the force. And a reciprocal root, which is no FLOP.
constexpr double kAdditions = 3;
constexpr double kProducts = 12;
constexpr double kFmas = 11;
constexpr double kFlops = kAdditions + kProducts + 2 * kFmas;

std::vector<OperationCount> arithmetic_of(double pairs) {
  return {{.operation = Operation::kFmaF32, .per_trip = kFmas * pairs},
          {.operation = Operation::kMulF32, .per_trip = kProducts * pairs},
          {.operation = Operation::kAddF32, .per_trip = kAdditions * pairs},
          {.operation = Operation::kReciprocalRoot, .per_trip = pairs}};
}

vulkan::PushConstants push_of(std::uint32_t trips, const Atoms& atoms) {
  vulkan::PushConstants push{};
  write_at(push, 0, trips);
  write_at(push, 1, atoms.count());
  write_at(push, 2, atoms.box());
  write_at(push, 3, 1 / atoms.box());
  write_at(push, 4, kCutOff * kCutOff);
  write_at(push, 5, kAtomSize * kAtomSize);
  write_at(push, 6, 24 * kWellDepth);
  write_at(push, 7, -2 * kReactionField);
  return push;
}

/// Of all atoms, whatever lists there are.
Status check(const std::string& id, const Atoms& atoms, const Launch& launch,
             const Outputs& outputs, ForceError& error) {
  const std::span<const std::byte> forces = outputs.buffers.at(1);
  double squares = 0;
  double errors = 0;
  for (const std::uint64_t atom : sample_of(atoms.count(), kCheckedAtoms)) {
    const auto trips = read_at<float>(forces, atom * 4 + 3);
    if (trips != static_cast<float>(launch.trips)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{}: atom {} made {} trips, not {}", id, atom, trips, launch.trips));
    }
    const Force wanted = force_on(atoms, static_cast<std::uint32_t>(atom));
    for (std::size_t axis = 0; axis < wanted.of.size(); ++axis) {
      const auto got = static_cast<double>(read_at<float>(forces, atom * 4 + axis));
      const double off = got - wanted.of.at(axis);
      if (!(std::abs(off) <= wanted.bound.at(axis))) {
        return fail(ErrorCode::kCorrupt,
                    fmt::format("{}: component {} of the force on atom {} is {}, the CPU has {} "
                                "(+- {:.2g})",
                                id, axis, atom, got, wanted.of.at(axis), wanted.bound.at(axis)));
      }
      squares += wanted.of.at(axis) * wanted.of.at(axis);
      errors += off * off;
    }
    ++error.compared;
  }
  error.rms = std::sqrt(errors / std::max(squares, kLeastSquares));
  return {};
}

void fill_from(std::span<std::byte> buffer, const void* from) {
  std::memcpy(buffer.data(), from, buffer.size());
}

/// What both kernels have in common; `sized` knows its trips.
void describe(SizedCase& sized, const std::shared_ptr<const Atoms>& atoms,
              const std::shared_ptr<ForceError>& seen) {
  KernelCase& kernel = sized.kernel;
  kernel.group_threads = kGroup;
  kernel.constants = {kGroup};
  sized.launch.groups = atoms->count() / kGroup;
  const std::uint64_t bytes = std::uint64_t{atoms->count()} * 16;
  kernel.buffers = {
      {.binding = 0,
       .bytes = bytes,
       .fill = [atoms](std::span<std::byte> to) { fill_from(to, atoms->numbers.data()); },
       .shared = atoms},
      {.binding = 1, .bytes = bytes, .fill = nullptr}};
  kernel.push = [atoms](const Launch& launch, std::span<const vulkan::Buffer* const>) {
    return push_of(launch.trips, *atoms);
  };
  kernel.check = [atoms, seen, id = kernel.id](const Launch& launch, const Outputs& outputs) {
    ForceError error;
    const Status right = check(id, *atoms, launch, outputs, error);
    if (seen) {
      *seen = error;
    }
    return right;
  };
}

}  // namespace

SizedCase md_pairs_case(const std::shared_ptr<const Atoms>& atoms,
                        const std::shared_ptr<ForceError>& seen) {
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = "md.pairs";
  kernel.description = fmt::format("forces of all pairs of {} atoms", atoms->count());
  kernel.shader = "md_pairs.comp";
  describe(sized, atoms, seen);
  sized.launch.trips = atoms->count() / kTile;
  kernel.formula = arithmetic_of(kTile);
  kernel.formula.insert(kernel.formula.end(),
                        {{.operation = Operation::kSharedLoad, .per_trip = kTile},
                         {.operation = Operation::kSharedStore, .per_trip = 1},
                         {.operation = Operation::kLoad16, .per_trip = 1, .once = 1},
                         {.operation = Operation::kStore16, .once = 1}});
  kernel.max_code_bytes = 16384;  // a tile's pairs one after the other
  kernel.flops_per_trip = kFlops * kTile;
  kernel.read_bytes_per_trip = kAtomBytes;
  kernel.read_bytes_once = kAtomBytes;
  kernel.written_bytes_once = kForceBytes;
  const double footprint = (kAtomBytes + kForceBytes) * atoms->count();
  kernel.stimulus = [described = stimulus_of(kernel, Arithmetic::kFp32,
                                             {.access = Access::kResident,
                                              .footprint_bytes = footprint,
                                              .step_each_trip = true})](const Launch& launch) {
    Stimulus stimulus = described(launch);
    stimulus.local_bytes = kAtomBytes * (kTile + 1) * launch.trips;
    return stimulus;
  };
  set_dram_bytes(kernel, [](const Launch&) { return kAtomBytes + kForceBytes; });
  return sized;
}

SizedCase md_list_case(const std::shared_ptr<const Atoms>& atoms,
                       const std::shared_ptr<const NeighbourLists>& lists,
                       const std::shared_ptr<ForceError>& seen) {
  SizedCase sized;
  KernelCase& kernel = sized.kernel;
  kernel.id = "md.list";
  kernel.description = fmt::format("forces of {} atoms by lists of neighbours", atoms->count());
  kernel.shader = "md_list.comp";
  describe(sized, atoms, seen);
  sized.launch.trips = lists->trips;
  kernel.buffers.push_back(
      {.binding = 2,
       .bytes = lists->words.size() * sizeof(std::uint32_t),
       .fill = [lists](std::span<std::byte> to) { fill_from(to, lists->words.data()); },
       .shared = lists});
  kernel.formula = arithmetic_of(kListsInTrip);
  kernel.formula.insert(kernel.formula.end(),
                        {{.operation = Operation::kLoad16, .per_trip = kListsInTrip + 2, .once = 1},
                         {.operation = Operation::kStore16, .once = 1}});
  kernel.flops_per_trip = kFlops * kListsInTrip;
  kernel.read_bytes_per_trip = (kAtomBytes + kIndexBytes) * kListsInTrip;
  kernel.read_bytes_once = kAtomBytes;
  kernel.written_bytes_once = kForceBytes;
  kernel.stimulus = stimulus_of(kernel, Arithmetic::kFp32,
                                {.access = Access::kRandom,
                                 .footprint_bytes = kAtomBytes * atoms->count(),
                                 .step_each_trip = true});
  set_dram_bytes(kernel, [](const Launch& launch) {
    return kIndexBytes * kListsInTrip * launch.trips + kAtomBytes + kForceBytes;
  });
  return sized;
}

}  // namespace gputrace::bench
