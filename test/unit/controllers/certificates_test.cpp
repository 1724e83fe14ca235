// Which requests for certificates the operator decides, in which order it writes, and what it leaves alone.
#include "controllers/certificate_approver.hpp"

#include "bootstrap/signing_request.hpp"
#include "bootstrap/token.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_provider.hpp"
#include "test/unit/bootstrap/signing_requests.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using api::ConditionStatus;
using objects::NodeSmithClaim;
using Request = api::CertificateSigningRequest;
namespace conditions = api::conditions;

namespace {

const api::ObjectKey kClaim{"default", "worker-1"};

struct World : test::Cluster {
    fake::Cloud cloud{clock};
    providers::ProviderEnvironment environment{context.get_executor(), clock, *random, metrics, {},
                                               [] { return true; }};
    controllers::ProviderInstances instances{
        informers, client, environment, [this](providers::ProviderConfig, providers::ProviderEnvironment&) {
            return fake::make_fake_provider(cloud);
        }};
    controllers::claim::BootData boot_data{informers, client, clock, *random};
    controllers::CertificateApprover approver{
        {informers, client, clock, *random, events, metrics, instances, boot_data}, context.get_executor()};
    base::TaskGroup watching{context.get_executor()};
    std::vector<std::string> written;  // the operator's writes, in their order

    World() {
        put_basics();
        server.put(objects::pool("small"));
        auto claim = objects::bought_claim("worker-1", pool(), 1);
        claim.status.launchAttempts = 1;
        claim.status.providerRef = "proxmox";
        claim.status.machineID = "100";
        objects::set_condition(claim.status.conditions, conditions::kLaunched, ConditionStatus::True);
        server.put(claim);
        requests.on_effect = [this](const base::HttpRequest& request) {
            if (request.method == "PATCH") written.push_back(request.target);
        };
        add("certificate", approver);
        add("guestaddresses", approver.guest_addresses());
        watching.spawn(approver.watch());
        start();
    }
    ~World() {
        watching.stop();
        while (watching.size() > 0) run_for(1ms);
        stop();
    }

    NodeSmithClaim claim() { return server.get<NodeSmithClaim>(kClaim).value(); }
    void set(std::string_view condition, ConditionStatus status = ConditionStatus::True) {
        server.edit<NodeSmithClaim>(kClaim, [&](auto& edited) {
            objects::set_condition(edited.status.conditions, condition, status);
        });
    }
    void ask(const std::string& name, const std::string& node = "worker-1", std::size_t key = 0) {
        Request request;
        request.metadata.name = name;
        request.spec.request.value = test::make_request(test::kubelet_request(node, key));
        request.spec.signerName = bootstrap::kClientSigner;
        request.spec.usages = {"digital signature", "client auth"};
        request.spec.username = "system:bootstrap:" + bootstrap::token_id(claim().metadata.uid, 1);
        request.spec.groups = {"system:bootstrappers", std::string(bootstrap::kTokenGroup)};
        put(std::move(request));
    }
    void put(Request request) {
        server.put(request);
        run_for(2s);
    }
    // "Denied NotThisNode"; empty: nobody decided.
    std::string decision(const std::string& name) {
        const auto request = server.get<Request>({"", name}).value();
        if (request.status.conditions.empty()) return {};
        REQUIRE(request.status.conditions.size() == 1);
        return request.status.conditions.front().type + " " + request.status.conditions.front().reason;
    }
};

std::string key_of(std::size_t key) {
    return bootstrap::parse_signing_request(test::make_request(test::kubelet_request("any", key))).key_sha256;
}

}  // namespace

TEST_CASE("a machine's first key is remembered before its certificate is approved, and no other is") {
    World world;
    world.ask("first");
    CHECK(world.decision("first") == "Approved TokenOfThisNode");
    CHECK(world.claim().status.bootstrapKeySHA256 == key_of(0));
    REQUIRE(world.written.size() == 2);
    CHECK_THAT(world.written[0], Catch::Contains("/nodesmithclaims/worker-1/status"));
    CHECK_THAT(world.written[1], Catch::Contains("/certificatesigningrequests/first/approval"));
    CHECK(world.events.count("worker-1 CertificateApproved") == 1);

    world.ask("again");
    CHECK(world.decision("again") == "Approved TokenOfThisNode");
    world.ask("second", "worker-1", 1);
    CHECK(world.decision("second") == "Denied SecondKey");
    CHECK(world.claim().status.bootstrapKeySHA256 == key_of(0));
    CHECK(world.events.count("worker-1 CertificateDenied") == 1);
}

TEST_CASE("an operator that dies before it approves has granted the key all the same") {
    World world;
    bool dies = true;
    world.requests.on_request = [&dies](const base::HttpRequest& request) {
        if (dies && request.target.find("/approval") != std::string::npos)
            throw base::TransportError("the process died", false);
    };
    world.ask("first");
    CHECK(world.decision("first").empty());
    CHECK(world.claim().status.bootstrapKeySHA256 == key_of(0));
    dies = false;
    world.ask("other", "worker-1", 1);
    CHECK(world.decision("other") == "Denied SecondKey");
    world.run_for(1min);
    CHECK(world.decision("first") == "Approved TokenOfThisNode");
}

