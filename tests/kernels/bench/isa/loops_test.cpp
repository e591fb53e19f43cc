#include "kernels/bench/isa/loops.h"

#include <doctest/doctest.h>

#include <string>

#include "kernels/bench/isa/tally.h"
#include "tests/kernels/bench/isa/isa_fixture.h"

namespace gputrace::bench::isa {
namespace {

using test::isa_fixture;
using test::replaced;

struct Read {
  std::string text;
  Listing listing;
  Result<ControlFlow> flow;

  explicit Read(std::string listing_text)
      : text(std::move(listing_text)),
        listing(parse_listing(text).value()),
        flow(find_loops(listing)) {}
};

TEST_CASE("a loop reaches from the target of the branch back to that branch") {
  const Read read(isa_fixture("peak_gfx1103.txt"));
  REQUIRE(read.flow.has_value());
  REQUIRE(read.flow->loops.size() == 1);
  const Loop& loop = read.flow->loops[0];
  CHECK(loop.name == "BB1");
  CHECK(read.listing.instructions[loop.first].mnemonic == "s_cmp_ge_u32");
  CHECK(read.listing.instructions[loop.last].mnemonic == "s_branch");
  CHECK_FALSE(loop.parent.has_value());
}

TEST_CASE("a loop closed by a conditional branch is one too") {
  const Read read(isa_fixture("pairs_mesa25.txt"));
  REQUIRE(read.flow.has_value());
  REQUIRE(read.flow->loops.size() == 1);
  CHECK(read.flow->loops[0].name == "BB4");
}

TEST_CASE("a loop of more than 128 KiB, closed through a register, is found") {
  const Read read(isa_fixture("long_jump.txt"));
  REQUIRE(read.flow.has_value());
  REQUIRE(read.flow->loops.size() == 1);
  CHECK(read.flow->loops[0].name == "BB1");
  const Tallies tallies = count_operations(read.listing, *read.flow);
  CHECK(tallies.loops[0].at(Operation::kAddF32).operations == 65536);
  CHECK(tallies.loops[0].at(Operation::kAddF32).conditional == 0);
}

TEST_CASE("a long loop that is closed over a stepping stone is one loop") {
  const Read read(
      "BB0:\n"
      "\ts_mov_b32 s0, 0                ; be800080\n"
      "BB1:\n"
      "\tv_add_f32_e32 v3, v3, v2       ; 06060503\n"
      "\ts_branch 1                     ; bfa00001\n"
      "\ts_branch BB1                   ; bfa0fffd\n"
      "\tv_add_f32_e32 v2, v2, v3       ; 06040702\n"
      "\ts_branch 3                     ; bfa0fffd\n"
      "\ts_endpgm                       ; bfb00000\n");
  REQUIRE(read.flow.has_value());
  REQUIRE(read.flow->loops.size() == 1);
  CHECK(read.flow->loops[0].name == "BB1");
  CHECK(read.listing.instructions[read.flow->loops[0].last].operands == "3");
  const Tallies tallies = count_operations(read.listing, *read.flow);
  CHECK(tallies.loops[0].at(Operation::kAddF32).operations == 2);
  CHECK(tallies.loops[0].at(Operation::kAddF32).conditional == 0);
}

TEST_CASE("nested loops know the one around them") {
  const Read read(isa_fixture("nested.txt"));
  REQUIRE(read.flow.has_value());
  REQUIRE(read.flow->loops.size() == 2);
  CHECK(read.flow->loops[0].name == "BB1");
  CHECK(read.flow->loops[1].name == "BB5");
  CHECK(read.flow->loops[1].parent == 0);
  const Tallies tallies = count_operations(read.listing, *read.flow);
  CHECK(tallies.loops[0].at(Operation::kLoad16).operations == 1);
  CHECK(tallies.loops[1].at(Operation::kFmaF32).operations == 4);
  CHECK(tallies.loops[1].at(Operation::kFmaF32).conditional == 0);
}

TEST_CASE("what runs for some lanes only is conditional") {
  const Read read(isa_fixture("divergent.txt"));
  REQUIRE(read.flow.has_value());
  const Tallies tallies = count_operations(read.listing, *read.flow);
  REQUIRE(tallies.loops.size() == 1);
  CHECK(tallies.loops[0].at(Operation::kLoad4).conditional == 1);
  CHECK(tallies.outside.at(Operation::kLoad4).conditional == 0);
  // The addition behind the branch, not that of the loop's end.
  CHECK(tallies.loops[0].at(Operation::kAddI32).operations == 3);
  CHECK(tallies.loops[0].at(Operation::kAddI32).conditional == 1);
}

TEST_CASE("a branch whose text and encoding disagree is an error") {
  const std::string good = isa_fixture("peak_gfx1103.txt");
  CHECK_FALSE(Read(replaced(good, "s_branch BB1", "s_branch BB4")).flow.has_value());
  CHECK_FALSE(Read(replaced(good, "s_branch BB1", "s_branch BB9")).flow.has_value());
  CHECK_FALSE(Read(replaced(good, "bfa0fff3", "bfa0fff4")).flow.has_value());
  const Read into_instruction(replaced(replaced(good, "bfa0fff3", "bfa00001"), "BB1  ", "2"));
  REQUIRE_FALSE(into_instruction.flow.has_value());
  CHECK(into_instruction.flow.error().message.find("where no instruction begins") !=
        std::string::npos);
}

TEST_CASE("a listing that lost its repeats no longer agrees with its branches") {
  const std::string text =
      replaced(isa_fixture("repeats.txt"), "\t(then repeated 255 times)\n", "");
  CHECK_FALSE(Read(text).flow.has_value());
}

TEST_CASE("jumps that cannot be followed are refused") {
  const std::string good = isa_fixture("long_jump.txt");
  CHECK_FALSE(Read(replaced(good, "s_getpc_b64 s[6:7] ", "s_getpc_b64 s[8:9] ")).flow.has_value());
  CHECK_FALSE(Read(replaced(good, "s_addc_u32 s6, s6", "s_addc_u32 s7, s7")).flow.has_value());
  CHECK_FALSE(
      Read(replaced(good, "s_bitset0_b32 s6, 0  ", "s_swappc_b64 s[0:1]")).flow.has_value());
  // At the end it leads to a part of the shader that is compiled apart.
  const std::string end = replaced(good, "s_endpgm    ", "s_setpc_b64 s[4:5]");
  CHECK(Read(end).flow.has_value());
}

TEST_CASE("loops that cross each other are refused") {
  const std::string text =
      "BB0:\n\ts_nop 0 ; bf800000\nBB1:\n\ts_nop 0 ; bf800000\n"
      "BB2:\n\ts_branch BB0 ; bfa0fffd\n\ts_cbranch_scc1 BB1 ; bfa2fffd\n\ts_endpgm ; bfb00000\n";
  const Read read(text);
  REQUIRE_FALSE(read.flow.has_value());
  CHECK(read.flow.error().message == "the loops BB0 and BB1 cross each other");
}

}  // namespace
}  // namespace gputrace::bench::isa
