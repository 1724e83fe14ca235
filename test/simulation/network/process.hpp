// One operator process as the world sees it. It can be killed, or paused as by SIGSTOP, and its calendar may
// be wrong. It acts only through its clock and its connections, so these decide whether it lives.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/condition_variable.hpp"

namespace simulation {

namespace asio = boost::asio;

class Process {
public:
    Process(std::string name, asio::any_io_executor executor, base::Clock& world_clock);

    const std::string& name() const { return name_; }
    // Kills the process. Its actions have no effect outside from now on, and nothing reaches it.
    void kill();
    bool dead() const { return dead_; }
    void pause_until(base::TimePoint until);
    bool paused() const { return world_clock_.now() < paused_until_; }
    base::TimePoint paused_until() const { return paused_until_; }

    // Returns when the process runs. Throws base::TransportError if the process is dead. Its code then
    // unwinds, and its further requests have no effect.
    asio::awaitable<void> running();
    // Returns the process's own clock, which may be wrong. Its alarms do not fire while the process is
    // paused.
    base::Clock& clock() { return *clock_; }
    void shift_calendar(base::Duration shift) { calendar_shift_ += shift; }

private:
    class OwnClock;

    std::string name_;
    base::Clock& world_clock_;
    base::ConditionVariable resumed_;
    std::unique_ptr<base::Alarm> resume_;
    bool dead_ = false;
    base::TimePoint paused_until_{};
    base::Duration calendar_shift_{};
    std::unique_ptr<base::Clock> clock_;
};

}  // namespace simulation