TEST_CASE("a claim that changes while its key is remembered is looked at anew") {
    World world;
    bool changed = false;
    world.requests.on_request = [&](const base::HttpRequest& request) {
        if (request.method != "PATCH" || request.target.find("/worker-1/status") == std::string::npos ||
            changed)
            return;
        changed = true;
        world.set(conditions::kRegistered);
    };
    world.ask("late");
    world.run_for(1min);
    CHECK(world.decision("late") == "Denied NotJoining");
    CHECK(world.claim().status.bootstrapKeySHA256.empty());
}

TEST_CASE("a request for another Node is denied, and the claim whose token that was is told of") {
    World world;
    world.ask("forged", "control-plane-1");
    CHECK(world.decision("forged") == "Denied NotThisNode");
    CHECK(world.events.count(
              "NodeSmithClaim worker-1 CertificateDenied: a certificate asked for with this claim's token is "
              "denied (NotThisNode): the subject's CN is not system:node:worker-1") == 1);
    CHECK(world.claim().status.bootstrapKeySHA256.empty());
}

TEST_CASE("a machine that asks before it is known to be made waits until it is") {
    World world;
    world.set(conditions::kLaunched, ConditionStatus::False);
    world.ask("early");
    CHECK(world.decision("early").empty());
    SECTION("it runs") {
        world.set(conditions::kLaunched);
    }
    SECTION("its guest's agent makes it join, with which the launch ends") {
        world.set(conditions::kLaunched, ConditionStatus::Unknown);
    }
    world.run_for(2s);
    CHECK(world.decision("early") == "Approved TokenOfThisNode");
}

TEST_CASE("a claim that has joined, failed or leaves lets nobody in") {
    World world;
    SECTION("registered") {
        world.set(conditions::kRegistered);
    }
    SECTION("failed") {
        world.set(conditions::kFailed);
    }
    SECTION("its machine is to go") {
        world.set(conditions::kMachineDeleted, ConditionStatus::False);
    }
    world.ask("late");
    CHECK(world.decision("late") == "Denied NotJoining");
}

TEST_CASE("a first certificate is denied while the claim's name is that of a Node which is not its own") {
    World world;
    SECTION("a Node that the cache knows") {
        world.server.put<api::Node>(objects::a_node("worker-1"));
        world.run_for(2s);
    }
    SECTION("a Node that the API server alone knows yet") {
        world.requests.on_request = [&world](const base::HttpRequest& request) {
            const bool is_look =
                request.target.find("/certificatesigningrequests/first") != std::string::npos;
            if (is_look && !world.server.get<api::Node>({"", "worker-1"}))
                world.server.put<api::Node>(objects::a_node("worker-1"));
        };
    }
    world.ask("first");
    CHECK(world.decision("first") == "Denied NameTaken");
    CHECK(world.claim().status.bootstrapKeySHA256.empty());
}

TEST_CASE("a first certificate is denied while an older claim of another namespace has the name") {
    World world;
    auto twin = world.claim();
    twin.metadata.namespace_ = "elsewhere";
    twin.metadata.uid.clear();
    twin.metadata.creationTimestamp = objects::at(-1h);
    twin.status.launchAttempts = 0;
    twin.status.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3131";
    world.server.put(twin);
    world.run_for(2s);
    world.ask("first");
    CHECK(world.decision("first") == "Denied NameTaken");
}

TEST_CASE("a token that belongs to no claim's present attempt is left alone, and looked at when it does") {
    World world;
    const auto set_attempts = [&world](std::int32_t attempts) {
        world.server.edit<NodeSmithClaim>(
            kClaim, [attempts](auto& claim) { claim.status.launchAttempts = attempts; });
        world.run_for(2s);
    };
    set_attempts(0);
    world.ask("early");
    set_attempts(2);
    CHECK(world.decision("early").empty());
    CHECK(world.events.count("CertificateDenied") == 0);
    set_attempts(1);
    CHECK(world.decision("early") == "Approved TokenOfThisNode");
}

TEST_CASE("what is asked of other signers, or by others, costs neither memory nor requests") {
    World world;
    world.ask("ours");
    auto request = world.server.get<Request>({"", "ours"}).value();
    request.metadata = {};
    request.status = {};
    std::size_t reads = 0;
    world.requests.on_request = [&reads](const base::HttpRequest& asked) {
        if (asked.method == "GET" && asked.target.find("/certificatesigningrequests/") != std::string::npos)
            ++reads;
    };
    for (int i = 0; i < 50; ++i) {
        auto other = request;
        other.metadata.name = "other-" + std::to_string(i);
        if (i % 2 == 0)
            other.spec.signerName = "example.com/signer";
        else
            other.spec.groups = {"system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token"};
        world.put(other);
    }
    CHECK(reads == 0);
    CHECK_THAT(
        world.metrics.exposition(),
        Catch::Contains("kubenodesmith_informer_objects{resource=\"certificatesigningrequests\"} 1\n"));
}

