// Pointer chase for devices without buffer addresses: nodes hold the index of the next one's first
// word, and a hop costs a shift beside its load.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(binding = 1, std430) readonly restrict buffer Nodes { uint next[]; };

#define POINTER uint
#define NEXT(p) next[p]
#define FROM_PLACE(place) ((place) >> 2u)
#define TO_PLACE(p) ((p) << 2u)
#include "chase_main.glsl"
