// Invariant 15: only the leader writes. A process whose lease ran out while it was stopped or cut off sends
// nothing any longer. That holds for the API server and for each provider that knows a fence.
#include <boost/json/parse.hpp>

#include "test/simulation/invariants/invariant.hpp"
#include "test/support/fake_api_resources.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

bool is_lease(const base::HttpRequest& request) {
    return request.target.starts_with("/apis/coordination.k8s.io/");
}

// Reports whether the request changes anything, which reviews do not.
bool is_write(const base::HttpRequest& request) {
    return request.method != "GET" && !fake::is_review(request.target);
}

class OnlyTheLeaderWrites final : public Invariant {
public:
    explicit OnlyTheLeaderWrites(const Stage& stage) : Invariant(stage) {
        if (!world_.scenario.leader_election) return;
        world_.observe(
            [this](const Process&, const base::HttpRequest& request, const base::HttpResponse& response) {
                if (request.method != "GET" && is_lease(request) && response.status < 300)
                    note(response.body);
            });
        // The check happens at the departure, because a request that has left cannot be called back.
        world_.network.on_api_departure = [this](const Process& process, const base::HttpRequest& request) {
            if (is_write(request) && !is_lease(request)) check(process, request);
        };
    }

private:
    void note(const std::string& body) {
        const auto document = json::parse(body);
        const auto& spec = document.at("spec").as_object();
        const auto* holder = spec.if_contains("holderIdentity");
        holder_ = holder && holder->is_string() ? std::string(holder->as_string()) : "";
        written_ = world_.now();
    }

    void check(const Process& process, const base::HttpRequest& request) {
        const auto what = process.name() + " sends " + request.method + " " + request.target;
        if (holder_ != process.name()) {
            stage_.violate("only the leader writes",
                           what + ", but the lease is " + (holder_.empty() ? "nobody's" : holder_ + "'s"));
        } else if (world_.now() > written_ + world_.scenario.lease_duration) {
            stage_.violate("only the leader writes", what + " after its lease has run out");
        }
    }

    std::string holder_;
    base::TimePoint written_{};
};

}  // namespace

std::unique_ptr<Invariant> only_the_leader_writes(const Stage& stage) {
    return std::make_unique<OnlyTheLeaderWrites>(stage);
}

}  // namespace simulation
