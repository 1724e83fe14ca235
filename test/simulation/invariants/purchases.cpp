// Invariant 9: at most three machines an hour are bought for the same pod.
#include <deque>
#include <map>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

constexpr std::size_t kMost = 3;

class NeverBuysForEver final : public Invariant {
public:
    explicit NeverBuysForEver(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!before && after) check(*after);
            });
    }

private:
    void check(const NodeSmithClaim& claim) {
        auto noted = claim.metadata.annotations.find(std::string(api::annotations::kBoughtFor));
        if (noted == claim.metadata.annotations.end()) return;
        const auto& uids = noted->second;
        for (std::size_t begin = 0; begin < uids.size();) {
            auto end = std::min(uids.find(',', begin), uids.size());
            auto& purchases = bought_[uids.substr(begin, end - begin)];
            while (!purchases.empty() && purchases.front() + std::chrono::hours{1} < world_.now())
                purchases.pop_front();
            purchases.push_back(world_.now());
            if (purchases.size() > kMost) {
                stage_.violate("nothing is bought for ever", "claim " + claim.metadata.name + " is number " +
                                                                 std::to_string(purchases.size()) +
                                                                 " within an hour for pod " +
                                                                 uids.substr(begin, end - begin));
            }
            begin = end + 1;
        }
    }

    std::map<std::string, std::deque<base::TimePoint>> bought_;  // by pod UID
};

}  // namespace

std::unique_ptr<Invariant> never_buys_for_ever(const Stage& stage) {
    return std::make_unique<NeverBuysForEver>(stage);
}

}  // namespace simulation
