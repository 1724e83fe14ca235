// Counts the pods of a kind in each domain of a topology. Spread constraints, pod affinity and pod
// anti-affinity are decided by these counts alone.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "scheduling/table/bit_set.hpp"

namespace scheduling {

// DomainCounter numbers domains as values of a label, or as slots if every node is a separate domain.
class DomainCounter {
public:
    std::int32_t at(std::size_t domain) const { return domain < counts_.size() ? counts_[domain] : 0; }
    std::int64_t total() const { return total_; }

    void add(std::size_t domain) {
        if (domain >= counts_.size()) counts_.resize(domain + 1);
        const auto before = counts_[domain]++;
        ++total_;
        if (is_spread_ && domain < members_.size() && members_[domain] > 0) move(before);
        for (auto& [limit, domains] : over_)
            if (limit == before) domains.insert(domain);
    }

    // Returns the domains with more than `limit` pods; the set is kept up to date from then on.
    const BitSet& over(std::int32_t limit) {
        for (const auto& [known, domains] : over_)
            if (known == limit) return domains;
        auto& fresh = over_.emplace_back(limit, BitSet{});
        for (std::size_t domain = 0; domain < counts_.size(); ++domain)
            if (counts_[domain] > limit) fresh.second.insert(domain);
        return fresh.second;
    }

    // Tracks, for spread constraints, which domains have nodes, and the least count among them.
    void track_members() { is_spread_ = true; }
    void add_member(std::size_t domain) {
        if (domain >= members_.size()) members_.resize(domain + 1);
        if (members_[domain]++ > 0) return;
        ++histogram_at(at(domain));
        least_ = ++domains_ == 1 ? at(domain) : std::min(least_, at(domain));
    }
    bool has_members(std::size_t domain) const { return domain < members_.size() && members_[domain] > 0; }
    std::int32_t domains() const { return domains_; }
    // Returns zero if there is no domain.
    std::int32_t least() const { return least_; }

private:
    std::int32_t& histogram_at(std::int32_t count) {
        const auto index = static_cast<std::size_t>(count);
        if (index >= histogram_.size()) histogram_.resize(index + 1);
        return histogram_[index];
    }
    void move(std::int32_t count) {
        --histogram_at(count);
        ++histogram_at(count + 1);
        if (histogram_at(least_) == 0) ++least_;  // the domain that left has one more now
    }

    std::vector<std::int32_t> counts_;     // by domain
    std::vector<std::int32_t> members_;    // nodes by domain
    std::vector<std::int32_t> histogram_;  // domains with members, by count
    std::deque<std::pair<std::int32_t, BitSet>> over_;
    std::int64_t total_ = 0;
    std::int32_t domains_ = 0;
    std::int32_t least_ = 0;
    bool is_spread_ = false;
};

}  // namespace scheduling
