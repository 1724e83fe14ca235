#include "operator/loop_watch.hpp"

#include <algorithm>
#include <ctime>

#include "base/log.hpp"

namespace kubenodesmith {
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
                        "CPU time of the longest single thing that held the loop in the last 5 to 10 minutes")
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
        base::log::warning("One thing held the loop, and nothing else was done",
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
