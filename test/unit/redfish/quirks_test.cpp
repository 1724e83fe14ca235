// Tests each habit of a vendor (docs/redfish.md) against a simulated BMC with that habit. Each test fails
// without the code that handles the habit.
#include "providers/capabilities.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using api::v1alpha1::BootMethod;
using redfish_simulator::Power;
using redfish_simulator::SlotKind;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

api::v1alpha1::RedfishSpec booting(BootMethod method) {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = method;
    spec.boot.imageURL = "https://images.example/{{ .Host }}.iso";
    return spec;
}

// Wakes a host with the method and puts it to sleep again. Returns what it booted from.
std::string booted(BootMethod method, Profile profile, std::vector<std::string> quirks = {}) {
    World world(booting(method));
    auto& bmc = world.add("a", std::move(profile));
    world.host("a").quirks = std::move(quirks);
    auto claim = world.claim("c");
    const bool awake = world.wake(claim);
    INFO(claim.outcome);
    CHECK(awake);
    const auto from = bmc.booted_from();
    world.joined("a");
    world.pass(minutes{5});
    const bool asleep = world.put_to_sleep(claim);
    INFO(claim.outcome);
    CHECK(asleep);
    return from;
}

}  // namespace

TEST_CASE("quirk 1: when the sessions have run out, leaked ones of ours are ended") {
    World world;
    for (const bool says_rac0218 : {false, true}) {
        const std::string name = says_rac0218 ? "idrac" : "other";
        auto& bmc = world.add(name, {.session_limit = 2, .full_is_rac0218 = says_rac0218});
        bmc.leak_session("kubenodesmith/uid-of-the-provider");
        bmc.leak_session("somebody else's");
        CHECK(world.examine(name).reason.empty());
        CHECK(bmc.sessions() == 2);
        CHECK(bmc.count("DELETE", "Sessions") == 1);
    }
}

TEST_CASE("quirk 1: without a session to be had Basic is used") {
    World world;
    auto& bmc = world.add("a", {.session_limit = 1});
    bmc.leak_session("somebody else's");
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.sessions() == 1);
}

TEST_CASE("quirk 1: one session serves all visits") {
    World world;
    auto& bmc = world.add("a", {.session_limit = 1});
    for (int i = 0; i < 10; ++i) {
        CHECK(world.examine("a").reason.empty());
        world.pass(minutes{10});
    }
    CHECK(bmc.count("POST", "Sessions") == 1);
    bmc.expire_sessions();
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.count("POST", "Sessions") == 2);
}

TEST_CASE("quirk 2: a BMC that is not ready is asked again, whatever status it says so with") {
    for (const bool as_400 : {false, true}) {
        World world;
        world.add("a", {.vendor = "Dell",
                        .error_is_object = true,
                        .not_ready_until = seconds{3},
                        .not_ready_is_400 = as_400});
        CHECK(world.examine("a").reason.empty());
        world.add("b", {.vendor = "Dell", .error_is_object = true, .not_ready_until = minutes{10}});
        const auto report = world.examine("b");
        CHECK(report.reason == "Busy");
        CHECK(report.retry_after >= seconds{2});
    }
}

TEST_CASE("quirk 3: On is refused with a conflict for a while after Off") {
    World world;
    world.add("a", {.conflict_after_off = seconds{60}});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
}

TEST_CASE("what a BMC calls itself is a label of a metric only if it is a vendor that is known") {
    const auto label_of = [](const std::string& vendor) {
        World world;
        world.add("a", {.vendor = vendor, .conflict_after_off = seconds{60}});
        auto claim = world.claim("c");
        CHECK(world.wake(claim));
        const auto text = world.metrics.exposition();
        CHECK(text.find(R"(retries_total{namespace="default",provider="rack",)") != std::string::npos);
        const auto at = text.find("vendor=\"") + 8;
        return text.substr(at, text.find('"', at) - at);
    };
    CHECK(label_of("Dell Inc.") == "Dell");
    CHECK(label_of("Made\nup") == "other");
}

TEST_CASE("quirk 4: boot settings that live on the settings object are written there") {
    CHECK(booted(BootMethod::PXE, {.boot_on_settings = true}) == "Pxe");
}

