// Pointer chase through nodes that hold addresses: a hop is one load and no arithmetic.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

// Without readonly RADV takes the vector path for uniform addresses too.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer Node {
  uint64_t next;
};

#define POINTER uint64_t
#define NEXT(p) Node(p).next
#define FROM_PLACE(place) (packUint2x32(base) + uint64_t(place))
#define TO_PLACE(p) uint(p - packUint2x32(base))
#include "chase_main.glsl"
