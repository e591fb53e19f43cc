// Pointer chase through an image that is sampled: a texel is the next one's coordinates, so a hop is
// one instruction. Sides are powers of two, which makes the coordinates of centres exact.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(binding = 6) uniform sampler2D nodes;

#define POINTER vec2
#define NEXT(p) textureLod(nodes, p, 0).xy
#define FROM_PLACE(place) ((vec2((place) & 0xffffu, (place) >> 16u) + 0.5) * scale)
#define TO_PLACE(p) (uint((p).x / scale.x) | uint((p).y / scale.y) << 16u)
#include "chase_main.glsl"
