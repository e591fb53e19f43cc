#version 460
#extension GL_GOOGLE_include_directive : require

#define WORD float
#define TAKEN(word) (word)
#define KEPT(population) (population)
#include "lbm.glsl"
