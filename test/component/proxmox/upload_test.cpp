// Tests how boot images reach their hosts.
#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Lab;

namespace {

constexpr const char* kUploads = "/nodes/[a-z]+/storage/local/upload";

// OneEndpoint has only the endpoint of host alfaromeo.
struct OneEndpoint : Lab {
    OneEndpoint() {
        config.spec.proxmox->endpoints.clear();
        images_to("porsche");
        restart();
    }
    void images_to(const std::string& host) { config.spec.proxmox->nodeWhitelist = {host}; }
    MachineSpec with_image(int number) {
        auto spec = machine(number);
        spec.boot_image = &images;
        return spec;
    }
    // Returns the hosts that were asked to take an image.
    std::vector<std::string> asked() const {
        std::vector<std::string> hosts;
        for (const auto& record : log)
            if (record.path.ends_with("/upload")) hosts.push_back(record.entry_host);
        return hosts;
    }
    // Calls ensure as often as it asks for within that time. Returns its last message.
    std::string try_for(MachineSpec& spec, base::Duration duration) {
        std::string message;
        for (const auto until = clock.now() + duration; clock.now() < until;) {
            const auto result = ensure(spec);
            if (const auto* busy = std::get_if<NotReady>(&result)) {
                message = busy->message;
                wait(busy->retry_after);
                continue;
            }
            const auto made = std::get<Machine>(result);
            spec.record = made.record;
            if (made.state == MachineState::running) break;
            wait(std::max<base::Duration>(made.retry_after, 1ms));
        }
        return message;
    }
};

using Hosts = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(OneEndpoint, "An image goes straight to its host, which proves itself by its certificate") {
    simulator.faults().slow_remote_shells(1min);
    auto spec = with_image(1);
    launch(spec);
    CHECK(asked() == Hosts{"porsche"});
    const auto& host = simulator.cluster().host("porsche");
    REQUIRE(connections.size() == 1);
    CHECK(connections.front().url == "https://" + host.ip + ":8006");
    CHECK(connections.front().tls.fingerprint_sha256 == host.certificate_fingerprint);
    CHECK_FALSE(connections.front().tls.insecure_skip_verify);
}

TEST_CASE_METHOD(OneEndpoint, "Unverified endpoints make no host unverified") {
    config.spec.proxmox->tls.insecureSkipVerify = true;
    restart();
    auto spec = with_image(1);
    launch(spec);
    REQUIRE(connections.size() == 1);
    CHECK(connections.front().tls.fingerprint_sha256);
    CHECK_FALSE(connections.front().tls.insecure_skip_verify);
}

TEST_CASE_METHOD(OneEndpoint, "An image for the endpoint's own host needs no other way") {
    images_to("alfaromeo");
    restart();
    auto spec = with_image(1);
    launch(spec);
    CHECK(asked() == Hosts{"alfaromeo"});
    CHECK(connections.empty());
}

TEST_CASE_METHOD(OneEndpoint,
                 "A host that cannot be reached, or shows another certificate, gets it through another") {
    SECTION("not reachable") {
        hosts_are_reachable = false;
    }
    SECTION("somebody else answers") {
        is_impersonated = true;
    }
    for (int number = 1; number < 3; ++number) {
        auto spec = with_image(number);
        launch(spec);
    }
    CHECK(asked() == Hosts{"alfaromeo", "alfaromeo"});
    CHECK(connections.size() == 1);  // the provider does not try it each time
}

TEST_CASE_METHOD(OneEndpoint, "Without the right to read addresses it goes through the endpoint") {
    simulator.cluster().world.custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    auto& acl = simulator.cluster().world.acl;
    simulator.cluster().world.custom_roles["Hosts"] = {"Sys.Audit"};
    acl.push_back({"/nodes", "user", "automation@pve", "Hosts", true});
    restart();
    auto spec = with_image(1);
    launch(spec);
    CHECK(asked() == Hosts{"alfaromeo"});
}

TEST_CASE_METHOD(OneEndpoint,
                 "Uploads that are cut off are tried again with growing pauses, and arrive once it is calm") {
    hosts_are_reachable = false;
    simulator.faults().slow_remote_shells(20s);
    auto spec = with_image(1);
    const auto message = try_for(spec, 5min);
    CHECK(count("POST", kUploads) >= 4);
    CHECK(count("POST", kUploads) <= 9);
    CHECK_THAT(message, Contains("Sys.Audit on /") && Contains("porsche"));
    // This is the machine's disk.
    CHECK(simulator.cluster().world.storages.at("local").volumes["porsche"].size() == 1);
    simulator.faults().slow_remote_shells(0s);
    try_for(spec, 2min);
    CHECK(vm(spec)->running);
}

TEST_CASE_METHOD(OneEndpoint,
                 "Waiting for a cut upload, a machine is not asked about again by whoever calls") {
    hosts_are_reachable = false;
    simulator.faults().slow_remote_shells(20s);
    auto spec = with_image(1);
    try_for(spec, 1min);
    log.clear();
    const auto first = ensure(spec);
    if (std::holds_alternative<NotReady>(first)) log.clear();
    for (int call = 0; call < 5; ++call) CHECK(std::holds_alternative<NotReady>(ensure(spec)));
    CHECK(log.empty());
}
