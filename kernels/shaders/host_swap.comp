// Answers each number that the CPU writes, while it runs. Nothing waits without bound: the looks
// are counted.
#version 460
layout(local_size_x = 1) in;

// Each of the two writes to a line of its own, and reads the other's.
layout(binding = 0, std430) coherent volatile buffer Words {
  uint asked;
  uint unused_by_gpu[63];
  uint answered;
  uint unused_by_cpu[63];
  uint last;   // when the kernel ended
  uint trips;
};
layout(push_constant) uniform Push {
  uint wanted;  // the number that ends it; what is larger does too
  uint budget;  // of trips, eight looks each
};

#define LOOK                \
  {                         \
    const uint now = asked; \
    if (now > number) {     \
      number = now;         \
      answered = now;       \
    }                       \
  }

void main() {
  uint number = 0;
  uint trip = 0;
  while (number < wanted && trip < budget) {
    LOOK LOOK LOOK LOOK LOOK LOOK LOOK LOOK
    trip++;
  }
  last = number;
  trips = trip;
}
