// Tests what real BMCs report about a host, right and wrong. A bad field only loses that field, and a missing
// collection only what depends on it.
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::Power;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

api::v1alpha1::RedfishSpec booting(api::v1alpha1::BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = "https://images.example/x.iso";
    return spec;
}

// Returns what the host booted from.
std::string booted(api::v1alpha1::BootMethod method, Profile profile) {
    World world(booting(method));
    auto& bmc = world.add("a", std::move(profile));
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    return bmc.booted_from();
}

bool is_flawed(const providers::HostReport& report, const std::string& part) {
    return std::ranges::any_of(
        report.flaws, [&part](const std::string& flaw) { return flaw.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("addresses that are none, or that two cards have, are left out and named") {
    World world;
    std::string infiniband = "80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:50:49:81";
    world.add("a", {.macs = {"52:54:00:AA:BB:01", "52-54-00-aa-bb-01", "not available", infiniband, ""},
                    .empty_mac = true});
    const auto report = world.examine("a");
    CHECK(report.reason.empty());
    CHECK(report.macs == std::vector<std::string>{"52:54:00:aa:bb:01"});
    CHECK(report.flaws.size() == 3);
    CHECK(is_flawed(report, "two EthernetInterfaces have it"));
    CHECK(is_flawed(report, "InfiniBand"));
}

TEST_CASE("a serial number and counts that cannot be are left out and named") {
    World world;
    world.add("a", {.processors = 1 << 30, .memory_gib = 1e9, .serial_number = std::string(500, 'x')});
    const auto report = world.examine("a");
    CHECK(report.reason.empty());
    CHECK(report.serial_number.empty());
    CHECK(report.cpu_cores == 0);
    CHECK(report.memory_mib == 0);
    CHECK(report.flaws.size() == 3);
}

TEST_CASE("a host whose network cards cannot be read is woken from its disk") {
    World world;
    world.add("a", {.lacks_interfaces = true});
    const auto report = world.examine("a");
    CHECK(report.reason.empty());
    CHECK(report.macs.empty());
    CHECK(is_flawed(report, "EthernetInterfaces"));
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
}

TEST_CASE("where only cores are counted the processors tell their threads") {
    World world;
    world.add("a", {.processors = 128, .tells_cores_only = true});
    CHECK(world.examine("a").cpu_cores == 128);
}

TEST_CASE("spec.systemUUID identifies a host whose BMC tells none") {
    World world;
    const std::string uuid = "4c4c4544-0042-3510-8054-b4c04f4d3132";
    auto& bmc = world.add("a", {.uuid = ""});
    CHECK(world.examine("a").system_uuid.empty());
    world.host("a").pinned_uuid = uuid;
    world.host("a").system_uuid = uuid;
    CHECK(world.examine("a").system_uuid == uuid);
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(claim.identity.system_uuid == uuid);
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    // A machine that reports another UUID is another machine.
    bmc.profile().uuid = "99999999-0042-3510-8054-b4c04f4d3132";
    CHECK(world.examine("a").system_uuid == bmc.profile().uuid);
}

TEST_CASE("disks and the speeds of ports are told") {
    World world;
    world.add("a", {.drives = 3, .port_gbps = {25, 25, 1}});
    const auto report = world.examine("a");
    CHECK(report.disks == std::vector<providers::DiskGroup>{{"NVMe", 960, 3}});
    CHECK(report.ports == std::vector<providers::PortGroup>{{1000, 1}, {25000, 2}});
}

TEST_CASE("of several systems one has to be chosen, and the choices are told") {
    World world;
    world.add("a", {.systems = 2});
    world.host("a").system_uuid.clear();
    auto report = world.examine("a");
    CHECK(report.reason == "SystemNotChosen");
    CHECK(report.message.find("/redfish/v1/Systems/Blade1, /redfish/v1/Systems/Blade2") != std::string::npos);
    world.host("a").bmc.system_id = "Blade7";
    report = world.examine("a");
    CHECK(report.reason == "SystemNotChosen");
    CHECK(report.message.find("Blade2") != std::string::npos);
    world.host("a").bmc.system_id = "Blade1";
    CHECK(world.examine("a").reason.empty());
}

TEST_CASE("media slots are found though the system does not say what manages it") {
    World world(booting(api::v1alpha1::BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.links_manager = false, .media_on_manager = true});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Cd");
}

TEST_CASE("an iDRAC boots virtual media from firmware 6.00 on, however it is recognized as one") {
    const auto with = [](Profile profile, std::string firmware, std::string model) {
        profile.firmware = std::move(firmware);
        profile.manager_model = std::move(model);
        return profile;
    };
    const std::vector<Profile> dells{
        {.manufacturer = "Dell Inc."}, {.vendor = "Dell"}, {.vendor = "", .oem = {"Dell"}}};
    for (auto dell : dells) {
        if (dell.manufacturer == "Contoso") dell.manufacturer.clear();
        CHECK(booted(api::v1alpha1::BootMethod::VirtualMedia, with(dell, "6.00.30.00", "15G Monolithic")) ==
              "Cd");
        CHECK(booted(api::v1alpha1::BootMethod::VirtualMedia, with(dell, "7.10.30.00", "16G Monolithic")) ==
              "Cd");
        CHECK(booted(api::v1alpha1::BootMethod::VirtualMedia, with(dell, "1.20.25.00", "17G Monolithic")) ==
              "Cd");
        for (const auto* old : {"2.65.65.65", "5.10.50.00"}) {
            World world(booting(api::v1alpha1::BootMethod::VirtualMedia));
            auto& bmc = world.add("a", with(dell, old, "14G Monolithic"));
            auto claim = world.claim("c");
            CHECK_FALSE(world.wake(claim));
            CHECK(claim.outcome.find(old) != std::string::npos);
            CHECK(bmc.count("POST", "InsertMedia") == 0);
        }
    }
}

TEST_CASE("an override that somebody else left is replaced if its mode or its duration differ") {
    World world(booting(api::v1alpha1::BootMethod::PXE));
    auto& bmc = world.add("a");
    const auto patches_after = [&](const char* enabled, const char* mode) {
        bmc.set_boot("Pxe", enabled, mode);
        const auto before = bmc.count("PATCH", "Systems");
        auto claim = world.claim(std::string("c") + enabled + mode);
        CHECK(world.wake(claim));
        const auto after = bmc.count("PATCH", "Systems");
        CHECK(world.put_to_sleep(claim));
        world.host("a").readiness = providers::HostReadiness{true, ""};  // the host has been examined
        return after - before;
    };
    CHECK(patches_after("Once", "UEFI") == 0);
    CHECK(patches_after("Continuous", "UEFI") == 1);
    CHECK(patches_after("Once", "Legacy") == 1);
}

TEST_CASE("credentials that a BMC refused are not sent again by the next process, until they change") {
    World world;
    auto& bmc = world.add("a");
    world.config.credentials["password"] = "wrong";
    world.restart();
    auto report = world.examine("a");
    CHECK(report.reason == "Unauthorized");
    CHECK(report.refused_credentials == "bmc@1");
    CHECK(bmc.wrong_passwords() == 2);
    world.host("a").refused_credentials = report.refused_credentials;
    for (int i = 0; i < 5; ++i) {
        world.restart();
        world.pass(std::chrono::hours{7});
        CHECK(world.examine("a").refused_credentials == "bmc@1");
    }
    CHECK(bmc.wrong_passwords() == 2);
    world.config.credentials["password"] = bmc.profile().password;
    world.config.credentials_version = "bmc@2";
    world.restart();
    CHECK(world.examine("a").reason.empty());
}

TEST_CASE("an account that many BMCs ask one directory for fails at two of them, not at all") {
    World world;
    for (int i = 0; i < 9; ++i) world.add(std::string(1, static_cast<char>('a' + i)));
    world.config.credentials["password"] = "wrong";
    world.restart();
    std::size_t refusals = 0;
    for (const auto& [name, host] : world.inventory.objects)
        CHECK(world.examine(name).reason == "Unauthorized");
    for (const auto& [name, host] : world.inventory.objects) refusals += world.bmc(name).wrong_passwords();
    CHECK(refusals == 2);
    SECTION("but where one accepts it, it is only that BMC's matter") {
        world.config.credentials["password"] = world.bmc("a").profile().password;
        world.config.credentials_version = "bmc@2";
        world.restart();
        for (const auto* name : {"b", "c", "d"}) world.bmc(name).profile().password = "another";
        CHECK(world.examine("a").reason.empty());
        for (const auto* name : {"b", "c", "d"}) CHECK(world.examine(name).reason == "Unauthorized");
        CHECK(world.examine("e").reason.empty());
    }
}

TEST_CASE("what the tree tells of processors, firmware and model is in the report") {
    World world;
    auto& bmc = world.add("a", {.firmware = "1.17", .tells_processors = false});
    bmc.profile().manufacturer = "Contoso";
    bmc.profile().model = "Standard 1U";
    world.odd("a").add(
        {.is_for =
             [](const base::HttpRequest& request) {
                 return request.target.ends_with("/Processors/1") ||
                        request.target.ends_with("/Processors/2");
             },
         .alter =
             [](const base::HttpRequest& request, base::HttpResponse& response) {
                 const bool is_first = request.target.ends_with("1");
                 response.body =
                     is_first ? R"({"ProcessorType":"CPU","InstructionSet":"ARM-A64","TotalThreads":72})"
                              : R"({"ProcessorType":"GPU","Manufacturer":"Contoso","Model":"G1"})";
             }});
    world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Systems/Blade1"),
                        .alter = redfish_simulator::merging(R"({"BiosVersion":"2.4"})")});
    const auto report = world.examine("a");
    CHECK(report.model == "Contoso Standard 1U");
    CHECK(report.bios_version == "2.4");
    CHECK(report.bmc_version == "1.17");
    CHECK(report.architecture == "arm64");
    CHECK(report.cpu_cores == 72);
    CHECK(report.accelerators == std::vector<providers::AcceleratorGroup>{{"GPU", "Contoso G1", 1}});
}

TEST_CASE("a serial number of blanks is none, and a product's number is no serial number") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Systems/Blade1"),
                        .alter = redfish_simulator::merging(R"({"SerialNumber":"        ","SKU":"R1-U1"})")});
    const auto report = world.examine("a");
    CHECK(report.serial_number.empty());
    CHECK(report.flaws.empty());
}

TEST_CASE("a controller that tells of hundreds of disks costs no more than the status of a host holds") {
    World world;
    world.add("a");
    const std::string simple = "/redfish/v1/Systems/Blade1/SimpleStorage";
    const std::string linked = R"({"Storage":null,"SimpleStorage":{"@odata.id":")" + simple + R"("}})";
    world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Systems/Blade1"),
                        .alter = redfish_simulator::merging(linked)});
    base::HttpResponse storage;
    storage.status = 200;
    storage.body = R"({"Members":[{"@odata.id":")" + simple + R"(/1"}],"Devices":[)";
    for (int gigabytes = 1; gigabytes <= 300; ++gigabytes)
        storage.body += (gigabytes > 1 ? "," : "") + std::string(R"({"CapacityBytes":)") +
                        std::to_string(gigabytes) + "000000000}";
    storage.body += "]}";
    world.odd("a").add({.is_for =
                            [](const base::HttpRequest& request) {
                                return request.target.find("SimpleStorage") != std::string::npos;
                            },
                        .instead = storage});
    CHECK(world.examine("a").disks.size() == 48);
}
