// The one translation unit that holds volk itself.
#define VOLK_IMPLEMENTATION
#include <volk.h>
