// Tests which host a claim gets, and whether waiting for a host is worthwhile.
#include "providers/redfish/hosts/selection.hpp"
#include "test/support/catch.hpp"

using namespace providers;
using namespace providers::redfish;

namespace {

HostPointer host(const std::string& name, std::int64_t cpu_cores, std::int64_t memory_mib) {
    auto result = std::make_shared<Host>();
    result->name = name;
    auto& capacity = result->capacity.emplace();
    capacity.cpu_cores = cpu_cores;
    capacity.memory_mib = memory_mib;
    return result;
}

MachineSpec machine(std::int64_t cpu_cores) {
    MachineSpec spec;
    spec.cpu_cores = cpu_cores;
    spec.memory_mib = 4096;
    return spec;
}

}  // namespace

TEST_CASE("a host of another architecture is no candidate") {
    const RedfishSettings settings;
    auto arm = std::make_shared<Host>(*host("a", 8, 32768));
    arm->readiness = HostReadiness{true, ""};
    arm->architecture = "arm64";
    auto wanted = machine(4);
    CHECK(choose_host({arm}, wanted, settings, {}).host);
    wanted.architecture = "amd64";
    const auto choice = choose_host({arm}, wanted, settings, {});
    CHECK_FALSE(choice.host);
    CHECK(choice.why_not.find("is arm64") != std::string::npos);
    wanted.architecture = "arm64";
    CHECK(choose_host({arm}, wanted, settings, {}).host);
}

TEST_CASE("a machine larger than every host is waited for in vain, one that a busy host could take is not") {
    const RedfishSettings settings;
    std::vector<HostPointer> hosts{host("a", 8, 32768), host("b", 16, 65536)};  // none has been examined
    CHECK(choose_host(hosts, machine(32), settings, {}).is_permanent);
    CHECK_FALSE(choose_host(hosts, machine(16), settings, {}).is_permanent);
    // The capacity of a host is unknown until it was on for the first time.
    hosts.push_back(host("c", 0, 0));
    CHECK_FALSE(choose_host(hosts, machine(32), settings, {}).is_permanent);
    CHECK_FALSE(choose_host({}, machine(1), settings, {}).is_permanent);
}
