// Pointer chase through a uniform block: nodes hold the index of the next one's vector. Drivers that
// move blocks into registers do so where indices are constants, and here they are data.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(constant_id = 3) const uint VECTORS = 1024;
layout(binding = 4, std140) uniform Nodes { uvec4 next[VECTORS]; };

#define POINTER uint
#define NEXT(p) next[p].x
#define FROM_PLACE(place) ((place) >> 4u)
#define TO_PLACE(p) ((p) << 4u)
#include "chase_main.glsl"
