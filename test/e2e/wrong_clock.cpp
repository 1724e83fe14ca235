// Gives a program a wrong calendar. The dynamic linker loads this library before the C library. It adds the
// seconds that the file named by WRONG_CLOCK holds. Monotonic time is unchanged.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

long error_in_seconds() {
    const char* path = std::getenv("WRONG_CLOCK");
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    char text[32] = {};
    const auto length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? std::atol(text) : 0;
}

int real_gettime(clockid_t clock, timespec* time) {
    static const auto real =
        reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
    return real(clock, time);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const int result = real_gettime(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += error_in_seconds();
    return result;
}

time_t time(time_t* result) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(timeval* result, void*) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}
}
