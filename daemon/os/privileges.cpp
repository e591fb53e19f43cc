#include "daemon/os/privileges.h"
