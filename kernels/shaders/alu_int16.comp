#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require

#define NUMBER uint16_t
#define STORED uint
#define FROM_STORED(word) uint16_t(word)
#define TO_STORED(number) uint(number)
#define INTEGERS
#define PAIRS 8
#define EACH(M, x, y) \
  M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y) M(4, x, y) M(5, x, y) M(6, x, y) M(7, x, y)

#include "alu.glsl"
