// Orders the writes of a loop, so that a few that an admission webhook leaves unanswered do not hold up the
// others. Each of them takes half a minute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/services/claim_refusals.hpp"
#include "kube/api_error.hpp"

namespace controllers {

// WriteTurns remembers the objects whose last write was not answered in time. A loop ends at the first such
// write, and the next loop begins with the others. Of the late ones the one that was tried longest ago comes
// first, so each gets its turn.
class WriteTurns {
public:
    // Returns the items with the late ones last. Forgets late ones that are not among the items.
    template <class Item, class IDOf>
    std::vector<Item> in_turn(std::vector<Item> items, const IDOf& id_of) {
        std::map<std::string, std::uint64_t> still_late;
        std::vector<Item> turns;
        std::vector<Item> last;
        turns.reserve(items.size());
        for (auto& item : items) {
            const auto late = late_.find(id_of(item));
            if (late != late_.end()) still_late.insert(*late);
            (late != late_.end() ? last : turns).push_back(std::move(item));
        }
        std::ranges::sort(last, [&](const Item& a, const Item& b) {
            return still_late.at(id_of(a)) < still_late.at(id_of(b));
        });
        std::ranges::move(last, std::back_inserter(turns));
        late_ = std::move(still_late);
        return turns;
    }
    // Notes the failure of a write. Returns true if the loop should end.
    bool note_failure(const std::string& id, const kube::ApiError& error) {
        if (!took_long(error)) {
            late_.erase(id);
            return false;
        }
        note_late(id);
        return true;
    }
    void note_late(const std::string& id) { late_[id] = ++tries_; }
    void note_success(const std::string& id) { late_.erase(id); }
    bool is_late(const std::string& id) const { return late_.contains(id); }

private:
    std::map<std::string, std::uint64_t> late_;  // number of the last try, by object
    std::uint64_t tries_ = 0;
};

}  // namespace controllers
