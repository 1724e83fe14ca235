#include "controllers/provisioning/past_launches.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/kinds.hpp"

namespace controllers::provisioning {

namespace json = boost::json;

namespace {

// The annotation's name in an earlier release.
constexpr std::string_view kFormerly = "kubenodesmith.io/past-purchases";

bool is_recent(const std::optional<api::Time>& launched, api::Time now) {
    return launched && now.at - launched->at <= std::chrono::hours{1};
}

// Throws for anything that to_text() does not write.
PastLaunch parse_one(const json::value& entry) {
    const auto& fields = entry.as_object();
    PastLaunch launch;
    launch.claim_uid = std::string(fields.at("claim").as_string());
    launch.time = api::Time::parse(std::string(fields.at("time").as_string()));
    for (const auto& uid : fields.at("pods").as_array())
        launch.pod_uids.emplace_back(std::string(uid.as_string()));
    if (const auto* kinds = fields.if_contains("vain"))
        for (const auto& kind : kinds->as_array())
            launch.kinds_in_vain.emplace_back(std::string(kind.as_string()));
    return launch;
}

std::string to_text(const std::vector<PastLaunch>& launches) {
    json::array list;
    for (const auto& launch : launches) {
        json::object entry{{"claim", launch.claim_uid}, {"time", launch.time.str()}};
        auto& pods = entry["pods"].emplace_array();
        for (const auto& uid : launch.pod_uids) pods.emplace_back(uid);
        if (!launch.kinds_in_vain.empty()) {
            auto& kinds = entry["vain"].emplace_array();
            for (const auto& kind : launch.kinds_in_vain) kinds.emplace_back(kind);
        }
        list.push_back(std::move(entry));
    }
    return json::serialize(list);
}

void drop_oldest(std::vector<PastLaunch>& launches) {
    std::size_t entries = 0;
    for (auto it = launches.end(); it != launches.begin();) {
        --it;
        entries += 1 + it->pod_uids.size() + it->kinds_in_vain.size();
        if (entries <= kMostRemembered) continue;
        launches.erase(launches.begin(), std::next(it));
        return;
    }
}

// Returns the kinds that still wait. Pods that ran and ended within a minute leave a machine that looks
// unused. If a machine did not help, pods of the kind are still waiting.
std::vector<std::string> kinds_that_wait(const Informers& informers, std::vector<std::string> kinds) {
    std::set<std::string> waiting;
    for (const auto& pod : unschedulable_pods(informers)) waiting.insert(kind_of(informers, *pod));
    std::erase_if(kinds, [&](const std::string& kind) { return !waiting.contains(kind); });
    return kinds;
}

// Reports whether a rate of its pool's ControlPlane counts it.
bool counts_against_rate(const Informers& informers, const NodeSmithClaim& claim) {
    const auto* manager =
        manager_of({claim.metadata.namespace_, claim.spec.poolRef}, informers.control_planes.store().all());
    return manager && manager->spec.rateLimits.maxCreationsPerHour > 0 && limits::is_created_by_pool(claim);
}

std::vector<std::string> launched_for_living(const NodeSmithClaim& claim, const kube::Store<api::Pod>& pods) {
    std::set<std::string> alive;
    for (const auto& [key, pod] : pods.all()) alive.insert(pod->metadata.uid);
    auto uids = launched_for(claim);
    std::erase_if(uids, [&alive](const std::string& uid) { return !alive.contains(uid); });
    return uids;
}

}  // namespace

// A claim whose machine is being created may get one at any moment.
bool never_had_machine(const NodeSmithClaim& claim) {
    return claim::is_true(claim, conditions::kFailed) && !claim::has_run(claim.status);
}

std::vector<PastLaunch> past_launches(const NodeSmithPool& pool) {
    std::vector<PastLaunch> launches;
    const auto* text = api::find(pool.metadata.annotations, kPastLaunches);
    if (!text) text = api::find(pool.metadata.annotations, kFormerly);
    if (!text) return launches;
    try {
        const auto list = json::parse(*text);
        for (const auto& entry : list.as_array()) launches.push_back(parse_one(entry));
    } catch (const std::exception&) {
        launches.clear();
    }
    return launches;
}

std::map<std::string, int> launches_last_hour(const ClaimPointers& claims, const Pools& pools,
                                              api::Time now) {
    std::map<std::string, int> launches;
    std::set<std::string> counted;
    for (const auto& claim : claims) {
        if (!is_recent(claim->metadata.creationTimestamp, now)) continue;
        counted.insert(claim->metadata.uid);
        if (never_had_machine(*claim)) continue;
        for (const auto& uid : launched_for(*claim)) ++launches[uid];
    }
    for (const auto& [key, pool] : pools) {
        for (const auto& past : past_launches(*pool)) {
            if (!is_recent(past.time, now) || counted.contains(past.claim_uid)) continue;
            for (const auto& uid : past.pod_uids) ++launches[uid];
        }
    }
    return launches;
}

std::int64_t creations_last_hour(const NodeSmithPool& pool, const ClaimPointers& claims, api::Time now) {
    std::set<std::string> created;
    for (const auto& claim : claims)
        if (limits::is_created_by_pool(*claim) && !never_had_machine(*claim) &&
            is_recent(claim->metadata.creationTimestamp, now))
            created.insert(claim->metadata.uid);
    for (const auto& past : past_launches(pool))
        if (is_recent(past.time, now)) created.insert(past.claim_uid);
    return std::ssize(created);
}

asio::awaitable<void> remember_launch(Informers& informers, kube::Client& client, NodeSmithClaim claim,
                                      api::Time now) {
    const auto pool = informers.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    const auto& created = claim.metadata.creationTimestamp;
    // A pool may take hours to be deleted, and until then its launches count for its pods and its
    // ControlPlane.
    if (!pool || !is_recent(created, now)) co_return;
    std::vector<std::string> pods;
    if (!never_had_machine(claim)) pods = launched_for_living(claim, informers.pods.store());
    std::vector<std::string> kinds_in_vain;
    if (was_never_used(claim)) kinds_in_vain = kinds_that_wait(informers, kinds_launched_for(claim));
    const bool is_counted = !never_had_machine(claim) && counts_against_rate(informers, claim);
    if (pods.empty() && kinds_in_vain.empty() && !is_counted) co_return;
    auto list = past_launches(*pool);
    std::erase_if(list, [&](const PastLaunch& past) {
        return past.claim_uid == claim.metadata.uid || !is_recent(past.time, now);
    });
    list.push_back({claim.metadata.uid, *created, std::move(pods), std::move(kinds_in_vain)});
    drop_oldest(list);
    auto after = *pool;
    after.metadata.annotations[std::string(kPastLaunches)] = to_text(list);
    after.metadata.annotations->erase(std::string(kFormerly));
    co_await write_object(client, informers.pools, *pool, std::move(after));
}

}  // namespace controllers::provisioning
