#include "test/simulation/claim_refuser.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr double kSizeShare = 0.25;
constexpr double kAllShare = 0.2;
constexpr double kWritesShare = 0.4;

// Refused says which requests are refused now. It outlives the outsider because requests do.
struct Refused {
    std::string creation;  // text in the body of each refused creation
    std::string claim;     // name of the claim whose writes are all refused
    int status = 0;
    std::string message;
};

class ClaimRefuser final : public Outsider {
public:
    ClaimRefuser(World& world, double share)
        : world_(world), share_(share), random_(world.random_for("claim refuser")) {}

    void begin() override {
        Dice dice(*random_);
        if (!dice.chance(share_)) return;
        refuses_writes_ = !world_.faults.is_calm() && dice.chance(kWritesShare);
        auto authorize = std::move(world_.network.authorize);
        world_.network.authorize = [refused = refused_,
                                    authorize = std::move(authorize)](const base::HttpRequest& request) {
            auto refusal = refuse(*refused, request);
            return !refusal && authorize ? authorize(request) : refusal;
        };
        wait();
    }

    void make_peace() override {
        next_.reset();
        end();
    }

private:
    static std::optional<base::HttpResponse> refuse(const Refused& refused,
                                                    const base::HttpRequest& request) {
        constexpr const char* kClaims = "/nodesmithclaims";
        const auto at = request.target.find(kClaims);
        if (at == std::string::npos || request.method == "GET") return std::nullopt;
        const bool is_creation = request.method == "POST" && !refused.creation.empty() &&
                                 request.body.find(refused.creation) != std::string::npos;
        const auto path = kClaims + ("/" + refused.claim);
        const bool is_write = request.method != "POST" && !refused.claim.empty() &&
                              (request.target.ends_with(path) || request.target.ends_with(path + "/status"));
        if (!is_creation && !is_write) return std::nullopt;
        return fake::status_response(refused.status, refused.status == 422 ? "Invalid" : "Forbidden",
                                     refused.message);
    }

    void wait() {
        next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(10, 600), [this] { start(); });
    }

    void start() {
        Dice dice(*random_);
        static const std::vector<Refused> kAnswers{
            {"", "", 403, "exceeded quota: objects, used: 7, limited: 7"},
            {"", "", 422, "ValidatingAdmissionPolicy frozen denied the request"},
            {"", "", 500, "Internal error occurred: failed calling webhook \"claims.example.org\": EOF"}};
        *refused_ = dice.one_of(kAnswers);
        if (refuses_writes_ && dice.chance(0.5))
            refuse_writes();
        else
            refuse_creations(dice);
        next_ = world_.clock.call_at(world_.now() + dice.seconds(5, 480), [this] {
            end();
            wait();
        });
    }

    void refuse_writes() {
        const auto* claim = world_.view.any<NodeSmithClaim>(*random_);
        if (!claim) return;
        refused_->claim = claim->metadata.name;
        world_.interference.last = world_.now();
        world_.happenings.count("claim refuser: the writes of a claim");
        world_.trace.line("claim refuser", "refuses the writes of claim ", refused_->claim);
    }

    void refuse_creations(Dice& dice) {
        const auto* pool = world_.view.any<NodeSmithPool>(*random_);
        if (!pool) return;
        auto& refusal = world_.interference.refusal;
        refusal = {};
        if (dice.chance(kAllShare)) {
            refused_->creation = "\"poolRef\"";
            refusal.is_of_all = true;
        } else if (const auto& sizes = pool->spec.machineTemplate.sizes;
                   sizes.size() > 1 && dice.chance(kSizeShare / (1 - kAllShare))) {
            const auto& size = dice.one_of(sizes);
            refused_->creation = "\"cpuCores\":" + std::to_string(size.cpuCores) + ",";
            refusal.cpu_cores = size.cpuCores;
        } else {
            refused_->creation = "\"poolRef\":\"" + pool->metadata.name + "\"";
            refusal.pool = pool->metadata.name;
        }
        refusal.message = refused_->message;
        refusal.is_in_force = true;
        world_.happenings.count(refusal.is_of_all       ? "claim refuser: all claims"
                                : refusal.cpu_cores > 0 ? "claim refuser: claims of one size"
                                                        : "claim refuser: claims of one pool");
        world_.trace.line("claim refuser", "refuses claims with ", refused_->creation);
    }

    void end() {
        if (!refused_->creation.empty() || !refused_->claim.empty())
            world_.trace.line("claim refuser", "refuses nothing more");
        if (!refused_->claim.empty()) world_.interference.last = world_.now();
        auto& refusal = world_.interference.refusal;
        if (refusal.is_in_force) refusal.ended = world_.now();
        refusal.is_in_force = false;
        *refused_ = {};
    }

    World& world_;
    double share_;
    std::unique_ptr<base::Random> random_;
    bool refuses_writes_ = false;
    std::shared_ptr<Refused> refused_ = std::make_shared<Refused>();
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace

std::unique_ptr<Outsider> make_claim_refuser(World& world, double share) {
    return std::make_unique<ClaimRefuser>(world, share);
}

}  // namespace simulation
