#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// Made of several instructions each: few accumulators keep the body short.
#define NUMBER uint64_t
#define STORED uint64_t
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define INTEGERS
#define PAIRS 4
#define EACH(M, x, y) M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y)

#include "alu.glsl"