TEST_CASE("quirk 5: iDRAC would boot its physical drive, which is said before anything is asked of it") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.vendor = "Dell", .manufacturer = "Dell Inc."});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("Unsupported") == 0);
    CHECK(claim.outcome.find("physical drive") != std::string::npos);
    CHECK(bmc.count("POST", "InsertMedia") == 0);
    CHECK(bmc.power() == Power::off);
    CHECK(claim.outcome.find("UefiHttp") == std::string::npos);
    CHECK(booted(BootMethod::VirtualMedia, {.manufacturer = "Dell Inc."}, {"cd"}) == "Cd");
}

TEST_CASE("quirk 6: a BMC in POST is left to finish it") {
    // The override is set while the host is off; only its removal can happen during POST.
    CHECK(booted(BootMethod::PXE, {.post = minutes{2}}) == "Pxe");
}

TEST_CASE("quirk 7: good credentials that are refused once are tried a second time") {
    World world;
    auto& bmc = world.add("a", {.has_sessions = false});
    CHECK(world.examine("a").reason.empty());
    bmc.profile().lost_credentials = 1;
    CHECK(world.examine("a").reason.empty());
}

TEST_CASE("a session that ended when there is no room for another does not make good credentials bad") {
    World world;
    auto& bmc = world.add("a", {.session_limit = 1, .session_timeout = seconds{20}});
    CHECK(world.examine("a").reason.empty());
    world.pass(seconds{30});
    base::HttpRequest somebody_else;
    somebody_else.method = "POST";
    somebody_else.target = "/redfish/v1/SessionService/Sessions";
    somebody_else.body =
        R"({"UserName":")" + Profile{}.username + R"(","Password":")" + Profile{}.password + R"("})";
    REQUIRE(bmc.handle(somebody_else).status == 201);
    CHECK(world.examine("a").reason.empty());
}

TEST_CASE("quirk 7: ejecting sends a body, and Disabled goes with a real target") {
    CHECK(booted(BootMethod::VirtualMedia, {.disabled_wants_target = true, .eject_wants_body = true}) ==
          "Cd");
}

TEST_CASE("quirk 8: what is left out of a boot change reverts, so all is sent") {
    CHECK(booted(BootMethod::PXE, {.forgets_partial_boot = true}) == "Pxe");
}

TEST_CASE("quirk 9: Supermicro boots virtual CDs as UsbCd, but for one model") {
    const Profile supermicro{.manufacturer = "Supermicro", .boots_usb_cd = true};
    CHECK(booted(BootMethod::VirtualMedia, supermicro) == "UsbCd");
    auto exception = supermicro;
    exception.model = "ARS-111GL-NHR";
    CHECK(booted(BootMethod::VirtualMedia, exception) == "Cd");
    CHECK(booted(BootMethod::VirtualMedia, {.boots_usb_cd = true}, {"usbCd"}) == "UsbCd");
}

TEST_CASE("quirk 10: media is inserted with the smallest body first, and a stale image name is no medium") {
    CHECK(booted(BootMethod::VirtualMedia, {.refuses_extras = true, .keeps_image_name = true}) == "Cd");
}

TEST_CASE("quirk 10: a missing licence is said and not tried again") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.needs_licence = true});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("LicenseRequired") == 0);
    CHECK(bmc.count("POST", "InsertMedia") == 1);
}

TEST_CASE("quirk 11: media is inserted by PATCH where there is no action, and not into slots for uploads") {
    const Profile lenovo{.slots = {{"RDOC1", SlotKind::upload_only}, {"EXT1", SlotKind::by_patch}}};
    CHECK(booted(BootMethod::VirtualMedia, lenovo) == "Cd");
}

TEST_CASE("quirk 11: ETags that the BMC does not accept are given up step by step") {
    CHECK(booted(BootMethod::PXE, {.weak_header = true}) == "Pxe");
    CHECK(booted(BootMethod::PXE, {.refuses_tags = true}) == "Pxe");
    CHECK(booted(BootMethod::PXE, {.demands_tag = true}) == "Pxe");
    CHECK(booted(BootMethod::PXE, {.demands_tag = true, .hides_tags = true}) == "Pxe");
}

TEST_CASE("quirk 11: a boot change that is answered with 202 is waited for") {
    CHECK(booted(BootMethod::PXE, {.boot_job = seconds{15}}) == "Pxe");
}

TEST_CASE("quirk 12: a boot change is sent in full, and without the mode where that is refused") {
    CHECK(booted(BootMethod::PXE, {.wants_full_boot = true}) == "Pxe");
    CHECK(booted(BootMethod::PXE, {.reports_mode = false}) == "Pxe");
    CHECK(booted(BootMethod::PXE, {.reports_mode = false}, {"fullBoot"}) == "Pxe");
}

