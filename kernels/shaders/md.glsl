// The force that one atom puts on another: Lennard-Jones and Coulomb with a reaction field, up to a
// cut-off, between nearest images in a periodic cube. The including shader defines the loop over
// the others.

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Atoms { vec4 atoms[]; };  // place, charge
// Of each atom: the force, and in the last number how many trips it made.
layout(binding = 1, std430) writeonly buffer Forces { vec4 forces[]; };

layout(push_constant) uniform Push {
  uint trips;
  uint count;
  float box;
  float over_box;         // 1 / box
  float square_cut_off;
  float square_size;      // sigma^2
  float depth;            // 24 epsilon
  float field;            // -2 times the reaction field's factor
};

// Every product that a driver could join with an addition is joined here, so that all do the same.
// Pairs beyond the cut-off, and an atom with itself, are computed and count nothing.
#define ADD_FORCE(me, other, force)                                              \
  {                                                                              \
    precise vec3 apart = (me).xyz - (other).xyz;                                 \
    precise vec3 boxes = apart * over_box;                                       \
    precise vec3 nearest = fma(vec3(-box), roundEven(boxes), apart);             \
    precise float x_square = nearest.x * nearest.x;                              \
    precise float xy_square = fma(nearest.y, nearest.y, x_square);               \
    precise float square = fma(nearest.z, nearest.z, xy_square);                 \
    float over = inversesqrt(square);                                            \
    precise float over_square = over * over;                                     \
    precise float s2 = square_size * over_square;                                \
    precise float s4 = s2 * s2;                                                  \
    precise float s6 = s4 * s2;                                                  \
    precise float well = fma(2.0, s6, -1.0);                                     \
    precise float deep = depth * s6;                                             \
    precise float jones = deep * well;                                           \
    precise float charges = (me).w * (other).w;                                  \
    precise float coulomb = fma(field, square, over);                            \
    precise float both = fma(charges, coulomb, jones);                           \
    precise float strength = both * over_square;                                 \
    float counts = square < square_cut_off && square > 0.0 ? strength : 0.0;     \
    force = fma(vec3(counts), nearest, force);                                   \
  }