namespace {

struct Serving : World {
    Serving() {
        set(conditions::kRegistered);
        server.edit<NodeSmithClaim>(kClaim, [](auto& claim) {
            claim.status.nodeName = "worker-1";
            claim.status.addresses = {"10.0.0.7"};
        });
        server.put<api::Node>(
            objects::a_node("worker-1").label(std::string(api::labels::kClaim), "worker-1"));
        fake::CloudMachine machine;
        machine.machine_id = "100";
        machine.host = "host-a";
        cloud.plant(machine).guest = {true, {"10.0.0.77", "fd00:0::77"}, ""};
    }
    void ask_serving(const std::string& name, const std::string& names) {
        auto parts = test::kubelet_request("worker-1", 0);
        parts.alternative_names = names;
        Request request;
        request.metadata.name = name;
        request.spec.request.value = test::make_request(parts);
        request.spec.signerName = bootstrap::kServingSigner;
        request.spec.usages = {"digital signature", "server auth"};
        request.spec.username = "system:node:worker-1";
        request.spec.groups = {"system:nodes"};
        put(std::move(request));
    }
};

}  // namespace

TEST_CASE("a Node's serving certificate is approved for what its claim and its guest's agent know") {
    Serving world;
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7");
    CHECK(world.decision("own") == "Approved NamesOfThisMachine");
    world.ask_serving("told", "DNS:worker-1,IP:10.0.0.77,IP:fd00::77");
    CHECK(world.decision("told") == "Approved NamesOfThisMachine");
    CHECK(world.written.size() == 2);
}

TEST_CASE("a serving certificate for a strange address waits, with one Event, until the address is known") {
    Serving world;
    world.ask_serving("strange", "DNS:worker-1,IP:10.0.0.8");
    CHECK(world.decision("strange").empty());
    world.run_for(10min);
    CHECK(world.events.count("CertificateLeft: the kubelet's request strange") == 1);
    CHECK(world.events.count("10.0.0.8 is not known to be a name or address of this machine") == 1);
    world.cloud.machines["100"].guest.addresses.emplace_back("10.0.0.8");
    world.run_for(2min);
    CHECK(world.decision("strange") == "Approved NamesOfThisMachine");
}

TEST_CASE("an address that another claim or Node is known by is not a guest's own, whatever its agent says") {
    Serving world;
    SECTION("another claim") {
        auto other = objects::bought_claim("worker-2", world.pool(), 2);
        other.status.addresses = {"fd00:0:0::77"};
        world.server.put(other);
    }
    SECTION("another Node") {
        auto node = objects::node("control-plane-1");
        node.status.addresses.push_back({"InternalIP", "10.0.0.77"});
        world.server.put(node);
    }
    world.ask_serving("stolen", "IP:10.0.0.77,IP:fd00::77");
    CHECK(world.decision("stolen").empty());
    CHECK(world.events.count("CertificateLeft") == 1);
}

TEST_CASE("a pool that leaves approval to the cluster gets no serving certificate of the operator") {
    Serving world;
    world.server.edit<objects::NodeSmithPool>({"default", "small"}, [](auto& pool) {
        pool.spec.bootstrap.emplace();
        pool.spec.bootstrap->approval = api::v1alpha1::BootstrapApproval::Cluster;
    });
    world.run_for(1s);
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7");
    CHECK(world.decision("own").empty());
    CHECK(world.events.count("CertificateLeft") == 0);
}

TEST_CASE("a first certificate never waits for a provider that hangs") {
    Serving world;
    world.cloud.latency = 1h;
    world.ask_serving("strange", "DNS:worker-1,IP:10.0.0.77");
    CHECK(world.decision("strange").empty());
    auto joining = objects::bought_claim("worker-2", world.pool(), 2);
    joining.status.launchAttempts = 1;
    objects::set_condition(joining.status.conditions, conditions::kLaunched, ConditionStatus::True);
    joining = world.server.put(joining);
    Request request;
    request.metadata.name = "first";
    request.spec.request.value = test::make_request(test::kubelet_request("worker-2", 1));
    request.spec.signerName = bootstrap::kClientSigner;
    request.spec.usages = {"digital signature", "client auth"};
    request.spec.username = "system:bootstrap:" + bootstrap::token_id(joining.metadata.uid, 1);
    request.spec.groups = {"system:bootstrappers", std::string(bootstrap::kTokenGroup)};
    world.put(std::move(request));
    CHECK(world.decision("first") == "Approved TokenOfThisNode");
    world.run_for(61min);
    CHECK(world.decision("strange") == "Approved NamesOfThisMachine");
}
