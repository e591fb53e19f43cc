#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require

// As many accumulators and rounds as packed fp16 has, for the same moves.
#define NUMBER u16vec2
#define STORED uint
#define FROM_STORED(word) unpack16(word)
#define TO_STORED(number) pack32(number)
#define INTEGERS
#define LONG_BODY
#define PAIRS 4
#define EACH(M, x, y) M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y)

#include "alu.glsl"
