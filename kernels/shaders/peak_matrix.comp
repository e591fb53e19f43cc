#version 460
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

// The rate of matrix multiply-adds, fp16 in and fp32 out: a subgroup adds the product of the same
// two matrices to each of four sums. Elements are whole numbers, and so are the sums, exactly.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint m = 16;
layout(constant_id = 2) const uint n = 16;
layout(constant_id = 3) const uint k = 16;

const uint kResultGroups = 64;
const uint kSums = 4;

layout(binding = 0, std430) readonly buffer A { float16_t elements_a[]; };
layout(binding = 1, std430) buffer Result { float result[]; };
layout(binding = 2, std430) readonly buffer B { float16_t elements_b[]; };

layout(push_constant) uniform Push { uint trips; };

#define EACH(M) M(0) M(1) M(2) M(3)
#define BEGIN(i)                                                               \
  coopmat<float, gl_ScopeSubgroup, m, n, gl_MatrixUseAccumulator> sum##i =     \
      coopmat<float, gl_ScopeSubgroup, m, n, gl_MatrixUseAccumulator>(float(i));
#define ADD(i) sum##i = coopMatMulAdd(a, b, sum##i);
#define STORE(i) \
  coopMatStore(sum##i, result, (slot * kSums + i) * m * n, n, gl_CooperativeMatrixLayoutRowMajor);
#define ROUND EACH(ADD)
#define ROUNDS_8 ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND

void main() {
  coopmat<float16_t, gl_ScopeSubgroup, m, k, gl_MatrixUseA> a;
  coopmat<float16_t, gl_ScopeSubgroup, k, n, gl_MatrixUseB> b;
  coopMatLoad(a, elements_a, 0, k, gl_CooperativeMatrixLayoutRowMajor);
  coopMatLoad(b, elements_b, 0, n, gl_CooperativeMatrixLayoutRowMajor);
  EACH(BEGIN)
  for (uint trip = 0; trip < trips; trip++) {
    ROUNDS_8 ROUNDS_8 ROUNDS_8 ROUNDS_8
  }
  uint slot = gl_WorkGroupID.x % kResultGroups * gl_NumSubgroups + gl_SubgroupID;
  EACH(STORE)
}
