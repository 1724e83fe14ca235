// What benchmarks measure by: it says the same beside other programs as alone.
#pragma once

#include <time.h>

namespace bench {

// CPU time of all threads of this process so far, in seconds.
inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace bench
