// Tests what happens to providers, their Secrets and their backends when they are deleted in any order.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/http.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/provider_world.hpp"

using namespace provider_tests;

namespace {

const api::ObjectKey kToken{"default", "token"};
const api::ObjectKey kProvider{"default", "proxmox"};
const api::ObjectKey kClaim{"default", "a"};
const api::ObjectKey kInUse{"default", controllers::kCredentialsInUse};

void put_claim(World& world, const std::string& name = "a", const std::string& provider = "proxmox") {
    if (!world.server.get<objects::NodeSmithPool>({"default", "small"}))
        world.server.put(objects::pool("small"));
    auto claim = objects::created_claim(name, world.pool(), 1);
    claim.status.providerRef = provider;
    world.server.put(claim);
}

// Makes only a RoleBinding give the operator its rights on Secrets.
void restrict_rights(World& world) {
    api::RoleBinding rights;
    rights.metadata.name = "kubenodesmith-credentials";
    rights.metadata.namespace_ = "default";
    world.server.put(rights);
    world.server.options().rights_by_binding = {"default"};
}

std::optional<api::Secret> secret(World& world, const std::string& name = "token") {
    return world.server.get<api::Secret>({"default", name});
}

bool is_held(World& world, const std::string& name = "token") {
    const auto found = secret(world, name);
    return found && api::has_finalizer(found->metadata, api::finalizers::kCredentials);
}

// Answers as an API server's cache that has not heard of any deletion.
std::optional<base::HttpResponse> late_namespaces(const base::HttpRequest& request) {
    const bool is_of_informer = request.target.starts_with("/api/v1/namespaces?") &&
                                request.target.find("fieldSelector") == std::string::npos;
    if (!is_of_informer) return std::nullopt;
    if (request.target.find("watch") != std::string::npos)
        return fake::status_response(503, "ServiceUnavailable", "the cache is not ready");
    base::HttpResponse response;
    response.status = 200;
    response.body = R"({"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
        {"metadata":{"name":"default","uid":"1","resourceVersion":"1"}},
        {"metadata":{"name":"kube-system","uid":"2","resourceVersion":"1"}}]})";
    return response;
}

void take_by_force(World& world) {
    world.server.edit<api::Secret>(kToken, [](api::Secret& edited) { edited.metadata.finalizers->clear(); });
    if (secret(world)) world.server.remove<api::Secret>(kToken);
    REQUIRE_FALSE(secret(world));
}

// Reports whether claims get a backend of the provider.
bool has_backend(World& world) {
    std::optional<bool> has;
    asio::co_spawn(
        world.context,
        [&]() -> asio::awaitable<void> {
            const auto lookup = co_await world.instances.get(kProvider);
            has = std::holds_alternative<std::shared_ptr<providers::Provider>>(lookup);
        },
        asio::detached);
    world.run_for(1s);
    return has.value();
}

// Puts a second provider with the same Secret.
void put_other_provider(World& world) {
    auto other = world.provider();
    other.metadata = {};
    other.metadata.name = "other";
    other.metadata.namespace_ = "default";
    other.status = {};
    world.server.put(other);
}

}  // namespace

TEST_CASE("a Secret carries our finalizer while machines need it, and nothing else of it is changed") {
    World world;
    world.start();
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
    const auto before = *secret(world);
    put_claim(world);
    world.run_for(1min);
    CHECK(is_held(world));
    CHECK(world.provider().status.protectedSecret == "token");
    CHECK(secret(world)->data == before.data);
    for (const auto& write : world.server.writes())
        if (write.target.find("/secrets/") != std::string::npos) CHECK(write.method == "PATCH");
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
    CHECK(world.provider().status.protectedSecret.empty());
    CHECK(secret(world)->data == before.data);
    const auto writes = world.writes();
    world.run_for(1h);
    CHECK(world.writes() == writes);
}

TEST_CASE("a Secret that does not exist is not recorded, and is protected once it does") {
    World world;
    world.server.remove<api::Secret>(kToken);
    put_claim(world);
    world.start();
    world.run_for(1min);
    CHECK(world.condition("Ready") == "False SecretMissing");
    CHECK(world.provider().status.protectedSecret.empty());
    world.put_secret("root@pam!token");
    world.run_for(6min);
    CHECK(is_held(world));
    CHECK(world.provider().status.protectedSecret == "token");
}

