#include "daemon/os/service_manager.h"
