// Orders the writes of a loop, so that a few that an admission webhook leaves unanswered do not hold up the
// others. Each of them takes half a minute.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/services/claim_refusals.hpp"
#include "kube/api_error.hpp"

namespace controllers {

// WriteTurns remembers the objects whose last write was not answered in time. A loop ends at the first such
// write, and the next loop begins with the others.
class WriteTurns {
public:
    // Returns the items with the late ones last. Forgets late ones that are not among the items.
    template <class Item, class IDOf>
    std::vector<Item> in_turn(std::vector<Item> items, const IDOf& id_of) {
        std::set<std::string> still_late;
        std::vector<Item> turns;
        std::vector<Item> last;
        turns.reserve(items.size());
        for (auto& item : items) {
            const bool is_late = late_.contains(id_of(item));
            if (is_late) still_late.insert(id_of(item));
            (is_late ? last : turns).push_back(std::move(item));
        }
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
        late_.insert(id);
        return true;
    }
    void note_success(const std::string& id) { late_.erase(id); }

private:
    std::set<std::string> late_;
};

}  // namespace controllers
