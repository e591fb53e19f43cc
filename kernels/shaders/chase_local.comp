// Pointer chase through local memory: words hold the index of the next one.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_GOOGLE_include_directive : require
#include "chase.glsl"

layout(constant_id = 3) const uint WORDS = 4096;
layout(binding = 1, std430) readonly restrict buffer Nodes { uint first[]; };
shared uint next[WORDS];

// Sixteen a trip: some drivers end a shader after too many.
#define PREPARE                                \
  if (gl_LocalInvocationIndex == 0u) {         \
    for (uint i = 0; i < words; i += 16u) {    \
      for (uint k = 0; k < 16u; k++) {         \
        next[i + k] = first[i + k];            \
      }                                        \
    }                                          \
  }                                            \
  barrier();

#define POINTER uint
#define NEXT(p) next[p]
#define FROM_PLACE(place) ((place) >> 2u)
#define TO_PLACE(p) ((p) << 2u)
#include "chase_main.glsl"
