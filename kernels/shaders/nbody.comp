#version 460

// Gravity of all bodies on each: a thread has one body, and a group goes through all others in
// tiles of 64 in shared memory. Its 256 threads load a tile with one number each.

layout(local_size_x_id = 0) in;  // 256

layout(binding = 0, std430) readonly buffer Bodies { vec4 bodies[]; };  // place, mass
layout(binding = 0, std430) readonly buffer BodyNumbers { float numbers[]; };
layout(binding = 1, std430) writeonly buffer Pulls { vec4 pulls[]; };

layout(push_constant) uniform Push {
  uint tiles;
  float softening;  // squared; a body does not pull itself out of its place
};

const uint kTile = 64;
shared float tile[4 * kTile];

#define PULL(i)                                                                       \
  {                                                                                   \
    vec4 other = vec4(tile[4 * (i)], tile[4 * (i) + 1], tile[4 * (i) + 2], tile[4 * (i) + 3]); \
    precise float x = other.x - here.x;                                               \
    precise float y = other.y - here.y;                                               \
    precise float z = other.z - here.z;                                               \
    precise float inverse = inversesqrt(fma(x, x, fma(y, y, fma(z, z, softening))));  \
    precise float square = inverse * inverse;                                         \
    precise float cube = square * inverse;                                            \
    precise float pull = other.w * cube;                                              \
    pull_x = fma(pull, x, pull_x);                                                    \
    pull_y = fma(pull, y, pull_y);                                                    \
    pull_z = fma(pull, z, pull_z);                                                    \
  }
#define PULL_4(i) PULL(i) PULL(i + 1) PULL(i + 2) PULL(i + 3)
#define PULL_16(i) PULL_4(i) PULL_4(i + 4) PULL_4(i + 8) PULL_4(i + 12)

void main() {
  vec4 here = bodies[gl_GlobalInvocationID.x];
  float pull_x = 0.0;
  float pull_y = 0.0;
  float pull_z = 0.0;
  uint place = gl_LocalInvocationIndex;
  uint i = 0;
  for (; i < tiles; i++) {
    float number = numbers[place];
    barrier();
    tile[gl_LocalInvocationIndex] = number;
    barrier();
    PULL_16(0) PULL_16(16) PULL_16(32) PULL_16(48)
    place += 4 * kTile;
  }
  pulls[gl_GlobalInvocationID.x] = vec4(here.w * vec3(pull_x, pull_y, pull_z), float(i));
}
