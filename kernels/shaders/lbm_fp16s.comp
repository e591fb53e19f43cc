#version 460
#extension GL_EXT_shader_16bit_storage : require
#extension GL_GOOGLE_include_directive : require

// Halves of populations times 32,768.
#define WORD float16_t
#define TAKEN(word) float(word)
#define KEPT(population) float16_t(population)
#include "lbm.glsl"
