#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// Neighbour lists: a trip takes the next 8 atoms of each thread's list. Four neighbours of all
// atoms lie side by side; lists are filled up with the atom itself.
#include "md.glsl"

layout(binding = 2, std430) readonly buffer Lists { uvec4 lists[]; };

void main() {
  uint number = gl_GlobalInvocationID.x;
  vec4 me = atoms[number];
  precise vec3 force = vec3(0.0);
  uint trip = 0;
  for (; trip < trips; ++trip) {
    uvec4 near = lists[(2 * trip) * count + number];
    uvec4 far = lists[(2 * trip + 1) * count + number];
    [[unroll]] for (uint i = 0; i < 8; ++i) {
      vec4 other = atoms[i < 4 ? near[i] : far[i - 4]];
      ADD_FORCE(me, other, force)
    }
  }
  forces[number] = vec4(force, float(trip));
}