TEST_CASE("a Secret that is deleted while machines need it is kept for them, and the provider says so") {
    World world;
    put_claim(world);
    world.start();
    world.run_for(1min);
    world.server.remove<api::Secret>(kToken);
    world.run_for(10min);
    REQUIRE(secret(world));
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("CredentialsProtected") == "False Deleting");
    CHECK_THAT(world.message("CredentialsProtected"), Catch::Contains("kubectl patch secret token"));
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(1min);
    CHECK_FALSE(secret(world));
}

TEST_CASE("the backend of a provider that is being deleted is kept, whatever becomes of its Secret") {
    World world;
    put_claim(world);
    world.start();
    world.run_for(1min);
    SECTION("it is gone") {
        world.server.remove<NodeSmithProvider>(kProvider);
        take_by_force(world);
    }
    SECTION("it was gone before") {
        take_by_force(world);
        world.server.remove<NodeSmithProvider>(kProvider);
    }
    SECTION("it may not be read any more") {
        world.server.options().rights_by_binding = {"default"};
        world.server.remove<NodeSmithProvider>(kProvider);
    }
    SECTION("its keys are gone") {
        world.server.remove<NodeSmithProvider>(kProvider);
        world.server.edit<api::Secret>(kToken, [](api::Secret& edited) { edited.data.clear(); });
    }
    world.run_for(20min);
    CHECK(has_backend(world));
    CHECK(world.script.made == 1);
    CHECK(world.condition("Ready") == "False Deleting");
    CHECK(world.condition("Reachable") == "True Reachable");
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(1min);
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
    CHECK_FALSE(has_backend(world));
}

TEST_CASE("a deletionTimestamp is no change of a provider's spec") {
    World world;
    put_claim(world);
    world.start();
    world.run_for(1min);
    world.server.remove<NodeSmithProvider>(kProvider);
    world.run_for(10min);
    CHECK(world.script.made == 1);
    world.edit([](auto& provider) { provider.spec.proxmox->nodeWhitelist = {"pve2"}; });
    world.run_for(1min);
    CHECK(world.script.made == 2);
}

TEST_CASE("all that is deleted at once ends, and takes nothing with it that others need") {
    World world;
    restrict_rights(world);
    put_claim(world);
    put_other_provider(world);
    world.start();
    world.run_for(1min);
    REQUIRE(is_held(world));
    REQUIRE(world.server.get<api::RoleBinding>(kInUse));
    std::vector<std::function<void()>> deletions{
        [&] { world.server.remove<api::Secret>(kToken); },
        [&] { world.server.remove<NodeSmithProvider>(kProvider); },
        [&] { world.server.remove<api::RoleBinding>({"default", "kubenodesmith-credentials"}); },
        [&] { world.server.remove<api::RoleBinding>(kInUse); }};
    const auto first = GENERATE(0, 1, 2, 3);
    std::rotate(deletions.begin(), deletions.begin() + first, deletions.end());
    for (const auto& deletion : deletions) deletion();
    world.run_for(10min);
    CHECK(secret(world));
    CHECK(has_backend(world));
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(2min);
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
    CHECK_FALSE(secret(world));
    CHECK(world.server.list<api::RoleBinding>().empty());
    CHECK(world.server.get<NodeSmithProvider>({"default", "other"}));
}

TEST_CASE("a Secret that two providers share is released by the last one that needs it") {
    World world;
    put_other_provider(world);
    put_claim(world, "a");
    put_claim(world, "b", "other");
    world.start();
    world.run_for(1min);
    CHECK(is_held(world));
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(1min);
    CHECK(is_held(world));
    CHECK(world.provider().status.protectedSecret.empty());
    world.server.remove<objects::NodeSmithClaim>({"default", "b"});
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
}

TEST_CASE("two providers that release their Secret at the same moment leave no finalizer behind") {
    World world;
    put_other_provider(world);
    put_claim(world, "a");
    put_claim(world, "b", "other");
    world.start();
    world.run_for(1min);
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.server.remove<objects::NodeSmithClaim>({"default", "b"});
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
}

