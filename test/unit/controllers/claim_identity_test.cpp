#include "controllers/claim/facts/identity.hpp"

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

namespace {

using namespace controllers;
using namespace controllers::claim;

const std::string kUid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

TEST_CASE("the system UUID is UUIDv5 of the claim's UID and the attempt") {
    // Python's uuid.uuid5(uuid.NAMESPACE_DNS, "1") gives this value; kUid is that namespace.
    CHECK(system_uuid(kUid, 1) == "b04965e6-a9bb-591f-8f8a-1adcb2c8dc39");
}

TEST_CASE("each attempt has another system UUID, the same after a restart") {
    CHECK(system_uuid(kUid, 1) != system_uuid(kUid, 2));
    CHECK(system_uuid(kUid, 2) == system_uuid(kUid, 2));
    CHECK_THROWS_AS(system_uuid("no-uuid", 1), std::invalid_argument);
}

TEST_CASE("UUIDs are compared ignoring case and the byte order of the first three fields") {
    CHECK(same_uuid("AFD0B036-625A-5AA8-B639-9DC8C8FFF0FF", "afd0b036-625a-5aa8-b639-9dc8c8fff0ff"));
    CHECK(same_uuid("36b0d0af-5a62-a85a-b639-9dc8c8fff0ff", "AFD0B036-625A-5AA8-B639-9DC8C8FFF0FF"));
    CHECK_FALSE(same_uuid("afd0b036-625a-5aa8-b639-9dc8c8fff0fe", "afd0b036-625a-5aa8-b639-9dc8c8fff0ff"));
    CHECK_FALSE(same_uuid("", ""));
}

TEST_CASE("a Node belongs to a claim by its system UUID, by providerID only where one UUID is unknown") {
    ClaimStatus status;
    status.systemUUID = system_uuid(kUid, 1);
    status.providerID = "proxmox://lab/vms/101";
    api::Node node;
    node.spec.providerID = status.providerID;
    CHECK(is_node_of(node, status));
    node.status.nodeInfo.systemUUID = system_uuid(kUid, 2);
    CHECK_FALSE(is_node_of(node, status));
    node.status.nodeInfo.systemUUID = status.systemUUID;
    node.spec.providerID.clear();
    CHECK(is_node_of(node, status));
    CHECK_FALSE(is_node_of(api::Node{}, ClaimStatus{}));
}

TEST_CASE("the record of a machine without an ID is empty, whatever else is known") {
    ClaimStatus status;
    status.host = "pve1";
    CHECK(record_of(status) == providers::MachineRecord{});
    status.machineID = "101";
    status.taskRef = "UPID:1";
    CHECK(record_of(status) == providers::MachineRecord{"pve1", "101", "UPID:1"});
}

TEST_CASE("the size column is in GiB where that is exact") {
    CHECK(size_text({4, 8192}) == "4c/8Gi");
    CHECK(size_text({2, 1536}) == "2c/1536Mi");
}

TEST_CASE("the template hash follows everything that shapes machines and nothing else") {
    auto pool = objects::pool("p");
    const auto hash = template_hash(pool, nullptr);
    CHECK(hash.size() == 18);
    pool.spec.limits.maxNodes = 7;
    pool.spec.weight = 3;
    pool.spec.machineTemplate.sizes = {{"m", 4, 8192}};
    pool.spec.machineTemplate.kubeNodeNamePrefix = "other";
    pool.spec.machineTemplate.price.emplace().cpuCore = api::Quantity::of(3);
    pool.spec.machineTemplate.volumeLimits["csi.test"] = 20;
    pool.spec.machineTemplate.storageCapacity["local"] = api::Quantity::of(5);
    CHECK(template_hash(pool, nullptr) == hash);
    pool.spec.machineTemplate.labels["a"] = "b";
    const auto labelled = template_hash(pool, nullptr);
    CHECK(labelled != hash);
    pool.spec.bootstrap.emplace();
    CHECK(template_hash(pool, nullptr) != labelled);
}

TEST_CASE("the template hash follows what the provider makes machines of, not where or how") {
    const auto pool = objects::pool("p");
    api::v1alpha1::NodeSmithProvider provider;
    auto& proxmox = provider.spec.proxmox.emplace();
    const auto hash = template_hash(pool, &provider);
    proxmox.endpoint = "https://elsewhere:8006/api2/json";
    proxmox.placement.excludedNodes = {"pve1"};
    CHECK(template_hash(pool, &provider) == hash);
    proxmox.template_.emplace().name = "debian-13";
    const auto templated = template_hash(pool, &provider);
    CHECK(templated != hash);
    proxmox.cloudInit.emplace().user = "ops";
    const auto with_user = template_hash(pool, &provider);
    CHECK(with_user != templated);
    proxmox.cloudInit->network.addresses = {"10.0.0.1"};
    CHECK(template_hash(pool, &provider) == with_user);
    auto& further = proxmox.cloudInit->network.interfaces.emplace_back();
    further.name = "net1";
    const auto with_interface = template_hash(pool, &provider);
    CHECK(with_interface != with_user);
    proxmox.cloudInit->network.name = "office";
    further.networkName = "storage";
    further.addresses = {"192.168.9.10"};
    CHECK(template_hash(pool, &provider) == with_interface);
}

// The claims of every cluster hold these hashes. If one changes here, every user's machines are replaced.
TEST_CASE("an upgrade of the operator does not change template hashes") {
    auto pool = objects::pool("p");
    api::v1alpha1::NodeSmithProvider provider;
    provider.spec.proxmox.emplace().template_.emplace().name = "debian-13";
    provider.spec.proxmox->cloudInit.emplace().user = "ops";
    pool.spec.bootstrap.emplace().method = api::v1alpha1::BootstrapMethod::CloudInit;
    pool.spec.bootstrap->kubelet.emplace();
    pool.spec.machineTemplate.network.emplace().gateway = "10.0.0.1";
    pool.spec.machineTemplate.labels = {{"tier", "web"}};
    CHECK(template_hash(pool, nullptr) == "3-91ebde0d599e1e1d");
    CHECK(template_hash(pool, &provider) == "3-e1dcd9f8b0338d28");
    CHECK(is_comparable(template_hash(pool, &provider)));
    for (const auto* of_earlier : {"0123456789abcdef", "2-0123456789abcdef"})
        CHECK_FALSE(is_comparable(of_earlier));
}

TEST_CASE("a template hash that is remembered follows every change") {
    TemplateHashes hashes;
    auto pool = objects::pool("p");
    api::v1alpha1::NodeSmithProvider provider;
    CHECK(hashes.of(pool, nullptr) == template_hash(pool, nullptr));
    provider.spec.proxmox.emplace().template_.emplace().name = "debian-13";
    CHECK(hashes.of(pool, &provider) == template_hash(pool, &provider));
    pool.spec.machineTemplate.labels["a"] = "b";
    CHECK(hashes.of(pool, &provider) == template_hash(pool, &provider));
    CHECK(hashes.of(objects::pool("q"), nullptr) == template_hash(objects::pool("q"), nullptr));
    CHECK(hashes.of(pool, nullptr) == template_hash(pool, nullptr));
}

}  // namespace
