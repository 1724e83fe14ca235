// The measure of benchmarks: it does not depend on other running programs.
#pragma once

#include <time.h>

namespace bench {

// Returns the CPU time of all threads of this process so far, in seconds.
inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace bench
