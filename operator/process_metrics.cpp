#include "operator/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/log.hpp"

namespace kubenodesmith {

namespace {

// MemoryUse is in bytes. Both are 0 if they cannot be read.
struct MemoryUse {
    double all = 0;
    double resident = 0;
};

// Reads the first two fields of statm, which count pages. See proc(5).
MemoryUse memory_use() {
    std::ifstream statm("/proc/self/statm");
    MemoryUse use;
    statm >> use.all >> use.resident;
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    return {use.all * page, use.resident * page};
}

// Returns the soft limit. Without a limit this is the largest number, as in Prometheus' client libraries.
double limit_of(decltype(RLIMIT_NOFILE) resource) {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

double cpu_seconds() {
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_files() {
    std::error_code error;
    const std::filesystem::directory_iterator files("/proc/self/fd", error);
    return error ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}

}  // namespace

std::unique_ptr<base::MetricsRegistry::Hook> add_process_metrics(base::MetricsRegistry& registry,
                                                                 const std::string& version) {
    registry
        .gauge("kubenodesmith_build_info", "Always 1; the label names the version that was built",
               {"version"})
        .with({version})
        .set(1);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    registry.gauge("process_start_time_seconds", "When the process began, in seconds since 1970")
        .with({})
        .set(std::chrono::duration<double>(now).count());
    registry.gauge("process_max_fds", "Most files and sockets that may be open")
        .with({})
        .set(limit_of(RLIMIT_NOFILE));
    registry.gauge("process_virtual_memory_max_bytes", "Largest address space that the process may have")
        .with({})
        .set(limit_of(RLIMIT_AS));
    auto& memory = registry.gauge("process_resident_memory_bytes", "Memory in use").with({});
    auto& addresses = registry.gauge("process_virtual_memory_bytes", "Size of the address space").with({});
    auto& files = registry.gauge("process_open_fds", "Open files and sockets").with({});
    auto& cpu = registry.counter("process_cpu_seconds_total", "CPU time spent").with({});
    return registry.before_exposition([&memory, &addresses, &files, &cpu] {
        const auto use = memory_use();
        memory.set(use.resident);
        addresses.set(use.all);
        files.set(open_files());
        cpu.add(cpu_seconds() - cpu.value());
    });
}

namespace {

base::Duration thread_cpu_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

double in_seconds(base::Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

LoopWatch::LoopWatch(base::MetricsRegistry& registry, const base::Clock& clock)
    : clock_(clock),
      window_began_(clock.now()),
      gauge_(registry
                 .gauge("kubenodesmith_loop_longest_seconds",
                        "CPU time of the longest single step that blocked the event loop in the last 5 to 10 "
                        "minutes")
                 .with({})),
      exposition_(registry.before_exposition([this] {
          turn_window();
          gauge_.set(in_seconds(std::max(longest_, longest_of_before_)));
      })) {}

void LoopWatch::run(boost::asio::io_context& loop) {
    for (auto before = thread_cpu_time(); loop.run_one() > 0;) {
        const auto after = thread_cpu_time();
        note(after - before);
        before = after;
    }
}

void LoopWatch::note(base::Duration held) {
    turn_window();
    if (held <= longest_) return;
    longest_ = held;
    if (held >= kWorthAWord)
        base::log::warning("One step blocked the event loop, so nothing else ran",
                           {{"seconds", in_seconds(held)}});
}

void LoopWatch::turn_window() {
    const auto age = clock_.now() - window_began_;
    if (age < kWindow) return;
    longest_of_before_ = age < 2 * kWindow ? longest_ : base::Duration{};
    longest_ = {};
    window_began_ += age;
}

}  // namespace kubenodesmith
