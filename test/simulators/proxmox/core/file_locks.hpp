// The lock files that Proxmox takes around changes to one machine or storage. A lock can be shared or
// exclusive; requests for it wait and time out.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "base/condition_variable.hpp"

namespace proxmox_simulator {

namespace asio = boost::asio;

enum class LockMode { shared, exclusive };

struct LockName {
    std::string key;
    std::string complaint;  // error text after a timeout
};

class FileLocks {
public:
    FileLocks(asio::any_io_executor executor, base::Clock& clock)
        : clock_(clock), changed_(std::move(executor)) {}

    // Held releases the lock when it is destroyed.
    class Held {
    public:
        Held(FileLocks& locks, std::string file, LockMode mode);
        Held(Held&& other) noexcept;
        Held& operator=(Held&&) = delete;
        ~Held();

    private:
        FileLocks* locks_;
        std::string file_;
        LockMode mode_;
    };

    // Throws ApiError 500 with the lock's complaint if `timeout` passes first. `interrupted` is called after
    // every wake-up and may throw.
    asio::awaitable<Held> acquire(LockName name, LockMode mode, base::Duration timeout,
                                  std::function<void()> interrupted = nullptr);
    // Wakes every waiter, so that one whose task was interrupted notices it.
    void wake() { changed_.notify_all(); }
    bool is_free(const LockName& name, LockMode mode) const;

private:
    struct State {
        int readers = 0;
        bool writer = false;
        std::deque<std::uint64_t> waiting;  // served in the order of arrival
    };
    class Place;

    bool may_take(const LockName& name, LockMode mode, std::uint64_t place) const;
    void forget_if_unused(const std::string& key);

    base::Clock& clock_;
    base::ConditionVariable changed_;
    std::map<std::string, State> states_;
    std::uint64_t next_place_ = 0;
};

LockName machine_lock(int vmid);
// A local storage is locked on its host, a shared one in the whole cluster.
LockName local_storage_lock(const std::string& storage, const std::string& host);
LockName shared_storage_lock(const std::string& storage);

constexpr base::Duration kLockTimeout = std::chrono::seconds{10};
// Timeout of a lock that no other request should hold, such as that of a machine that is just being made.
constexpr base::Duration kShortLockTimeout = std::chrono::seconds{1};

}  // namespace proxmox_simulator
