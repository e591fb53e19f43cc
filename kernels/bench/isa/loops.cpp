#include "kernels/bench/isa/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace gputrace::bench::isa {
namespace {

/// A bound on the work for a hostile listing; real kernels have a handful.
constexpr std::size_t kMaxLoops = 1000;

struct Branch {
  std::size_t from = 0;
  std::size_t to = 0;
};

bool is_short_branch(std::string_view mnemonic) {
  return mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_");
}

/// Control flow that ACO does not use for loops, and that is not followed.
bool is_unknown_jump(std::string_view mnemonic) {
  return mnemonic == "s_swappc_b64" || mnemonic == "s_call_b64" || mnemonic == "s_rfe_b64" ||
         mnemonic.starts_with("s_subvector_loop") || mnemonic.starts_with("s_cbranch_i_fork") ||
         mnemonic.starts_with("s_cbranch_g_fork") || mnemonic == "s_cbranch_join";
}

/// Nothing is left of a program after its last jump but this.
bool is_padding(const Instruction& instruction) {
  return instruction.mnemonic == "s_code_end" || instruction.mnemonic == "s_nop";
}

Error corrupt_branch(const Instruction& instruction, std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("{} at byte {} of the code {}", instruction.mnemonic,
                                           instruction.address, why)};
}

/// SOPP: the low half of the word counts words from the end of the instruction (RDNA3 ISA, 16.5).
std::int64_t short_target(const Instruction& branch) {
  const auto words = static_cast<std::int16_t>(branch.words[0] & 0xffffU);
  return static_cast<std::int64_t>(branch.end()) + std::int64_t{words} * 4;
}

/// The jump over more than 128 KiB: s_getpc_b64, an addition to its low half, s_setpc_b64. The
/// compiler keeps a flag in the lowest bit (Mesa: emit_long_jump() of aco_assembler.cpp).
class LongJump {
 public:
  void see(const Instruction& instruction);
  /// Of an s_setpc_b64.
  [[nodiscard]] std::optional<std::int64_t> target(const Instruction& jump) const;

 private:
  std::string_view registers_;  ///< "s[6:7]"
  std::int64_t base_ = 0;
  std::int64_t offset_ = 0;
  bool has_offset_ = false;
};

void LongJump::see(const Instruction& instruction) {
  if (instruction.mnemonic == "s_getpc_b64") {
    registers_ = instruction.operands;
    base_ = static_cast<std::int64_t>(instruction.end());
    has_offset_ = false;
    return;
  }
  const std::size_t colon = registers_.find(':');
  if (!instruction.mnemonic.starts_with("s_add") || !registers_.starts_with("s[") ||
      colon == std::string_view::npos || instruction.bytes != 8) {
    return;
  }
  const std::string_view low = registers_.substr(2, colon - 2);
  const std::string start = fmt::format("s{0}, s{0}, ", low);
  if (instruction.operands.starts_with(start)) {
    offset_ = static_cast<std::int32_t>(instruction.words[1]);
    has_offset_ = true;
  }
}

std::optional<std::int64_t> LongJump::target(const Instruction& jump) const {
  if (!has_offset_ || jump.operands != registers_) {
    return std::nullopt;
  }
  return (base_ + offset_) & ~std::int64_t{3};
}

using Labels = std::map<std::string_view, std::uint64_t>;

Result<std::size_t> instruction_at(const Listing& listing, const Labels& labels,
                                   const Instruction& branch, std::int64_t target) {
  const auto found = target < 0 ? std::nullopt : listing.at(static_cast<std::uint64_t>(target));
  if (!found) {
    return tl::unexpected(corrupt_branch(
        branch, fmt::format("leads to byte {}, where no instruction begins", target)));
  }
  if (branch.operands.starts_with("BB")) {
    const auto label = labels.find(branch.operands);
    if (label == labels.end() || label->second != static_cast<std::uint64_t>(target)) {
      return tl::unexpected(corrupt_branch(
          branch, fmt::format("names {}, and its encoding leads elsewhere", branch.operands)));
    }
  }
  return *found;
}

/// Newer drivers close long loops over stepping stones: an s_branch in the middle of the code, and
/// an s_branch before it that skips it (Mesa: chain_branches() of aco_assembler.cpp). Branches get
/// the place where they lead in the end; the stones are none.
std::vector<Branch> without_stones(const Listing& listing, const std::vector<Branch>& branches) {
  std::map<std::size_t, std::size_t> jumps;  // unconditional ones
  for (const Branch& branch : branches) {
    if (listing.instructions[branch.from].mnemonic == "s_branch") {
      jumps.emplace(branch.from, branch.to);
    }
  }
  std::map<std::size_t, std::size_t> stones;
  for (const auto& [from, to] : jumps) {
    const auto before = from > 0 ? jumps.find(from - 1) : jumps.end();
    if (before != jumps.end() && before->second == from + 1) {
      stones.emplace(from, to);
    }
  }
  std::vector<Branch> kept;
  for (Branch branch : branches) {
    if (stones.contains(branch.from) || stones.contains(branch.from + 1)) {
      continue;
    }
    std::size_t hops = 0;
    for (auto stone = stones.find(branch.to); stone != stones.end() && hops < stones.size();
         stone = stones.find(branch.to), ++hops) {
      branch.to = stone->second;
    }
    kept.push_back(branch);
  }
  return kept;
}

