#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// RADV moves both halves of every accumulator at the end of a trip: few accumulators and a long
// body keep these moves rare.
#define NUMBER f16vec2
#define STORED uint
#define FROM_STORED(word) unpackFloat2x16(word)
#define TO_STORED(number) packFloat2x16(number)
#define MULTIPLY_ADD(a, b, sum) fma(a, b, sum)
#define PAIRS 4
#define EACH(M) M(0) M(1) M(2) M(3)
#define ROUNDS_8 ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND
#define BODY ROUNDS_8 ROUNDS_8 ROUNDS_8 ROUNDS_8

#include "peak.glsl"