TEST_CASE("a provider that names another Secret releases the former one") {
    World world;
    put_claim(world);
    auto second = *secret(world);
    second.metadata = {};
    second.metadata.name = "second";
    second.metadata.namespace_ = "default";
    world.server.put(second);
    world.start();
    world.run_for(1min);
    CHECK(is_held(world));
    CHECK_FALSE(is_held(world, "second"));
    world.edit([](auto& provider) { provider.spec.credentialsSecretRef->name = "second"; });
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
    CHECK(is_held(world, "second"));
    world.edit([](auto& provider) { provider.spec.credentialsSecretRef.reset(); });
    world.run_for(1min);
    CHECK_FALSE(is_held(world, "second"));
}

TEST_CASE("a provider that was taken away by force leaves no finalizer behind") {
    World world;
    put_claim(world);
    world.start();
    world.run_for(1min);
    REQUIRE(is_held(world));
    world.edit([](auto& provider) { provider.metadata.finalizers->clear(); });
    if (world.server.get<NodeSmithProvider>(kProvider)) world.server.remove<NodeSmithProvider>(kProvider);
    world.run_for(1min);
    CHECK_FALSE(is_held(world));
}

TEST_CASE("Secrets are protected and released whichever write is lost") {
    World world;
    restrict_rights(world);
    const int lost = GENERATE(range(0, 12));
    const bool has_effect = GENERATE(false, true);
    int writes = 0;
    const auto lose = [&](const base::HttpRequest& request) {
        if (request.method == "GET" || request.target.find("/events") != std::string::npos) return;
        if (writes++ == lost) throw base::TransportError("lost", has_effect);
    };
    (has_effect ? world.requests.on_effect : world.requests.on_request) = lose;
    put_claim(world);
    world.start();
    world.run_for(10min);
    CHECK(is_held(world));
    world.server.remove<NodeSmithProvider>(kProvider);
    world.server.remove<api::Secret>(kToken);
    world.server.remove<api::RoleBinding>({"default", "kubenodesmith-credentials"});
    world.run_for(1min);
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    world.run_for(10min);
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
    CHECK_FALSE(secret(world));
    CHECK(world.server.list<api::RoleBinding>().empty());
}

TEST_CASE("rights that a process had begun to give up are made anew when they are needed again") {
    World world;
    restrict_rights(world);
    api::RoleBinding left;
    left.metadata.name = kInUse.name;
    left.metadata.namespace_ = kInUse.namespace_;
    left.metadata.finalizers = {std::string(api::finalizers::kCredentials)};
    world.server.put(left);
    world.server.remove<api::RoleBinding>(kInUse);
    REQUIRE(world.server.get<api::RoleBinding>(kInUse)->metadata.deletionTimestamp);
    const bool namespace_ends = GENERATE(false, true);
    api::Namespace space;
    space.metadata.name = "default";
    space.metadata.finalizers = {"example.com/held"};
    world.server.put(space);
    if (namespace_ends) world.server.remove<api::Namespace>({"", "default"});
    SECTION("and the watch shows the namespace") {}
    SECTION("and the watch is late") {
        world.requests.answer = late_namespaces;
    }
    put_claim(world);
    world.start();
    world.run_for(1min);
    CHECK(is_held(world));
    REQUIRE(world.server.get<api::RoleBinding>(kInUse));
    CHECK(world.server.get<api::RoleBinding>(kInUse)->metadata.deletionTimestamp.has_value() ==
          namespace_ends);
}

TEST_CASE("without the right to patch Secrets a provider works and says what is missing") {
    World world;
    put_claim(world);
    world.requests.answer = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_patch =
            request.method == "PATCH" && request.target.find("/secrets/") != std::string::npos;
        if (!is_patch) return std::nullopt;
        return fake::status_response(403, "Forbidden", "cannot patch resource secrets");
    };
    world.start();
    world.run_for(1min);
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("CredentialsProtected") == "False SecretForbidden");
    CHECK_THAT(world.message("CredentialsProtected"),
               Catch::Contains("RoleBinding kubenodesmith-credentials") && Catch::Contains("cannot patch"));
    world.requests.answer = {};
    world.run_for(2min);
    CHECK(world.condition("CredentialsProtected").empty());
    CHECK(is_held(world));
}

