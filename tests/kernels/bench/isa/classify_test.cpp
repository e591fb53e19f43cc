#include "kernels/bench/isa/classify.h"

#include <doctest/doctest.h>

#include <string>

namespace gputrace::bench::isa {
namespace {

std::string told(std::string_view mnemonic, std::string_view operands = "") {
  const Classified what = classify(mnemonic, operands);
  if (!what.operation) {
    return what.is_other_transfer ? "other transfer" : "-";
  }
  return std::to_string(what.count) + " " + std::string(name_of(*what.operation));
}

TEST_CASE("every form of a multiply-add is one, packed ones are two") {
  for (const char* name : {"v_fma_f32", "v_fmac_f32_e32", "v_fmac_f32_e64_dpp", "v_fmaak_f32",
                           "v_fmamk_f32", "v_mad_f32", "v_mac_f32_e32", "v_madmk_f32",
                           "v_dual_fmac_f32", "v_dual_fmaak_f32", "v_fma_mix_f32"}) {
    CAPTURE(name);
    CHECK(told(name) == "1 FMA fp32");
  }
  CHECK(told("v_pk_fma_f32") == "2 FMA fp32");
  CHECK(told("v_pk_fma_f16") == "2 FMA fp16");
  CHECK(told("v_pk_fmac_f16") == "2 FMA fp16");
  CHECK(told("v_fma_f16") == "1 FMA fp16");
  CHECK(told("v_fmac_f16_t16_e32") == "1 FMA fp16");
  CHECK(told("v_fma_f64") == "1 FMA fp64");
  CHECK(told("v_fmac_f64_e32") == "1 FMA fp64");
  CHECK(told("v_cvt_f32_u32_e32") == "-");
  CHECK(told("v_fma_u32") == "-");
}

TEST_CASE("additions and multiplications are told apart by type") {
  CHECK(told("v_add_f32_e32") == "1 add fp32");
  CHECK(told("v_subrev_f32_e64") == "1 add fp32");
  CHECK(told("v_dual_mul_f32") == "1 multiply fp32");
  CHECK(told("v_add_nc_u32_e32") == "1 add int32");
  CHECK(told("v_add_u32_sdwa") == "1 add int32");
  CHECK(told("v_add_co_ci_u32_e64") == "1 add int32");
  CHECK(told("v_add3_u32") == "2 add int32");
  CHECK(told("v_mul_lo_u32") == "1 multiply int32");
  CHECK(told("v_mad_u64_u32") == "1 multiply int32");
  CHECK(told("v_add_f16_e32") == "1 add fp16");
  CHECK(told("v_pk_mul_f16") == "2 multiply fp16");
  CHECK(told("v_add_f64") == "1 add fp64");
  CHECK(told("v_mul_f64") == "1 multiply fp64");
  CHECK(told("v_add_nc_u16") == "1 add int16");
  CHECK(told("v_pk_add_u16") == "2 add int16");
  CHECK(told("v_mul_lo_u16_e64") == "1 multiply int16");
  CHECK(told("v_add_nc_u16", "v4, v5, v6") == "1 add int16");
  CHECK(told("v_add_nc_u16", "v4, v5, 0") == "-");  // a move
  CHECK(told("v_mad_u16") == "1 multiply int16");
  CHECK(told("v_pk_mad_u16") == "2 multiply int16");
  CHECK(told("s_add_u32") == "-");
  CHECK(told("s_mul_i32") == "-");
  CHECK(told("v_lshlrev_b32_e32") == "-");
}

TEST_CASE("a multiply-add that converts halves is what it computes") {
  CHECK(told("v_fma_mix_f32", "v2, s6, v2, v61 op_sel_hi:[0,1,0]") == "1 FMA fp32");
  CHECK(told("v_fma_mix_f32", "v28, 1.0, v46, -v47 op_sel_hi:[0,1,1]") == "1 add fp32");
  CHECK(told("v_fma_mix_f32", "v28, v46, 1.0, v47 op_sel_hi:[1,0,1]") == "1 add fp32");
  CHECK(told("v_fma_mix_f32", "v5, v6, v7, neg(0) op_sel_hi:[1,0,0]") == "1 multiply fp32");
  CHECK(told("v_fma_mixlo_f16", "v5, v6, v7, v8") == "1 FMA fp32");
  // The first operand is where the result goes.
  CHECK(told("v_fma_mix_f32", "v5, v6, v7, 1.0") == "1 FMA fp32");
}

TEST_CASE("multiply-adds of GCN round twice, those of RDNA once") {
  CHECK(classify("v_mad_f32", "v1, v2, v3, v4").rounds_twice);
  CHECK(classify("v_mac_f32_e32", "v1, v2, v3").rounds_twice);
  CHECK_FALSE(classify("v_fma_f32", "v1, v2, v3, v4").rounds_twice);
  CHECK_FALSE(classify("v_fmac_f32_e32", "v1, v2, v3").rounds_twice);
  CHECK_FALSE(classify("v_mul_f32_e32", "v1, v2, v3").rounds_twice);
}

TEST_CASE("functions are told by their unit, whatever their type") {
  CHECK(told("v_rcp_f32_e32") == "1 reciprocal");
  CHECK(told("v_rcp_iflag_f32_e32") == "1 reciprocal");
  CHECK(told("v_rcp_f16_e32") == "1 reciprocal");
  CHECK(told("v_sqrt_f32_e32") == "1 square root");
  CHECK(told("v_rsq_f64_e32") == "1 reciprocal square root");
  CHECK(told("v_exp_f32_e32") == "1 exponential");
  CHECK(told("v_log_f32_e32") == "1 logarithm");
  CHECK(told("v_sin_f32_e32") == "1 sine");
  CHECK(told("v_ldexp_f32") == "-");
  CHECK(told("v_frexp_mant_f64") == "-");
}

TEST_CASE("dot products and matrices") {
  CHECK(told("v_dot4_i32_i8") == "1 dot product int8");
  CHECK(told("v_dot4_i32_iu8") == "1 dot product int8");
  CHECK(told("v_dot4c_i32_i8_e32") == "1 dot product int8");
  CHECK(told("v_wmma_f32_16x16x16_f16") == "1 matrix multiply");
}

TEST_CASE("loads and stores of every generation are counted by their size") {
  for (const char* name : {"buffer_load_b128", "global_load_b128", "buffer_load_dwordx4",
                           "global_load_dwordx4", "flat_load_dwordx4", "buffer_load_format_xyzw"}) {
    CAPTURE(name);
    CHECK(told(name) == "1 load 16 B");
  }
  CHECK(told("global_load_b64") == "1 load 8 B");
  CHECK(told("global_load_dwordx2") == "1 load 8 B");
  CHECK(told("buffer_load_dword") == "1 load 4 B");
  CHECK(told("buffer_load_format_x") == "1 load 4 B");
  CHECK(told("global_store_b128") == "1 store 16 B");
  CHECK(told("buffer_store_dword") == "1 store 4 B");
  CHECK(told("buffer_load_ushort") == "1 load 2 B");
  CHECK(told("global_load_u16") == "1 load 2 B");
  CHECK(told("global_store_b16") == "1 store 2 B");
  CHECK(told("s_load_b64") == "1 scalar load");
  CHECK(told("s_buffer_load_dwordx4") == "1 scalar load");
  for (const char* name : {"buffer_load_b96", "global_load_u8", "global_store_b64",
                           "scratch_load_b32", "scratch_store_dword", "image_store"}) {
    CAPTURE(name);
    CHECK(told(name) == "other transfer");
  }
  CHECK(told("image_bvh64_intersect_ray") == "1 ray test");
  CHECK(told("buffer_gl0_inv") == "-");
  CHECK(told("s_waitcnt") == "-");
}

TEST_CASE("local memory: double loads are two, moves between lanes are none") {
  CHECK(told("ds_load_b32") == "1 local load");
  CHECK(told("ds_read_b128") == "1 local load");
  CHECK(told("ds_load_2addr_b32") == "2 local load");
  CHECK(told("ds_read2st64_b32") == "2 local load");
  CHECK(told("ds_store_2addr_stride64_b32") == "2 local store");
  CHECK(told("ds_write_b32") == "1 local store");
  CHECK(told("ds_add_u32") == "1 local atomic");
  CHECK(told("ds_add_rtn_u32") == "1 local atomic");
  CHECK(told("ds_cmpst_rtn_b32") == "1 local atomic");
  CHECK(told("ds_storexchg_rtn_b32") == "1 local atomic");
  CHECK(told("ds_bpermute_b32") == "-");
}

TEST_CASE("fetches, exports and atomics") {
  CHECK(told("image_sample_lz") == "1 texture fetch");
  CHECK(told("image_load") == "1 texture fetch");
  CHECK(told("image_get_resinfo") == "-");
  CHECK(told("exp", "mrt0 v0, v1, v2, v3 done vm") == "1 export");
  CHECK(told("exp", "pos0 v0, v1, v2, v3 done") == "-");
  CHECK(told("export", "mrtz v0, off, off, off") == "1 export");
  CHECK(told("buffer_atomic_add_u32") == "1 atomic");
  CHECK(told("global_atomic_cmpswap") == "1 atomic");
  CHECK(told("image_atomic_add") == "1 atomic");
}

}  // namespace
}  // namespace gputrace::bench::isa
