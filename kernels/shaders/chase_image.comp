// Pointer chase through an image that is fetched from: a texel holds the next one's x, and its y in
// the upper half.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(binding = 6) uniform usampler2D nodes;

#define POINTER uint
#define NEXT(p) texelFetch(nodes, ivec2((p) & 0xffffu, (p) >> 16u), 0).x
#define FROM_PLACE(place) (place)
#define TO_PLACE(p) (p)
#include "chase_main.glsl"
