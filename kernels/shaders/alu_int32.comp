#version 460
#extension GL_GOOGLE_include_directive : require

uint upper_half(uint a, uint b) {
  uint upper;
  uint lower;
  umulExtended(a, b, upper, lower);
  return upper;
}

#define NUMBER uint
#define STORED uint
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define INTEGERS
#define MUL_HI(a, b) upper_half(a, b)
#define PAIRS 8
#define EACH(M, x, y) \
  M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y) M(4, x, y) M(5, x, y) M(6, x, y) M(7, x, y)

#include "alu.glsl"
