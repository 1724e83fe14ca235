// Tests which requests for certificates the operator decides, in which order it writes, and what it leaves
// alone.
#include "controllers/certificate_approver.hpp"

#include "api/network.hpp"
#include "bootstrap/signing_request.hpp"
#include "bootstrap/token.hpp"
#include "controllers/services/api_server_hosts.hpp"
#include "test/support/catch.hpp"
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
    controllers::claim::BootData boot_data{informers, client, clock, *random};
    controllers::MachineReports machine_reports;
    controllers::CertificateApprover approver{
        {informers, client, clock, *random, events, metrics, boot_data, machine_reports},
        context.get_executor()};
    base::TaskGroup watching{context.get_executor()};
    std::vector<std::string> written;  // writes of the operator, in order

    World() {
        put_basics();
        server.put(objects::pool("small"));
        auto claim = objects::created_claim("worker-1", pool(), 1);
        claim.status.launchAttempts = 1;
        claim.status.providerRef = "proxmox";
        claim.status.machineID = "100";
        objects::set_condition(claim.status.conditions, conditions::kLaunched, ConditionStatus::True);
        server.put(claim);
        requests.on_effect = [this](const base::HttpRequest& request) {
            if (request.method == "PATCH") written.push_back(request.target);
        };
        add("certificate", approver, 4);
        add("clusteraddresses", approver.cluster_addresses());
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
    // Returns a decision such as "Denied NotThisNode"; "" if there is none.
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

namespace {

// Answers writes of decisions as an API server whose admission webhook is down, denies, or hangs.
std::optional<base::HttpResponse> refuse_approval(const base::HttpRequest& request, int code) {
    if (request.target.find("/approval") == std::string::npos) return std::nullopt;
    if (code == 500)
        return fake::status_response(500, "InternalError",
                                     "Internal error occurred: failed calling webhook \"guard.example\"");
    if (code == 504) return fake::status_response(504, "Timeout", "webhook guard.example did not answer");
    return fake::status_response(code, "Denied",
                                 "admission webhook \"guard.example\" denied the request: no");
}

}  // namespace

TEST_CASE("a webhook that blocks the approval of a first certificate is named and forgotten afterwards") {
    World world;
    const int code = GENERATE(500, 400, 403, 504);
    CAPTURE(code);
    world.requests.answer = [code](const auto& request) { return refuse_approval(request, code); };
    world.ask("first");
    CHECK(world.decision("first").empty());
    const auto of_claim = [&world] { return world.machine_reports.certificate_of(world.claim()); };
    CHECK_THAT(of_claim().refusal, Catch::Contains("guard.example"));
    CHECK(world.events.count("NodeSmithClaim worker-1 RequestRefused") >= 1);
    world.run_for(1h);
    CHECK_FALSE(of_claim().refusal.empty());
    world.requests.answer = {};
    world.run_for(1min);
    CHECK(world.decision("first") == "Approved TokenOfThisNode");
    CHECK(of_claim().refusal.empty());
    CHECK(of_claim().ended.has_value());
}

TEST_CASE("a refused approval is forgotten with its request") {
    World world;
    world.requests.answer = [](const auto& request) { return refuse_approval(request, 500); };
    world.ask("first");
    const auto of_claim = [&world] { return world.machine_reports.certificate_of(world.claim()); };
    REQUIRE_FALSE(of_claim().refusal.empty());
    world.server.remove<Request>({"", "first"});
    world.run_for(2s);
    CHECK(of_claim().refusal.empty());
}

TEST_CASE("a webhook that hangs for one namespace delays no certificate of another") {
    World world;
    world.requests.slowness = [](const base::HttpRequest& request) {
        const bool hangs =
            request.method == "PATCH" && request.target.find("/namespaces/hangs/") != std::string::npos;
        return hangs ? base::Duration(30s) : base::Duration::zero();
    };
    world.requests.answer = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (request.method != "PATCH" || request.target.find("/namespaces/hangs/") == std::string::npos)
            return std::nullopt;
        return fake::status_response(504, "Timeout", "webhook guard.example did not answer");
    };
    for (int i = 0; i < 10; ++i) {
        const auto name = "slow-" + std::to_string(i);
        auto claim = world.claim();
        claim.metadata = {};
        claim.metadata.namespace_ = "hangs";
        claim.metadata.name = name;
        claim = world.server.put(claim);
        Request request;
        request.metadata.name = name;
        request.spec.request.value = test::make_request(test::kubelet_request(name, 1));
        request.spec.signerName = bootstrap::kClientSigner;
        request.spec.usages = {"digital signature", "client auth"};
        request.spec.username = "system:bootstrap:" + bootstrap::token_id(claim.metadata.uid, 1);
        request.spec.groups = {"system:bootstrappers", std::string(bootstrap::kTokenGroup)};
        world.server.put(request);
    }
    world.run_for(1s);
    world.ask("first");
    CHECK(world.decision("first") == "Approved TokenOfThisNode");
    world.requests.slowness = {};
    world.requests.answer = {};
    world.run_for(2min);
    for (int i = 0; i < 10; ++i)
        CHECK(world.decision("slow-" + std::to_string(i)) == "Approved TokenOfThisNode");
}

