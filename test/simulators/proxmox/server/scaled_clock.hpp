// A clock that runs faster or slower than real time, so that tests need not wait for slow operations of
// Proxmox.
#pragma once

#include "base/clock.hpp"

namespace proxmox_simulator {

class ScaledClock final : public base::Clock {
public:
    // `real` must outlive this clock.
    ScaledClock(base::Clock& real, double speed)
        : real_(real), speed_(speed), start_(real.now()), wall_start_(real.wall_now()) {}

    base::TimePoint now() const override { return start_ + elapsed(); }
    base::WallTime wall_now() const override {
        return wall_start_ + std::chrono::duration_cast<base::WallTime::duration>(elapsed());
    }
    std::unique_ptr<base::Alarm> call_at(base::TimePoint deadline, std::function<void()> callback) override {
        auto left = std::chrono::duration_cast<base::Duration>((deadline - start_) / speed_);
        return real_.call_at(start_ + left, std::move(callback));
    }

private:
    base::Duration elapsed() const {
        return std::chrono::duration_cast<base::Duration>((real_.now() - start_) * speed_);
    }

    base::Clock& real_;
    double speed_;
    base::TimePoint start_;
    base::WallTime wall_start_;
};

}  // namespace proxmox_simulator
