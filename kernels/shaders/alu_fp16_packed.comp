#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// RADV moves both halves of every accumulator at the end of a trip: few accumulators and a long
// body keep these moves rare.
#define NUMBER f16vec2
#define STORED uint
#define FROM_STORED(word) unpackFloat2x16(word)
#define TO_STORED(number) packFloat2x16(number)
#define FLOATS
#define LONG_BODY
#define PAIRS 4
#define EACH(M, x, y) M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y)

#include "alu.glsl"
