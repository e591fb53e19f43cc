#include "kernels/bench/isa/listing.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/kernels/bench/isa/isa_fixture.h"

namespace gputrace::bench::isa {
namespace {

using test::isa_fixture;
using test::replaced;

TEST_CASE("a listing's instructions have their mnemonic, operands, address and encoding") {
  const std::string text = isa_fixture("peak_gfx1103.txt");
  const Result<Listing> listing = parse_listing(text);
  REQUIRE(listing.has_value());
  REQUIRE(listing->instructions.size() == 31);
  const Instruction& load = listing->instructions[2];
  CHECK(load.mnemonic == "s_load_b128");
  CHECK(load.operands == "s[8:11], s[2:3], null");
  CHECK(load.address == 8);
  CHECK(load.bytes == 8);
  CHECK(load.words[0] == 0xf4080201);
  CHECK(load.words[1] == 0xf8000000);
  CHECK(listing->code_bytes() == 148);  // the driver's "Code size"
  CHECK(listing->labels.size() == 4);
  CHECK(listing->label_at(56) == "BB1");
  CHECK(listing->at(8) == 2);
  CHECK_FALSE(listing->at(12).has_value());
}

TEST_CASE("a repeated instruction is counted as often as the driver compiled it") {
  const std::string text = isa_fixture("repeats.txt");
  const Result<Listing> listing = parse_listing(text);
  REQUIRE(listing.has_value());
  CHECK(listing->instructions[4].mnemonic == "v_add_f32_e32");
  CHECK(listing->instructions[4].times == 256);
  CHECK(listing->code_bytes() == 1096);
}

TEST_CASE("both halves of a dual-issued pair are named") {
  const std::string text = isa_fixture("pairs_mesa25.txt");
  const Result<Listing> listing = parse_listing(text);
  REQUIRE(listing.has_value());
  const Instruction& pair = listing->instructions[11];
  CHECK(pair.mnemonic == "v_dual_fmac_f32");
  CHECK(pair.operands == "v4, v5, v6");
  CHECK(pair.second == "v_dual_fmac_f32");
}

TEST_CASE("constants behind the code are no code") {
  const std::string text = isa_fixture("constants.txt");
  const Result<Listing> listing = parse_listing(text);
  REQUIRE(listing.has_value());
  CHECK(listing->has_constants);
  CHECK(listing->code_bytes() == 112);
}

TEST_CASE("what is not ACO's is told from a listing that is broken") {
  const auto code_of = [](const std::string& text) {
    const Result<Listing> listing = parse_listing(text);
    return listing ? "read" : listing.error().code == ErrorCode::kUnsupported ? "other" : "broken";
  };
  CHECK(code_of("") == std::string("other"));
  CHECK(code_of("BB0:\n") == std::string("other"));
  CHECK(code_of("Shader disassembly is not supported in the current configuration.\n") ==
        std::string("other"));
  CHECK(code_of("_amdgpu_cs_main:\n\ts_mov_b32 s0, s3 // 000000000000: BE800003\n") ==
        std::string("other"));
  CHECK(code_of("mov(16)         g2<1>F          g1<8,8,1>F    { align1 1H };\n") ==
        std::string("other"));

  const std::string good = isa_fixture("repeats.txt");
  REQUIRE(code_of(good) == std::string("read"));
  for (const auto& [before, after] : {
           std::pair{"; 06020204", ""},              // no encoding
           std::pair{"; 06020204", "; 0602020"},     // half a word
           std::pair{"; 06020204", "; 06020204 x"},  //
           std::pair{"v_add_f32_e32 v1", "mov v1"},  // another machine's
           std::pair{"v_add_f32_e32 v1, s4, v1", "(invalid instruction)"},
           std::pair{"repeated 255", "repeated 0"},           //
           std::pair{"repeated 255", "repeated -1"},          //
           std::pair{"repeated 255", "repeated 4294967296"},  //
           std::pair{"repeated 255", "repeated"},             //
           std::pair{"BB4:\n", "BB4:\n\t(then repeated 3 times)\n"},
       }) {
    CAPTURE(after);
    CHECK(code_of(replaced(good, before, after)) == std::string("broken"));
  }
}

TEST_CASE("the line that cannot be read is named, without control characters") {
  const Result<Listing> listing = parse_listing("BB0:\n\x1b[31mred\n");
  REQUIRE_FALSE(listing.has_value());
  CHECK(listing.error().message == "line 2 of the listing cannot be read: \"?[31mred\"");
}

}  // namespace
}  // namespace gputrace::bench::isa