namespace {

// Answers writes of the resource as an API server whose admission webhook is down, denies, or hangs.
auto refuse_writes_of(std::string resource, int code) {
    return [resource, code](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_write =
            request.method != "GET" && request.target.find("/" + resource + "/") != std::string::npos;
        if (!is_write) return std::nullopt;
        if (code == 500)
            return fake::status_response(500, "InternalError",
                                         "Internal error occurred: failed calling webhook \"guard.example\"");
        if (code == 504)
            return fake::status_response(504, "Timeout", "webhook guard.example did not answer in time");
        return fake::status_response(code, "Denied",
                                     "admission webhook \"guard.example\" denied the request: no");
    };
}

}  // namespace

TEST_CASE("a webhook that blocks the protection of a Secret is named, and the provider is still examined") {
    World world;
    restrict_rights(world);
    const auto* resource = GENERATE("secrets", "rolebindings");
    const int code = GENERATE(500, 400, 403, 504);
    CAPTURE(resource, code);
    world.start();
    world.run_for(1min);
    world.requests.answer = refuse_writes_of(resource, code);
    put_claim(world);
    world.run_for(1min);
    REQUIRE(world.condition("CredentialsProtected") == "False RequestRefused");
    CHECK_THAT(world.message("CredentialsProtected"),
               Catch::Contains("Secret default/token") && Catch::Contains("guard.example"));
    world.script.health.reachable = false;
    world.script.health.reason = "Unreachable";
    world.put_secret("root@pam!other");
    world.run_for(6min);
    CHECK(world.condition("Reachable") == "False Unreachable");
    CHECK(world.script.token == "root@pam!other");
    world.requests.answer = {};
    world.run_for(2min);
    CHECK(world.condition("CredentialsProtected").empty());
    CHECK(is_held(world));
}

TEST_CASE("a webhook that blocks the release of a Secret is named, and the Secret is released afterwards") {
    World world;
    restrict_rights(world);
    const auto* resource = GENERATE("secrets", "rolebindings");
    const int code = GENERATE(500, 400, 403, 504);
    CAPTURE(resource, code);
    put_claim(world);
    world.start();
    world.run_for(1min);
    REQUIRE(is_held(world));
    world.requests.answer = refuse_writes_of(resource, code);
    world.server.remove<objects::NodeSmithClaim>(kClaim);
    SECTION("of a provider that is kept") {}
    SECTION("of a provider that is deleted") {
        world.server.remove<NodeSmithProvider>(kProvider);
    }
    world.run_for(3min);
    REQUIRE(world.server.get<NodeSmithProvider>(kProvider));
    REQUIRE(world.condition("CredentialsProtected") == "False RequestRefused");
    CHECK_THAT(world.message("CredentialsProtected"), Catch::Contains("guard.example"));
    const auto checks = world.script.checks;
    world.run_for(6min);
    CHECK(world.script.checks > checks);
    world.requests.answer = {};
    world.run_for(2min);
    CHECK_FALSE(is_held(world));
    CHECK(world.server.list<api::RoleBinding>().size() == 1);
}

TEST_CASE("the Secret of a provider that was taken away by force is released when a webhook allows it") {
    World world;
    put_claim(world);
    world.start();
    world.run_for(1min);
    REQUIRE(is_held(world));
    world.requests.answer = refuse_writes_of("secrets", 500);
    world.edit([](auto& provider) { provider.metadata.finalizers->clear(); });
    if (world.server.get<NodeSmithProvider>(kProvider)) world.server.remove<NodeSmithProvider>(kProvider);
    world.run_for(2min);
    CHECK(is_held(world));
    world.requests.answer = {};
    world.run_for(10min);
    CHECK_FALSE(is_held(world));
}

TEST_CASE("a provider whose Secret may not be read says so, and works again when it may") {
    World world;
    world.server.options().rights_by_binding = {"default"};
    world.start();
    world.run_for(1min);
    CHECK(world.condition("Ready") == "False SecretForbidden");
    CHECK_THAT(world.message("Ready"), Catch::Contains("RoleBinding"));
    restrict_rights(world);
    world.run_for(6min);
    CHECK(world.condition("Ready") == "True Ready");
}

