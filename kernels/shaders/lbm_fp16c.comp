#version 460
#extension GL_EXT_shader_16bit_storage : require
#extension GL_GOOGLE_include_directive : require

// A sign, 4 bits of exponent, 11 of mantissa; below 2^-14 steps of 2^-25. Drivers may flush
// denormal floats, so that no such float may appear on the way: the ulp of numbers from 0.25 to 0.5
// is the smallest step.

float decoded(uint word) {
  uint magnitude = word & 0x7fffu;
  float normal = uintBitsToFloat((magnitude << 12) + (112u << 23));
  precise float small = uintBitsToFloat(magnitude + 0x3e800000u) - 0.25;
  float either = magnitude >= 0x800u ? normal : small;
  return uintBitsToFloat(floatBitsToUint(either) | ((word & 0x8000u) << 16));
}

// To the nearest, ties to even.
uint encoded(float population) {
  uint bits = floatBitsToUint(population);
  uint magnitude = bits & 0x7fffffffu;
  uint normal = (magnitude - (112u << 23) + 0x7ffu + ((magnitude >> 12) & 1u)) >> 12;
  precise float shifted = abs(population) + 0.25;
  uint small = floatBitsToUint(shifted) - 0x3e800000u;
  uint either = magnitude >= (113u << 23) ? normal : small;
  return min(either, 0x7fffu) | ((bits >> 16) & 0x8000u);
}

#define WORD uint16_t
#define TAKEN(word) decoded(uint(word))
#define KEPT(population) uint16_t(encoded(population))
#include "lbm.glsl"