TEST_CASE("a denial that is refused does not hold the claim's own machine") {
    World world;
    world.requests.answer = [](const auto& request) { return refuse_approval(request, 500); };
    world.ask("forged", "control-plane-1");
    CHECK(world.machine_reports.certificate_of(world.claim()).refusal.empty());
    CHECK(world.events.count("NodeSmithClaim worker-1 RequestRefused") >= 1);
}

TEST_CASE("a request for another Node is denied, and the claim whose token that was is told of") {
    World world;
    world.ask("forged", "control-plane-1");
    CHECK(world.decision("forged") == "Denied NotThisNode");
    CHECK(world.events.count(
              "NodeSmithClaim worker-1 CertificateDenied: a certificate request made with this claim's token "
              "is denied (NotThisNode): the subject's CN is not system:node:worker-1") == 1);
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
        server.edit<NodeSmithClaim>(kClaim, [](auto& claim) { claim.status.nodeName = "worker-1"; });
        give("worker-1", "10.0.0.7");
        auto node = objects::a_node("worker-1").label(std::string(api::labels::kClaim), "worker-1").node;
        // Root in the guest can write both the name and the addresses.
        node.status.addresses.push_back({"InternalIP", "10.0.0.77"});
        server.put<api::Node>(node);
    }
    // Records a static address as the operator does.
    void give(const std::string& claim, const std::string& address) {
        server.edit<objects::NodeSmithPool>({"default", "small"}, [&](auto& pool) {
            pool.status.addresses.push_back({address, claim, "net0"});
        });
    }
    void name_networks(std::vector<std::string> networks) {
        server.edit<api::v1alpha1::NodeSmithControlPlane>({"default", "main"}, [&](auto& manager) {
            if (!manager.spec.bootstrap) manager.spec.bootstrap.emplace();
            manager.spec.bootstrap->servingNetworks = networks;
        });
        run_for(1s);
    }
    // Puts a cluster of kubeadm's with two control plane machines behind a virtual IP.
    void put_cluster() {
        api::Service service;
        service.metadata.namespace_ = "default";
        service.metadata.name = "kubernetes";
        service.spec.clusterIPs = {"10.96.0.1"};
        server.put(service);
        api::EndpointSlice slice;
        slice.metadata = service.metadata;
        slice.endpoints = {{{"10.0.0.2"}}, {{"10.0.0.3"}}};
        server.put(slice);
        server.edit<NodeSmithClaim>(
            kClaim, [](auto& claim) { claim.status.boot.emplace().apiServer = "10.0.0.4:6443"; });
        run_for(1s);
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

TEST_CASE("a serving certificate names what the operator gave, and nothing that Node and guest say") {
    Serving world;
    world.put_cluster();
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7");
    CHECK(world.decision("own") == "Approved NamesOfThisMachine");
    world.ask_serving("told", "DNS:worker-1,IP:10.0.0.77");
    CHECK(world.decision("told").empty());
    world.run_for(10min);
    CHECK(world.decision("told").empty());
    CHECK(world.events.count("CertificateLeft: the kubelet's request told") == 1);
    CHECK(world.events.count("bootstrap.servingNetworks of its NodeSmithControlPlane") == 1);
}

TEST_CASE("an address in a network that an administrator named is approved, also when it is named later") {
    Serving world;
    world.put_cluster();
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7,IP:10.0.0.77,IP:fd00::77");
    CHECK(world.decision("own").empty());
    world.name_networks({"10.0.0.0/24", "fd00::/64"});
    world.run_for(2s);
    CHECK(world.decision("own") == "Approved NamesOfThisMachine");
}

TEST_CASE("no network makes an address of others a machine's") {
    Serving world;
    world.put_cluster();
    world.name_networks({"10.0.0.0/8", "fd00::/64", "0.0.0.0/0"});
    std::string address;
    SECTION("the API server's Service") {
        address = "10.96.0.1";
    }
    SECTION("as an IPv6 address that stands for it") {
        world.name_networks({"::/0"});
        address = "::ffff:10.96.0.1";
    }
    SECTION("another Service") {
        address = "10.111.255.254";
    }
    SECTION("a Service in a network that the cluster states") {
        api::ServiceCIDR more;
        more.metadata.name = "more";
        more.spec.cidrs = {"10.200.0.0/16"};
        world.server.put(more);
        address = "10.200.0.9";
    }
    SECTION("an API server") {
        address = "10.0.0.3";
    }
    SECTION("the endpoint that machines are given") {
        address = "10.0.0.4";
    }
    SECTION("the address of another claim") {
        world.give("worker-2", "10.0.0.8");
        address = "10.0.0.8";
    }
    SECTION("the address of a Node that no claim has") {
        auto node = objects::node("control-plane-1");
        node.status.addresses.push_back({"InternalIP", "10.0.0.9"});
        world.server.put(node);
        address = "10.0.0.9";
    }
    SECTION("the address of another claim's Node, which has it by DHCP") {
        auto other = world.claim();
        other.metadata.uid += "-2";
        other.metadata.name = "worker-2";
        other.status.nodeName = "worker-2";
        world.server.put(other);
        auto node = objects::node("worker-2");
        node.status.addresses.push_back({"InternalIP", "10.0.0.8"});
        node.status.addresses.push_back({"InternalIP", "10.0.0.18"});
        world.server.put(node);
        address = "10.0.0.8";
    }
    SECTION("the address of a Node that only a new list contains") {
        world.requests.on_request = [&world](const base::HttpRequest& request) {
            const auto& target = request.target;
            const bool is_list =
                target.starts_with("/api/v1/nodes?") && target.find("watch=") == std::string::npos;
            if (!is_list || world.server.get<api::Node>({"", "worker-3"})) return;
            auto node = objects::node("worker-3");
            node.status.addresses.push_back({"InternalIP", "10.0.0.8"});
            world.server.put<api::Node>(std::move(node));
        };
        address = "10.0.0.8";
    }
    SECTION("a loopback address") {
        address = "127.0.0.1";
    }
    SECTION("a link-local address") {
        address = "169.254.169.254";
    }
    world.ask_serving("stolen", "IP:" + address);
    CHECK(world.decision("stolen").empty());
    CHECK(world.events.count("CertificateLeft") == 1);
}

TEST_CASE("a pool that gives its machines an address of the cluster gets no certificate for it") {
    Serving world;
    world.put_cluster();
    const auto* address = GENERATE("10.96.0.1", "10.96.7.7", "10.0.0.2", "10.0.0.4", "127.0.0.1");
    world.give("worker-1", address);
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7");
    CHECK(world.decision("own") == "Approved NamesOfThisMachine");
    world.ask_serving("stolen", std::string("DNS:worker-1,IP:") + address);
    CHECK(world.decision("stolen").empty());
    CHECK(world.events.count("(UnknownAddress): " + std::string(address)) == 1);
}

TEST_CASE("a pool that gives its machine the address of another Node gets no certificate for it") {
    Serving world;
    world.put_cluster();
    SECTION("nobody named a network") {}
    SECTION("an administrator named one") {
        world.name_networks({"10.0.0.0/24"});
    }
    auto node = objects::node("worker-of-others");
    node.status.addresses.push_back({"InternalIP", "10.0.0.23"});
    world.server.put(node);
    world.give("worker-1", "10.0.0.23");
    world.run_for(1s);
    world.ask_serving("own", "DNS:worker-1,IP:10.0.0.7");
    CHECK(world.decision("own") == "Approved NamesOfThisMachine");
    world.ask_serving("stolen", "DNS:worker-1,IP:10.0.0.23");
    CHECK(world.decision("stolen").empty());
    CHECK(world.events.count("(AddressOfOtherNode): 10.0.0.23") == 1);
    world.server.remove<api::Node>({"", "worker-of-others"});
    world.run_for(2min);
    CHECK(world.decision("stolen") == "Approved NamesOfThisMachine");
}

TEST_CASE("a machine with a name of the API server gets no certificate") {
    World world;
    world.server.edit<objects::NodeSmithPool>({"default", "small"}, [](auto& pool) {
        pool.spec.bootstrap.emplace();
        pool.spec.bootstrap->apiServerEndpoint = "Worker-1:6443";
    });
    world.run_for(1s);
    SECTION("to join") {
        world.ask("first");
        CHECK(world.decision("first") == "Denied NameTaken");
        CHECK(world.events.count("a name under which clients look for the API server") == 1);
    }
    SECTION("to serve") {
        world.set(conditions::kRegistered);
        world.server.edit<NodeSmithClaim>(kClaim, [](auto& claim) { claim.status.nodeName = "worker-1"; });
        world.server.put<api::Node>(
            objects::a_node("worker-1").label(std::string(api::labels::kClaim), "worker-1").node);
        Request request;
        request.metadata.name = "own";
        auto parts = test::kubelet_request("worker-1", 0);
        parts.alternative_names = "DNS:worker-1";
        request.spec.request.value = test::make_request(parts);
        request.spec.signerName = bootstrap::kServingSigner;
        request.spec.usages = {"digital signature", "server auth"};
        request.spec.username = "system:node:worker-1";
        request.spec.groups = {"system:nodes"};
        world.put(request);
        CHECK(world.decision("own").empty());
        CHECK(world.events.count("NameOfApiServer") == 1);
    }
}

TEST_CASE("names under which clients look for the API server are known") {
    World world;
    const auto is_one = [&world](const std::string& name) {
        return controllers::is_name_of_api_server(world.informers, world.claim(), name);
    };
    for (const auto* name :
         {"localhost", "a.localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
          "kubernetes.default.svc.example.org", "web.shop.svc", "web.shop.svc.cluster.local", "10.96.0.1"})
        CHECK(is_one(name));
    for (const auto* name : {"worker-1", "kubernetes-1", "kubernetes.example.org", "svc-1.example.org",
                             "kubernetes.default-pool", "10.96.0.1.example.org"})
        CHECK_FALSE(is_one(name));
}

TEST_CASE("what objects of another namespace state as the API server withholds few addresses, and no look") {
    Serving world;
    world.put_cluster();
    world.name_networks({"10.0.0.0/24"});
    const auto state = [&world](const std::string& name, const std::string& endpoint) {
        auto pool = objects::pool(name);
        pool.metadata.namespace_ = "other";
        pool.spec.bootstrap.emplace();
        pool.spec.bootstrap->apiServerEndpoint = endpoint;
        world.server.put(pool);
    };
    SECTION("one address counts everywhere, as people may use it") {
        state("one", "10.0.0.77:6443");
        world.run_for(1s);
        world.ask_serving("own", "DNS:worker-1,IP:10.0.0.77");
        CHECK(world.decision("own").empty());
    }
    SECTION("many addresses count for its own machines only") {
        for (int i = 0; i < 9; ++i)
            state("pool-" + std::to_string(i), "10.0.0." + std::to_string(70 + i) + ":6443");
        world.run_for(1s);
        world.ask_serving("own", "DNS:worker-1,IP:10.0.0.77");
        CHECK(world.decision("own") == "Approved NamesOfThisMachine");
    }
    SECTION("names that are not looked up hold only its own machines") {
        for (int i = 0; i < 9; ++i)
            state("pool-" + std::to_string(i), "n" + std::to_string(i) + ".invalid:6443");
        world.run_for(1s);
        world.ask_serving("own", "DNS:worker-1,IP:10.0.0.77");
        world.run_for(2min);
        CHECK(world.decision("own") == "Approved NamesOfThisMachine");
        CHECK(world.events.count("CertificateLeft") == 0);
    }
}

TEST_CASE("a kubelet with thousands of open requests costs a few looks at each change of its claim") {
    Serving world;
    world.put_cluster();
    for (int i = 0; i < 40; ++i)
        world.ask_serving("strange-" + std::to_string(100 + i), "DNS:worker-1,IP:10.0.1.77");
    std::size_t reads = 0;
    world.requests.on_request = [&reads](const base::HttpRequest& asked) {
        if (asked.method == "GET" && asked.target.find("/certificatesigningrequests/") != std::string::npos)
            ++reads;
    };
    world.server.edit<NodeSmithClaim>(kClaim, [](auto& claim) { claim.metadata.annotations["a"] = "b"; });
    world.run_for(1min);
    CHECK(reads == 8);
}

TEST_CASE("a request whose name no kubelet chooses is neither kept nor named") {
    Serving world;
    world.put_cluster();
    const auto name = GENERATE(std::string("a b"), std::string("x\n\x1b[31m"), std::string("$(id)"),
                               std::string("x;y"), std::string(24'000, 'a'));
    world.ask_serving(name, "DNS:worker-1,IP:10.0.0.77");
    CHECK(world.decision(name).empty());
    CHECK(world.events.count("CertificateLeft") == 0);
    CHECK_THAT(
        world.metrics.exposition(),
        Catch::Contains("kubenodesmith_informer_objects{resource=\"certificatesigningrequests\"} 0\n"));
}

TEST_CASE("requests are judged under each name that kubelets choose") {
    Serving world;
    world.put_cluster();
    for (const auto* name : {"csr-x7k2p", "node-csr-2yVQ1sKx_0Qn-ZbR8nXW5Ck7a1uMt4fR2dLh0p9sE3w"}) {
        world.ask_serving(name, "DNS:worker-1,IP:10.0.0.7");
        CHECK(world.decision(name) == "Approved NamesOfThisMachine");
    }
}

TEST_CASE("no address of a network is approved while it is not known where the cluster listens") {
    Serving world;
    world.name_networks({"10.0.0.0/24"});
    world.ask_serving("early", "DNS:worker-1,IP:10.0.0.77");
    CHECK(world.decision("early").empty());
    CHECK(world.events.count("ClusterAddressesUnknown") == 1);
    CHECK(world.events.count("there is no Service default/kubernetes") == 1);
    world.put_cluster();
    world.run_for(10min);
    CHECK(world.decision("early") == "Approved NamesOfThisMachine");
}

TEST_CASE("many requests of one machine cost one look at the cluster for all of them") {
    Serving world;
    world.put_cluster();
    world.name_networks({"10.0.0.0/24"});
    std::size_t looks = 0;
    world.requests.on_request = [&looks](const base::HttpRequest& asked) {
        if (asked.target.find("/services/kubernetes") != std::string::npos) ++looks;
    };
    for (int i = 0; i < 12; ++i)
        world.ask_serving("strange-" + std::to_string(i), "DNS:worker-1,IP:10.0.1.77");
    world.run_for(1h);
    CHECK(looks == 1);
    CHECK(world.decision("strange-11").empty());
}

TEST_CASE("the Service network of a cluster that does not state it begins before the API server's Service") {
    CHECK(controllers::lies_in("10.111.255.255", controllers::service_network_of("10.96.0.1")));
    CHECK_FALSE(controllers::lies_in("10.112.0.0", controllers::service_network_of("10.96.0.1")));
    CHECK_FALSE(controllers::lies_in("10.95.255.255", controllers::service_network_of("10.96.0.1")));
    CHECK(controllers::lies_in("10.43.255.255", controllers::service_network_of("10.43.0.1")));
    CHECK_FALSE(controllers::lies_in("10.44.0.0", controllers::service_network_of("10.43.0.1")));
    CHECK(controllers::lies_in("fd00:96::f:ffff", controllers::service_network_of("fd00:96::1")));
    CHECK_FALSE(controllers::lies_in("fd00:96::10:0", controllers::service_network_of("fd00:96::1")));
}

TEST_CASE("an address lies in a network of its family") {
    CHECK(controllers::lies_in("10.0.4.255", "10.0.4.0/24"));
    CHECK_FALSE(controllers::lies_in("10.0.5.0", "10.0.4.0/24"));
    CHECK(controllers::lies_in("10.0.4.130", "10.0.4.128/25"));
    CHECK_FALSE(controllers::lies_in("10.0.4.127", "10.0.4.128/25"));
    CHECK_FALSE(controllers::lies_in("fd00::1", "0.0.0.0/0"));
    CHECK_FALSE(controllers::lies_in("10.0.4.1", "10.0.4.0"));
    CHECK_FALSE(controllers::lies_in("10.0.4.1", "10.0.4.0/x"));
    CHECK_FALSE(controllers::lies_in("no address", "0.0.0.0/0"));
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

TEST_CASE("a first certificate of a format whose servers trust every token is left to them") {
    World world;
    world.server.edit<objects::NodeSmithPool>({"default", "small"}, [](auto& pool) {
        pool.spec.bootstrap.emplace();
        pool.spec.bootstrap->format = api::v1alpha1::BootstrapFormat::K0s;
    });
    world.run_for(1s);
    world.ask("another", "some-other-node");
    CHECK(world.decision("another").empty());
    CHECK(world.events.count("CertificateDenied") == 0);
}

TEST_CASE("a first certificate never waits for what serving certificates wait for") {
    Serving world;
    world.name_networks({"10.0.0.0/24"});
    world.ask_serving("strange", "DNS:worker-1,IP:10.0.0.77");
    CHECK(world.decision("strange").empty());
    auto joining = objects::created_claim("worker-2", world.pool(), 2);
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
}
