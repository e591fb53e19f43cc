#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// All pairs: a trip takes a tile of 64 atoms through shared memory. Groups have 64 threads.
#include "md.glsl"

const uint kTile = 64;
shared vec4 tile[kTile];

void main() {
  uint number = gl_GlobalInvocationID.x;
  vec4 me = atoms[number];
  precise vec3 force = vec3(0.0);
  uint trip = 0;
  for (; trip < trips; ++trip) {
    vec4 mine = atoms[trip * kTile + gl_LocalInvocationIndex];
    barrier();
    tile[gl_LocalInvocationIndex] = mine;
    barrier();
    [[unroll]] for (uint i = 0; i < kTile; ++i) {
      vec4 other = tile[i];
      ADD_FORCE(me, other, force)
    }
  }
  forces[number] = vec4(force, float(trip));
}
