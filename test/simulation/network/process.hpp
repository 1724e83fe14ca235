// One operator process as the world sees it: it can be killed, or paused as by SIGSTOP, and its calendar may
// be wrong. All it does goes through its clock and its connections, so these decide whether it lives.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/event.hpp"

namespace simulation {

namespace asio = boost::asio;

class Process {
public:
    Process(std::string name, asio::any_io_executor executor, base::Clock& world_clock);

    const std::string& name() const { return name_; }
    // From now on nothing it does has an effect outside, and nothing reaches it.
    void kill();
    bool dead() const { return dead_; }
    void pause_until(base::TimePoint until);
    bool paused() const { return world_clock_.now() < paused_until_; }
    base::TimePoint paused_until() const { return paused_until_; }

    // Returns when the process runs. Throws base::TransportError if it is dead: its code then unwinds, and
    // whatever it still tries has no effect.
    asio::awaitable<void> running();
    // What it believes to be the time; nothing happens in it while it is paused.
    base::Clock& clock() { return *clock_; }
    void shift_calendar(base::Duration shift) { calendar_shift_ += shift; }

private:
    class OwnClock;

    std::string name_;
    base::Clock& world_clock_;
    base::Event resumed_;
    std::unique_ptr<base::Alarm> resume_;
    bool dead_ = false;
    base::TimePoint paused_until_{};
    base::Duration calendar_shift_{};
    std::unique_ptr<base::Clock> clock_;
};

}  // namespace simulation
