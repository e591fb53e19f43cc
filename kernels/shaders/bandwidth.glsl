// Streams through memory: each thread makes four independent accesses of 16 bytes a trip, and lanes
// beside each other touch vectors beside each other. The including shader defines VECTOR, 16 bytes
// as they are loaded and stored, and WORDS(vector), FLOATS(vector), VECTOR_OF_WORDS(uvec4),
// VECTOR_OF_FLOATS(vec4).

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kind = 0;
const uint kRead = 0;
const uint kWrite = 1;
const uint kCopy = 2;
const uint kMix25 = 4;  // 1 read and 3 writes a trip
const uint kMix75 = 5;  // 3 reads and 1 write

layout(binding = 0, std430) readonly buffer From { VECTOR from[]; };
layout(binding = 1, std430) buffer To { VECTOR to[]; };
layout(binding = 2, std430) readonly buffer Other { VECTOR other[]; };
layout(binding = 3, std430) writeonly buffer Sums { uint sums[]; };

layout(push_constant) uniform Push {
  uint trips;
  uint mask;          // vectors of the region less one, a power of two less one
  uint group_region;  // first vector of a group's region = this times its number; 0 = all share one
  uint group_start;   // where in the region a group begins = this times its number
  float factor;
};

void main() {
  uint step = gl_WorkGroupSize.x;
  uint region = gl_WorkGroupID.x * group_region;
  uint place = gl_WorkGroupID.x * group_start + gl_LocalInvocationIndex;
  uvec4 sum = uvec4(0);
  for (uint trip = 0; trip < trips; trip++) {
    uint at0 = region + (place & mask);
    uint at1 = region + ((place + step) & mask);
    uint at2 = region + ((place + 2 * step) & mask);
    uint at3 = region + ((place + 3 * step) & mask);
    if (kind == kRead) {
      VECTOR v0 = from[at0];
      VECTOR v1 = from[at1];
      VECTOR v2 = from[at2];
      VECTOR v3 = from[at3];
      // A sum, not an exclusive or: vectors that are read an even number of times would cancel.
      sum += WORDS(v0) + WORDS(v1);
      sum += WORDS(v2) + WORDS(v3);
    } else if (kind == kWrite) {
      // Depends on the trip, or the compiler would see that the next trip writes the same.
      VECTOR v = VECTOR_OF_WORDS(uvec4(trip, gl_WorkGroupID.x, place, mask));
      to[at0] = v;
      to[at1] = v;
      to[at2] = v;
      to[at3] = v;
    } else if (kind == kCopy) {
      VECTOR v0 = from[at0];
      VECTOR v1 = from[at1];
      VECTOR v2 = from[at2];
      VECTOR v3 = from[at3];
      to[at0] = v0;
      to[at1] = v1;
      to[at2] = v2;
      to[at3] = v3;
    } else if (kind == kMix25 || kind == kMix75) {
      // One region: what is read and what is written lie in turn in it.
      VECTOR v0 = to[at0];
      sum += WORDS(v0);
      if (kind == kMix75) {
        VECTOR v1 = to[at1];
        VECTOR v2 = to[at2];
        sum += WORDS(v1) + WORDS(v2);
      }
      VECTOR v = VECTOR_OF_WORDS(uvec4(trip, gl_WorkGroupID.x, place, mask));
      if (kind == kMix25) {
        to[at1] = v;
        to[at2] = v;
      }
      to[at3] = v;
    } else {
      VECTOR v0 = from[at0];
      VECTOR v1 = from[at1];
      VECTOR v2 = from[at2];
      VECTOR v3 = from[at3];
      VECTOR o0 = other[at0];
      VECTOR o1 = other[at1];
      VECTOR o2 = other[at2];
      VECTOR o3 = other[at3];
      vec4 f = vec4(factor);
      to[at0] = VECTOR_OF_FLOATS(fma(f, FLOATS(o0), FLOATS(v0)));
      to[at1] = VECTOR_OF_FLOATS(fma(f, FLOATS(o1), FLOATS(v1)));
      to[at2] = VECTOR_OF_FLOATS(fma(f, FLOATS(o2), FLOATS(v2)));
      to[at3] = VECTOR_OF_FLOATS(fma(f, FLOATS(o3), FLOATS(v3)));
    }
    place += 4 * step;
  }
  // Where nothing is summed, the place proves the number of trips.
  bool summed = kind == kRead || kind == kMix25 || kind == kMix75;
  sums[gl_GlobalInvocationID.x] =
      summed ? sum.x + 3 * sum.y + 5 * sum.z + 7 * sum.w : place;
}
