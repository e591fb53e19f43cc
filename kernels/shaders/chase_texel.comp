// Pointer chase through a texel buffer: nodes hold the index of the next one's first word.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(binding = 5) uniform usamplerBuffer nodes;

#define POINTER uint
#define NEXT(p) texelFetch(nodes, int(p)).x
#define FROM_PLACE(place) ((place) >> 2u)
#define TO_PLACE(p) ((p) << 2u)
#include "chase_main.glsl"
