#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// One half in a word: an instruction for one number.
#define NUMBER float16_t
#define STORED uint
#define FROM_STORED(word) unpackFloat2x16(word).x
#define TO_STORED(number) packFloat2x16(f16vec2(number, 0))
#define FLOATS
#define PAIRS 8
#define EACH(M, x, y) \
  M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y) M(4, x, y) M(5, x, y) M(6, x, y) M(7, x, y)

#include "alu.glsl"
