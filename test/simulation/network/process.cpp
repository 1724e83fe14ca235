#include "test/simulation/network/process.hpp"

#include <algorithm>

#include "base/http.hpp"

namespace simulation {

class Process::OwnClock final : public base::Clock {
public:
    explicit OwnClock(Process& process) : process_(process) {}

    base::TimePoint now() const override { return process_.world_clock_.now(); }
    base::WallTime wall_now() const override {
        return process_.world_clock_.wall_now() +
               std::chrono::duration_cast<base::WallTime::duration>(process_.calendar_shift_);
    }
    std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline, std::function<void()> callback) override {
        return std::make_unique<Pausable>(process_, deadline, std::move(callback));
    }

private:
    // Pausable fires when it is due and the process runs.
    class Pausable final : public base::Alarm {
    public:
        Pausable(Process& process, base::TimePoint deadline, std::function<void()> callback)
            : process_(process), callback_(std::move(callback)) {
            arm(deadline);
        }

    private:
        void arm(base::TimePoint at) {
            inner_ = process_.world_clock_.call_at(at, [this] {
                if (process_.paused()) {
                    arm(process_.paused_until_);
                    return;
                }
                auto callback = std::move(callback_);  // may destroy this alarm
                callback();
            });
        }
        Process& process_;
        std::function<void()> callback_;
        std::unique_ptr<base::Alarm> inner_;
    };

    Process& process_;
};

Process::Process(std::string name, asio::any_io_executor executor, base::Clock& world_clock)
    : name_(std::move(name)),
      world_clock_(world_clock),
      resumed_(std::move(executor)),
      clock_(std::make_unique<OwnClock>(*this)) {}

void Process::kill() {
    dead_ = true;
    paused_until_ = {};
    resumed_.notify_all();
}

void Process::pause_until(base::TimePoint until) {
    // A shorter pause does not end a longer one; alarms wait for the end of the longer one.
    paused_until_ = std::max(paused_until_, until);
    resume_ = world_clock_.call_at(paused_until_, [this] { resumed_.notify_all(); });
}

asio::awaitable<void> Process::running() {
    while (paused() && !dead_) co_await resumed_.wait();
    if (dead_) throw base::TransportError("the process is dead", false);
}

}  // namespace simulation
