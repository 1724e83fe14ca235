#include "test/simulation/soak.hpp"

#include "test/simulation/claim_refuser.hpp"
#include "test/simulation/eviction_webhook.hpp"
#include "test/simulation/machine_refuser.hpp"
#include "test/simulation/provider_hanger.hpp"

namespace simulation {
namespace {

constexpr const char* kAnnex = "annex";
constexpr const char* kAnnexToken = "automation@pve!annex";
constexpr const char* kToken = "automation@pve!kubenodesmith";

Deployment on_pool(const std::string& pool, std::int64_t replicas) {
    auto deployment = a_deployment("on-" + pool, replicas, "1", "1Gi");
    deployment.pod.spec.nodeSelector[std::string(api::labels::kPool)] = pool;
    return deployment;
}

}  // namespace

Scenario soak_scenario() {
    auto scenario = plain_scenario();
    scenario.leader_election = true;
    scenario.changes_per_hour = 10;
    for (auto& host : scenario.proxmox.hosts) {
        host.cpus = 32;
        host.memory = 128ULL << 30;
    }
    auto token = scenario.proxmox.tokens.at(kToken);
    token.id = kAnnex;
    scenario.proxmox.tokens[kAnnexToken] = token;
    auto annex = a_provider(kAnnex, 2000);
    annex.spec.credentialsSecretRef->name = kAnnex;
    scenario.providers.push_back(annex);
    scenario.pools = {a_pool("general", "lab"), a_pool("batch", "lab"), a_pool(kAnnex, kAnnex)};
    scenario.deployments = {a_deployment("web", 4, "1", "1Gi"), on_pool("batch", 2), on_pool(kAnnex, 2),
                            on_pool("general", 2)};
    return scenario;
}

void prepare_soak(World& world) {
    auto secret = world.scenario.credentials;
    secret.metadata.name = kAnnex;
    secret.data[std::string(api::secret_keys::kTokenID)].value = kAnnexToken;
    world.server.put(secret);
    world.faults.have_only({{Fault::watch_dropped, 0.001},
                            {Fault::watch_stalled, 0.0003},
                            {Fault::watch_stale, 0.001},
                            {Fault::watch_cut_when_quiet, 1},
                            {Fault::killed, 0.1},
                            {Fault::history_compacted, 0.2}});
}

std::vector<std::unique_ptr<Outsider>> soak_outsiders(World& world) {
    std::vector<std::unique_ptr<Outsider>> all;
    all.push_back(make_claim_refuser(world, 1));
    all.push_back(std::make_unique<EvictionWebhook>(world, 1));
    all.push_back(std::make_unique<ProviderHanger>(world, kAnnex, kAnnexToken));
    all.push_back(std::make_unique<MachineRefuser>(world, kAnnex, kAnnexToken));
    return all;
}

}  // namespace simulation