Result<std::vector<Branch>> find_branches(const Listing& listing) {
  Labels labels;
  for (const Label& label : listing.labels) {
    labels.emplace(label.name, label.address);
  }
  std::vector<Branch> branches;
  LongJump long_jump;
  for (std::size_t i = 0; i < listing.instructions.size(); ++i) {
    const Instruction& instruction = listing.instructions[i];
    long_jump.see(instruction);
    if (is_unknown_jump(instruction.mnemonic)) {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("the code has a jump that is not followed ({})", instruction.mnemonic));
    }
    std::optional<std::int64_t> target;
    if (is_short_branch(instruction.mnemonic)) {
      target = short_target(instruction);
    } else if (instruction.mnemonic == "s_setpc_b64") {
      target = long_jump.target(instruction);
      const bool ends_program =
          std::all_of(listing.instructions.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      listing.instructions.end(), is_padding);
      if (!target && ends_program) {
        continue;  // on to a part of the shader that is compiled apart
      }
      if (!target) {
        return fail(ErrorCode::kUnsupported, "the code has an s_setpc_b64 to an unknown place");
      }
    }
    if (!target) {
      continue;
    }
    if (instruction.times != 1) {
      return tl::unexpected(corrupt_branch(instruction, "is repeated"));
    }
    const Result<std::size_t> to = instruction_at(listing, labels, instruction, *target);
    if (!to) {
      return tl::unexpected(to.error());
    }
    branches.push_back({i, *to});
  }
  return without_stones(listing, branches);
}

Result<std::vector<Loop>> loops_of(const Listing& listing, const std::vector<Branch>& branches) {
  std::vector<Loop> loops;
  for (const Branch& branch : branches) {
    if (branch.to <= branch.from) {
      loops.push_back({branch.to, branch.from, std::nullopt, {}});
    }
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  const auto same_target = [](const Loop& a, const Loop& b) { return a.first == b.first; };
  loops.erase(std::unique(loops.begin(), loops.end(), same_target), loops.end());
  if (loops.size() > kMaxLoops) {
    return fail(ErrorCode::kUnsupported, fmt::format("the code has {} loops", loops.size()));
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    Loop& loop = loops[i];
    const std::uint64_t begin = listing.instructions[loop.first].address;
    const std::string_view label = listing.label_at(begin);
    loop.name = label.empty() ? fmt::format("at byte {}", begin) : std::string(label);
    while (!open.empty() && loops[open.back()].last < loop.first) {
      open.pop_back();
    }
    if (!open.empty()) {
      loop.parent = open.back();
      if (loops[open.back()].last < loop.last) {
        return fail(ErrorCode::kUnsupported, fmt::format("the loops {} and {} cross each other",
                                                         loops[open.back()].name, loop.name));
      }
    }
    open.push_back(i);
  }
  return loops;
}

/// What an instruction does to the mask of active lanes.
enum class Mask { kKept, kNarrowed, kRestored };

Mask change_of_mask(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  if (name.starts_with("v_cmpx_") || name.find("_saveexec_") != std::string_view::npos ||
      name.find("_wrexec_") != std::string_view::npos) {
    return Mask::kNarrowed;
  }
  const std::string_view operands = instruction.operands;
  const std::string_view target = operands.substr(0, operands.find(','));
  const bool writes_mask = name.starts_with("s_") && !name.starts_with("s_cmp") &&
                           !name.starts_with("s_bitcmp") &&
                           (target == "exec" || target == "exec_lo" || target == "exec_hi");
  if (!writes_mask) {
    return Mask::kKept;
  }
  const std::string_view source = operands.substr(std::min(target.size() + 2, operands.size()));
  const bool is_move =
      name.starts_with("s_mov_b") || name.starts_with("s_or_b") || name.starts_with("s_wqm_b");
  const bool is_number = !source.empty() && source.front() >= '0' && source.front() <= '9';
  return is_move && !is_number ? Mask::kRestored : Mask::kNarrowed;
}

/// What holds at a place of a loop, apart from the loops in it.
struct Scope {
  std::optional<std::size_t> loop;
  bool narrowed = false;
  std::size_t skipped_until = 0;
};

void follow(const Listing& listing, const std::vector<Branch>& branches, ControlFlow& flow) {
  const std::size_t size = listing.instructions.size();
  flow.loop_of.assign(size, std::nullopt);
  flow.conditional.assign(size, false);
  std::vector<Scope> scopes(1);
  std::size_t next_loop = 0;
  auto branch = branches.begin();
  for (std::size_t i = 0; i < size; ++i) {
    while (scopes.size() > 1 && flow.loops[scopes.back().loop.value_or(0)].last < i) {
      scopes.pop_back();
    }
    while (next_loop < flow.loops.size() && flow.loops[next_loop].first == i) {
      scopes.push_back({next_loop++, false, 0});
    }
    Scope& scope = scopes.back();
    flow.loop_of[i] = scope.loop;
    flow.conditional[i] = scope.narrowed || i < scope.skipped_until;
    const Mask mask = change_of_mask(listing.instructions[i]);
    if (mask != Mask::kKept) {
      scope.narrowed = mask == Mask::kNarrowed;
    }
    if (branch != branches.end() && branch->from == i) {
      const std::size_t end = scope.loop ? flow.loops[*scope.loop].last + 1 : size;
      if (branch->to > i && branch->to < end) {
        scope.skipped_until = std::max(scope.skipped_until, branch->to);
      }
      ++branch;
    }
  }
}

}  // namespace

Result<ControlFlow> find_loops(const Listing& listing) {
  const Result<std::vector<Branch>> branches = find_branches(listing);
  if (!branches) {
    return tl::unexpected(branches.error());
  }
  Result<std::vector<Loop>> loops = loops_of(listing, *branches);
  if (!loops) {
    return tl::unexpected(loops.error());
  }
  ControlFlow flow;
  flow.loops = std::move(*loops);
  follow(listing, *branches, flow);
  return flow;
}

}  // namespace gputrace::bench::isa
