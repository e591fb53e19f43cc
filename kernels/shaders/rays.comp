#version 460
#extension GL_EXT_ray_query : require

// A ray a thread: what it meets first, or whether it meets anything.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kAnyHitEnds = 0;

layout(binding = 0, std430) readonly buffer Rays { vec4 rays[]; };  // origin, least; direction, most
// The distance and the triangle; a negative distance where there is none.
layout(binding = 1, std430) writeonly buffer Hits { uvec2 hits[]; };
layout(binding = 7) uniform accelerationStructureEXT scene;

void main() {
  uint number = gl_GlobalInvocationID.x;
  vec4 from = rays[2 * number];
  vec4 towards = rays[2 * number + 1];
  rayQueryEXT query;
  uint flags = gl_RayFlagsOpaqueEXT;
  if (kAnyHitEnds != 0) {
    flags |= gl_RayFlagsTerminateOnFirstHitEXT;
  }
  rayQueryInitializeEXT(query, scene, flags, 0xff, from.xyz, from.w, towards.xyz, towards.w);
  while (rayQueryProceedEXT(query)) {
  }
  uvec2 hit = uvec2(floatBitsToUint(-1.0), 0);
  if (rayQueryGetIntersectionTypeEXT(query, true) == gl_RayQueryCommittedIntersectionTriangleEXT) {
    hit = uvec2(floatBitsToUint(rayQueryGetIntersectionTEXT(query, true)),
                rayQueryGetIntersectionPrimitiveIndexEXT(query, true));
  }
  hits[number] = hit;
}