TEST_CASE("quirk 13: reset types told only by ActionInfo, and slots that only the web page can use") {
    const Profile openbmc{.resets_in_action_info = true,
                          .slots = {{"Slot_0", SlotKind::websocket}, {"Slot_1", SlotKind::by_action}},
                          .wants_protocol = true,
                          .wants_method = true};
    CHECK(booted(BootMethod::VirtualMedia, openbmc) == "Cd");
}

TEST_CASE("quirk 13: a host whose ActionInfo offers no GracefulShutdown is turned off by force") {
    World world;
    auto& bmc = world.add("a", {.resets_in_action_info = true, .no_graceful_shutdown = true});
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("quirk 14: 'already so' is success, and what a BMC remembers of its power is not believed") {
    CHECK(booted(BootMethod::Disk, {.complains_if_already = true}) == "Hdd");
    World world;
    auto& bmc = world.add("a", {.remembers_power = seconds{60}});
    world.examine("a");
    auto claim = world.claim("c");
    // The claim is removed right after its host was turned on, while the BMC still says Off.
    for (int i = 0; i < 3; ++i) world.ensure(claim);
    CHECK(bmc.count("POST", "Reset") == 1);
    world.pass(seconds{5});
    CHECK(bmc.power() == Power::on);
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("quirk 14: an insert is not skipped because the slot looks taken") {
    World world(booting(BootMethod::VirtualMedia));
    auto& bmc = world.add("a", {.inserted_lingers = seconds{4}});
    bmc.media("Cd") = {"https://images.example/another.iso", true, {}};
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.count("POST", "EjectMedia") == 1);
    CHECK(bmc.count("POST", "InsertMedia") >= 1);
}

TEST_CASE("quirk 15: a reset that is dropped during another one is made again") {
    World world;
    auto& bmc =
        world.add("a", {.power_on = seconds{11}, .drops_second_reset = true, .only_continuous = true});
    auto claim = world.claim("c");
    for (int i = 0; i < 3; ++i) world.ensure(claim);
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    CHECK(booted(BootMethod::PXE, {.only_continuous = true}) == "Pxe");
}

TEST_CASE("links may need a slash, redirect, be paged, or carry a name that only the BMC knows") {
    for (const auto& profile :
         {Profile{.wants_trailing_slash = true}, Profile{.redirects_slash = true},
          Profile{.absolute_links = true}, Profile{.refuses_identity = true}, Profile{.empty_mac = true}}) {
        World world;
        world.add("a", profile);
        const auto report = world.examine("a");
        INFO(report.message);
        CHECK(report.reason.empty());
        CHECK(report.macs == std::vector<std::string>{"52:54:00:aa:bb:01"});
    }
    World world;
    world.add("a", {.page_size = 1, .systems = 3});
    world.host("a").system_uuid.clear();
    CHECK(world.examine("a").message.find("spec.bmc.systemID") != std::string::npos);
    world.host("a").bmc.system_id = "Blade1";
    CHECK(world.examine("a").reason.empty());
}

TEST_CASE("cores and memory are read wherever the BMC tells them") {
    World world;
    world.add("a", {.processors = 24, .memory_gib = 31.5, .tells_processors = false});
    const auto report = world.examine("a");
    CHECK(report.cpu_cores == 24);
    CHECK(report.memory_mib == 32256);
}

TEST_CASE("wrong credentials are sent once each way, not until the account is locked") {
    for (const bool has_sessions : {true, false}) {
        World world;
        auto& bmc = world.add("a", {.has_sessions = has_sessions});
        world.host("a").bmc.credentials = providers::SecretName{"own", ""};
        world.inventory.secrets["own"] = {{"username", "admin"}, {"password", "wrong"}};
        for (int i = 0; i < 10; ++i) {
            const auto report = world.examine("a");
            CHECK(report.reason == "Unauthorized");
            CHECK(report.message.find("wrong") == std::string::npos);
            world.pass(minutes{2});
        }
        // The operator also tried Basic, in case only sessions are switched off.
        CHECK(bmc.wrong_passwords() == (has_sessions ? 2 : 1));
        world.inventory.secrets["own"]["password"] = Profile{}.password;
        CHECK(world.examine("a").reason.empty());
    }
}

TEST_CASE("a BMC that knows no Context is logged in to without one") {
    World world;
    auto& bmc = world.add("a", {.knows_context = false});
    CHECK(world.examine("a").reason.empty());
    CHECK(bmc.sessions() == 1);
}

TEST_CASE("sessions end with the process") {
    World world;
    std::vector<Bmc*> bmcs{&world.add("a"), &world.add("b", {.has_sessions = false})};
    for (const auto* name : {"a", "b"}) CHECK(world.examine(name).reason.empty());
    CHECK(bmcs[0]->sessions() == 1);
    auto& holder = *world.provider->capabilities().session_holder;
    const auto end = [](providers::SessionHolder& sessions) -> asio::awaitable<bool> {
        co_await sessions.end_sessions();
        co_return true;
    };
    CHECK(world.run(end(holder)));
    CHECK(bmcs[0]->sessions() == 0);
    CHECK(bmcs[1]->count("DELETE", "") == 0);
}

TEST_CASE("the power of a host that is on is read seldom, wherever the BMC tells it") {
    for (const bool in_power : {false, true}) {
        World world;
        auto& bmc = world.add("a", {.watts = 180, .has_power_only = in_power});
        CHECK_FALSE(world.examine("a").power_watts);
        bmc.set_power(Power::on);
        for (int i = 0; i < 4; ++i) {
            CHECK(world.examine("a").power_watts == 180);
            world.pass(minutes{2});
        }
        CHECK(bmc.count("GET", in_power ? "Box/Power" : "Box/EnvironmentMetrics") == 1);
        bmc.set_power(Power::off);
        CHECK_FALSE(world.examine("a").power_watts);
    }
    World world;
    auto& bmc = world.add("a");
    bmc.set_power(Power::on);
    for (int i = 0; i < 3; ++i) CHECK_FALSE(world.examine("a").power_watts);
    CHECK(bmc.count("GET", "Chassis") == 1);
}

TEST_CASE("sessions end when the credentials change or the host goes") {
    World world;
    auto& bmc = world.add("a");
    world.examine("a");
    CHECK(bmc.sessions() == 1);
    world.host("a").quirks = {"basicAuth"};
    world.examine("a");
    CHECK(bmc.sessions() == 0);
    world.host("a").quirks = {};
    world.examine("a");
    CHECK(bmc.sessions() == 1);
    world.inventory.objects.erase("a");
    world.run(world.provider->offerings());
    CHECK(bmc.sessions() == 0);
}

TEST_CASE("a dead BMC is asked less and less, and first without credentials when it comes back") {
    World world;
    world.add("a");
    world.network.unplug("https://a");
    for (int i = 0; i < 3; ++i) CHECK(world.examine("a").reason == "Unreachable");
    const auto calls = world.network.calls;
    CHECK(world.examine("a").retry_after > seconds{0});
    CHECK(world.network.calls == calls);
    world.network.plug_in("https://a");
    world.pass(minutes{11});
    CHECK(world.examine("a").reason.empty());
    CHECK(world.bmc("a").exchanges().front().target == "/redfish/v1/");
}

TEST_CASE("an unknown quirk is refused with those that are known") {
    World world;
    world.add("a");
    world.host("a").quirks = {"usbcd"};
    const auto report = world.examine("a");
    CHECK(report.reason == "InvalidHost");
    CHECK(report.message.find("usbCd") != std::string::npos);
}

TEST_CASE("quirk 11: a BMC that returns another ETag each time is written without one") {
    World world(booting(BootMethod::PXE));
    auto& bmc = world.add("a");
    int reads = 0;
    world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Systems/Blade1"),
                        .alter = [&reads](const base::HttpRequest& request, base::HttpResponse& response) {
                            redfish_simulator::merging(R"({"@odata.etag":"\")" + std::to_string(++reads) +
                                                       R"(\""})")(request, response);
                        }});
    world.odd("a").add({.is_for =
                            [](const base::HttpRequest& request) {
                                return request.method == "PATCH" && request.headers.find("If-Match");
                            },
                        .instead = redfish_simulator::refusal(412, "PreconditionFailed")});
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
    CHECK(bmc.booted_from() == "Pxe");
}

TEST_CASE("a BMC that redirects to another server is told of with that server") {
    World world;
    world.add("a");
    base::HttpResponse elsewhere;
    elsewhere.status = 301;
    elsewhere.headers.set("Location", "https://user:secret@bmc.example/redfish/v1/?key=secret");
    world.odd("a").add({.is_for = redfish_simulator::requests("GET", ""), .instead = elsewhere});
    const auto report = world.examine("a");
    CHECK_THAT(report.message, Catch::Contains("https://bmc.example)"));
    CHECK(report.message.find("secret") == std::string::npos);
}
