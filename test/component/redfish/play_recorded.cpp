// play-recorded TREE: runs the operator against the Redfish service in a file (one JSON object from path to
// document). It writes the result as JSON for recorded.py, which judges it.
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>

#include "api/bytes.hpp"
#include "api/json.hpp"
#include "base/file.hpp"
#include "test/component/redfish/played_host.hpp"

namespace recorded {
namespace {

using api::v1alpha1::BootMethod;
using api::v1alpha1::PowerOffMode;

// Meddling is an action of somebody else between the operator's look at the host and its wake.
enum class Meddling { none, sets_override, turns_on };

struct Course {
    std::string name;
    BootMethod boot = BootMethod::Disk;
    PowerOffMode off = PowerOffMode::GracefulThenForce;
    bool hears_shutdown = true;
    Meddling meddling = Meddling::none;
    std::string http_uri = {};
    bool locks = false;
};

const Course kCourses[] = {
    {"graceful"},
    {"deaf", BootMethod::Disk, PowerOffMode::GracefulThenForce, false},
    {"forced", BootMethod::Disk, PowerOffMode::Force},
    {"PXE", BootMethod::PXE},
    {"UefiHttp", BootMethod::UefiHttp},  // the URL comes from DHCP
    {"UefiHttp-URI", BootMethod::UefiHttp, PowerOffMode::GracefulThenForce, true, Meddling::none,
     "http://images.example.org/boot.efi"},
    {"VirtualMedia", BootMethod::VirtualMedia},
    {"locked", BootMethod::Disk, PowerOffMode::GracefulThenForce, true, Meddling::none, "", true},
    {"overridden", BootMethod::PXE, PowerOffMode::GracefulThenForce, true, Meddling::sets_override},
    {"foreign", BootMethod::Disk, PowerOffMode::GracefulThenForce, true, Meddling::turns_on},
};

// A user must state values that a recording lacks, such as this one.
constexpr const char* kStatedUuid = "5a0f1c2e-9d3b-4c77-8a61-0e9b7d24c813";

template <class T>
json::array array_of(const std::vector<T>& values) {
    json::array result;
    for (const auto& value : values) result.emplace_back(value);
    return result;
}

std::string ready_reason(const NodeSmithHost& host) {
    const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
    return ready ? ready->reason : std::string();
}

std::string ready_message(const NodeSmithHost& host) {
    const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
    return ready ? ready->message : std::string();
}

json::object show(PlayedHost& played) {
    const auto& report = played.report();
    json::object told{{"cpuCores", report.cpu_cores},         {"memoryMiB", report.memory_mib},
                      {"macs", array_of(report.macs)},        {"systemUUID", report.system_uuid},
                      {"serialNumber", report.serial_number}, {"powerState", report.power_state}};
    return json::object{{"told", std::move(told)},
                        {"object", api::encode(played.host())},
                        {"ready", ready_reason(played.host())},
                        {"message", ready_message(played.host())}};
}

json::array show_exchanges(redfish_player::Player& player) {
    json::array result;
    for (const auto& each : player.exchanges())
        result.push_back(json::object{{"method", each.method},
                                      {"target", each.target},
                                      {"body", each.body},
                                      {"status", each.status},
                                      {"refused", each.refused},
                                      {"forbidden", each.is_forbidden}});
    return result;
}

// Sets the host to its state before the operator comes: off, and with `is_repaired` in good health.
void prepare(PlayedHost& played, bool is_repaired) {
    played.player().set_power("Off");
    if (is_repaired) played.player().set_healthy();
}

// Makes the host boot from the network each time, in legacy mode, as somebody else might. Returns false if
// this BMC refuses it.
bool set_other_override(redfish_player::Player& player) {
    const auto systems = player.tree().systems();
    if (systems.empty()) return false;
    base::HttpRequest request;
    request.method = "PATCH";
    request.target = systems.front();
    const redfish_simulator::Profile known;
    const auto credentials = api::Bytes{known.username + ":" + known.password}.str();
    request.headers.set("Authorization", "Basic " + credentials);
    request.body = R"({"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Continuous",)"
                   R"("BootSourceOverrideMode":"Legacy"}})";
    const bool is_taken = player.handle(request).status < 300;
    player.forget_exchanges();
    return is_taken;
}

// Plays the user's next try after the operator reported what is missing. Returns false if the user can state
// nothing that helps.
bool state_more(PlayedHost& played, NodeSmithHost& host, bool& is_repaired, json::array& stated) {
    const auto reason = ready_reason(played.host());
    const auto systems = played.player().tree().systems();
    const bool is_choice = ready_message(played.host()).find("spec.bmc.systemID") != std::string::npos;
    if (is_choice && host.spec.bmc.systemID.empty() && !systems.empty()) {
        const auto* chosen = played.player().tree().find(systems.front());
        host.spec.bmc.systemID = std::string(chosen->at("Id").as_string());
        stated.push_back("bmc.systemID");
    } else if (reason == "NoSystemUUID" && host.spec.systemUUID.empty()) {
        host.spec.systemUUID = kStatedUuid;
        stated.push_back("systemUUID");
    } else if (reason == "CapacityUnknown" && !host.spec.capacity) {
        host.spec.capacity = api::v1alpha1::HostCapacity{};
        host.spec.capacity->cpuCores = 8;
        host.spec.capacity->memoryMiB = 16384;
        stated.push_back("capacity");
    } else if (reason == "Critical" && !is_repaired) {
        is_repaired = true;
        stated.push_back("repair");
    } else {
        return false;
    }
    return true;
}

json::object run_course(const json::object& documents, const NodeSmithHost& host, bool is_repaired,
                        const Course& course) {
    Play play;
    play.spec.boot.method = course.boot;
    play.spec.boot.imageURL = "http://images.example.org/live.iso";
    play.spec.boot.httpBootURI = course.http_uri;
    play.spec.powerOff.mode = course.off;
    if (course.locks) play.spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    play.hears_shutdown = course.hears_shutdown;
    PlayedHost played(documents, host, play);
    auto& player = played.player();
    prepare(played, is_repaired);
    if (course.meddling == Meddling::sets_override && !set_other_override(player))
        return json::object{{"possible", false}};
    played.examine();
    if (course.meddling == Meddling::turns_on) player.set_power("On");
    json::object result{{"possible", true}, {"woke", played.wake()}, {"outcome", played.outcome()}};
    json::array boots;
    for (const auto& boot : player.boots())
        boots.push_back(json::object{{"target", boot.target},
                                     {"mode", boot.mode},
                                     {"uri", boot.http_uri},
                                     {"images", array_of(boot.images)}});
    result["boots"] = std::move(boots);
    if (result.at("woke").as_bool()) played.join();
    // A claim whose host did not wake releases it.
    result["asleep"] = played.sleep();
    result["parting"] = played.outcome();
    result["power"] = player.power();
    result["override"] = player.is_override_set();
    result["images"] = array_of(player.tree().images());
    result["exchanges"] = show_exchanges(player);
    return result;
}

int run(const std::string& file) {
    const auto documents = json::parse(base::read_file(file)).as_object();
    NodeSmithHost host;
    bool is_repaired = false;
    json::array stated;
    json::array looks;
    bool is_ready = false;
    while (true) {
        PlayedHost played(documents, host);
        prepare(played, is_repaired);
        played.examine();
        looks.push_back(show(played));
        is_ready = ready_reason(played.host()) == "Ready";
        if (is_ready || !state_more(played, host, is_repaired, stated)) break;
    }
    PlayedHost as_recorded(documents, host);
    as_recorded.examine();
    json::object courses;
    if (is_ready) {
        for (const auto& course : kCourses)
            courses[course.name] = run_course(documents, host, is_repaired, course);
    }
    const json::object result{{"recorded", show(as_recorded)},
                              {"stated", std::move(stated)},
                              {"looks", std::move(looks)},
                              {"courses", std::move(courses)}};
    std::cout << json::serialize(result) << '\n';
    return 0;
}

}  // namespace
}  // namespace recorded

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: play-recorded TREE\n";
        return 2;
    }
    try {
        return recorded::run(argv[1]);
    } catch (const std::exception& error) {
        std::cerr << "play-recorded: " << error.what() << '\n';
        return 1;
    }
}
