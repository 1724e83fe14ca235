// Gate limits the concurrent calls per key; further ones wait for their turn. Single-threaded.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <map>
#include <string>

#include "base/condition_variable.hpp"

namespace base {

class Gate {
public:
    // Pass is one place behind the gate. Destroying it gives the place back; it must not outlive the gate.
    class Pass {
    public:
        Pass(Gate& gate, std::string key) : gate_(&gate), key_(std::move(key)) {}
        Pass(Pass&& other) noexcept : gate_(other.gate_), key_(std::move(other.key_)) {
            other.gate_ = nullptr;
        }
        Pass& operator=(Pass&&) = delete;
        ~Pass() {
            if (gate_) gate_->leave(key_);
        }

    private:
        Gate* gate_;
        std::string key_;
    };

    Gate(asio::any_io_executor executor, std::size_t limit) : limit_(limit), changed_(std::move(executor)) {}

    asio::awaitable<Pass> enter(std::string key);

private:
    void leave(const std::string& key);

    std::size_t limit_;
    std::map<std::string, std::size_t> under_way_;
    base::ConditionVariable changed_;
};

}  // namespace base
