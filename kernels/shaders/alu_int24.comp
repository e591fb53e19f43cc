#version 460
#extension GL_GOOGLE_include_directive : require

// GLSL has no name for a product of 24 bits; drivers know it by the masks.
#define NUMBER uint
#define STORED uint
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define INTEGERS
#define MULTIPLY(a, b) (((a) & 0xffffffu) * ((b) & 0xffffffu))
#define PAIRS 8
#define EACH(M, x, y) \
  M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y) M(4, x, y) M(5, x, y) M(6, x, y) M(7, x, y)

#include "alu.glsl"
