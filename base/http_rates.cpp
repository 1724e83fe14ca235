#include "base/http_rates.hpp"

namespace base {

bool HttpRates::admit(const std::string& client, TimePoint now) {
    if (most_ == 0) return true;
    if (now - minute_ >= std::chrono::minutes(1)) {
        minute_ = now;
        requests_.clear();
    }
    const bool is_known = requests_.size() < kMostClients || requests_.contains(client);
    return ++requests_[is_known ? client : std::string()] <= most_;
}

}  // namespace base