TEST_CASE("a deleted provider waits for its orphans, as nobody could remove them afterwards") {
    World world;
    world.start();
    world.run_for(1min);
    providers::Machine machine;
    machine.name = "lost";
    machine.identity.claim_namespace = "default";
    machine.identity.claim_name = "lost";
    machine.identity.claim_uid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    machine.identity.attempt = 1;
    machine.identity.system_uuid = controllers::claim::system_uuid(machine.identity.claim_uid, 1);
    world.script.machines = {machine};
    world.server.remove<NodeSmithProvider>(kProvider);
    world.run_for(5min);
    CHECK(world.server.get<NodeSmithProvider>(kProvider));
    SECTION("they are removed") {
        world.script.machines.clear();
        world.run_for(1min);
        CHECK(world.events.count("OrphansLeft") == 0);
    }
    SECTION("they are not, and it says so") {
        world.run_for(10min);
        CHECK(world.events.count("OrphansLeft: remove by hand what is left: machine lost") == 1);
    }
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
}

TEST_CASE("a deleted provider waits while it cannot be looked at what it leaves, and then says so") {
    World world;
    world.edit([](NodeSmithProvider& provider) {
        provider.metadata.finalizers = {std::string(api::finalizers::kProvider)};
        provider.status.protectedSecret = "token";
    });
    std::string what;
    SECTION("a machine whose description cannot be read") {
        providers::Machine unread;
        unread.record.host = "pve1";
        unread.record.machine_id = "4711";
        world.script.machines = {unread};
        what = "machine 4711 on pve1, whose description could not be read";
    }
    SECTION("a host that does not answer") {
        world.script.leftovers.unseen = {"VM 4712 on pve2 (no answer)"};
        what = "VM 4712 on pve2 (no answer)";
    }
    SECTION("a VM that a task still makes") {
        world.script.under_way = {{{"pve1", "4713", ""}, "VM 4713 on pve1, which a task is still creating"}};
        what = "VM 4713 on pve1, which a task is still creating";
    }
    SECTION("its Secret is gone") {
        world.server.remove<api::Secret>(kToken);
        what = "Secret default/token";
    }
    SECTION("a clone that was never configured") {
        providers::Machine clone;
        clone.name = clone.identity.claim_name = "lost";
        clone.record.host = "pve1";
        clone.record.machine_id = "4714";
        clone.identity.claim_namespace = "default";
        clone.identity.claim_uid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
        clone.state = providers::MachineState::stopped;
        world.script.machines = {clone};
        what = "machine lost (4714 on pve1), which was cloned and never configured";
    }
    world.server.remove<NodeSmithProvider>(kProvider);
    world.start();
    world.run_for(5min);
    REQUIRE(world.server.get<NodeSmithProvider>(kProvider));
    CHECK_THAT(world.message("Ready"), Catch::Contains(what));
    world.run_for(10min);
    CHECK(world.events.count("OrphansLeft: remove by hand what is left: ") == 1);
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
}

TEST_CASE("a deleted provider names the orphans that nobody will remove, and does not wait for them") {
    World world;
    providers::Machine machine;
    machine.name = "lost";
    machine.record = {"pve1", "4715", ""};
    machine.identity.claim_namespace = "default";
    machine.identity.claim_name = "lost";
    machine.identity.claim_uid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    machine.identity.attempt = 1;
    machine.identity.system_uuid = controllers::claim::system_uuid(machine.identity.claim_uid, 1);
    machine.state = providers::MachineState::running;
    std::string what = "machine lost (4715 on pve1)";
    SECTION("as the garbage collector only reports them") {
        world.edit([](NodeSmithProvider& provider) { provider.spec.orphanGracePeriod.value = {}; });
    }
    SECTION("as a Node runs on them") {
        api::Node node;
        node.metadata.name = "lost";
        node.status.nodeInfo.systemUUID = machine.identity.system_uuid;
        node.status.conditions = {{"Ready", api::ConditionStatus::True}};
        world.server.put(node);
        what += ", which serves a Node";
    }
    world.start();
    world.run_for(1min);
    world.script.machines = {machine};
    world.server.remove<NodeSmithProvider>(kProvider);
    world.run_for(1min);
    CHECK(world.events.count("OrphansLeft: remove by hand what is left: " + what) == 1);
    CHECK_FALSE(world.server.get<NodeSmithProvider>(kProvider));
}
