#include "base/gate.hpp"

namespace base {

asio::awaitable<Gate::Pass> Gate::enter(std::string key) {
    while (under_way_[key] >= limit_) co_await changed_.wait();
    ++under_way_[key];
    co_return Pass(*this, std::move(key));
}

void Gate::leave(const std::string& key) {
    const auto found = under_way_.find(key);
    if (--found->second == 0) under_way_.erase(found);
    changed_.notify_all();
}

}  // namespace base
