// play-variations TREE VARIATIONS: runs the operator against the Redfish service in a file, with a BMC that
// answers as each variation says. It writes the course and the result of each as JSON for variations.py,
// which judges it.
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <map>

#include "api/json.hpp"
#include "base/file.hpp"
#include "test/component/redfish/played_host.hpp"

namespace recorded {
namespace {

using api::v1alpha1::BootMethod;
using redfish_simulator::OddAnswer;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kStatedUuid = "5a0f1c2e-9d3b-4c77-8a61-0e9b7d24c813";
constexpr const char* kImage = "http://images.example.org/live.iso";
constexpr int kLooks = 10;

std::string text_of(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string path_of(const base::HttpRequest& request) {
    return redfish_player::key_of(request.target);
}

// Course holds what becomes true while a variation is played.
struct Course {
    std::optional<base::TimePoint> begun = {};
    std::optional<base::TimePoint> on_asked = {};
    bool is_expired = false;  // all sessions have ended
    std::string power = {};   // the last state seen
    std::string power_before = {};
    std::optional<base::TimePoint> power_changed = {};
};

class Variation {
public:
    Variation(const json::object& variation, PlayedHost& played, std::string chassis)
        : variation_(variation), played_(played), chassis_(std::move(chassis)) {
        const auto systems = played.player().tree().systems();
        system_ = systems.empty() ? "" : systems.front();
    }

    void begin() {
        course_.begun = now();
        const auto* answers = variation_.if_contains("answers");
        if (!answers) return;
        for (const auto& answer : answers->as_array()) add(answer.as_object());
    }
    void expire() {
        course_.is_expired = true;
        played_.player().expire_sessions();
    }
    // Returns the documents, with the names of places replaced by paths of the tree; nullopt if the tree
    // lacks a place.
    std::optional<json::object> changed(json::object documents) const {
        const auto* changes = variation_.if_contains("documents");
        if (!changes) return documents;
        std::map<std::string, json::array> members;  // new members of collections
        for (const auto& [name, change] : changes->as_object()) {
            const auto key = redfish_player::key_of(replaced(std::string(name)));
            auto text = json::serialize(change);
            for (auto at = text.find("\"SYSTEM\""); at != std::string::npos; at = text.find("\"SYSTEM\""))
                text.replace(at, 8, "\"" + system_ + "\"");
            const auto collection = key.substr(0, key.rfind('/'));
            if (name.starts_with("SYSTEM/")) members[collection].push_back(json::object{{"@odata.id", key}});
            if (!documents.contains(key)) documents[key] = json::object{{"@odata.id", key}};
            auto& document = documents[key].as_object();
            const auto parsed = json::parse(text);
            for (const auto& [property, value] : parsed.as_object()) document[property] = value;
        }
        for (auto& [collection, listed] : members) {
            auto& owner = documents[system_].as_object();
            if (!owner.contains("Processors")) owner["Processors"] = json::object{{"@odata.id", collection}};
            documents[collection] = json::object{{"@odata.id", collection}, {"Members", std::move(listed)}};
        }
        return documents;
    }

private:
    base::TimePoint now() const { return played_.world().clock.now(); }

    std::string replaced(std::string place) const {
        for (const auto& [name, value] :
             {std::pair<std::string, std::string>{"SYSTEM", system_}, {"CHASSIS", chassis_}}) {
            if (place.starts_with(name)) place.replace(0, name.size(), value);
        }
        return place;
    }

    bool is_place(const base::HttpRequest& request, const std::string& place) const {
        const auto path = path_of(request);
        if (place == "RESET") return path.ends_with("computersystem.reset");
        if (place == "SESSIONS") return path == played_.player().tree().sessions();
        if (place == "SLOT") {
            const auto* document = played_.player().tree().find(path);
            return document && text_of(*document, "@odata.type").starts_with("#VirtualMedia.");
        }
        auto wanted = redfish_player::key_of(replaced(place));
        if (!wanted.ends_with("/*")) return path == wanted;
        wanted.pop_back();
        return path.starts_with(wanted) && path.size() > wanted.size();
    }

    bool is_asked(const base::HttpRequest& request, const json::object& answer) const {
        const auto asked = text_of(answer, "request");
        if (asked == "any with Basic") return request.headers.find("Authorization").has_value();
        if (asked != "any") {
            const auto method =
                asked.starts_with("any ") ? asked.substr(4) : asked.substr(0, asked.find(' '));
            if (request.method != method) return false;
            const bool is_any = asked.starts_with("any ");
            if (!is_any && !is_place(request, asked.substr(asked.find(' ') + 1))) return false;
        }
        const auto* body = answer.if_contains("body");
        if (request.method == "POST" && body && body->is_object()) {
            const auto wanted = "\"" + text_of(body->get_object(), "ResetType") + "\"";
            if (request.body.find(wanted) == std::string::npos) return false;
        }
        return request.body.find(text_of(answer, "body_has")) != std::string::npos;
    }

    bool is_time(const base::HttpRequest& request, const json::object& answer) {
        const auto when = text_of(answer, "when");
        const bool is_plain = request.headers.find("Accept-Encoding") == "identity";
        if (const auto* span = answer.if_contains("for_seconds"))
            if (now() - *course_.begun > seconds{span->as_int64()}) return false;
        const auto within = [&](seconds span) {
            return course_.power_changed && now() - *course_.power_changed < span;
        };
        if (when.empty()) return true;
        if (when.find("sessions have ended") != std::string::npos) return course_.is_expired;
        if (when == "right after On was accepted") return course_.on_asked.has_value();
        if (when.starts_with("nine seconds after")) return within(seconds{9});
        if (when.starts_with("150 seconds after")) return within(seconds{150});
        if (when == "Accept-Encoding is identity") return is_plain;
        if (when == "identity is not asked for") return !is_plain;
        if (when == "inserted") {
            const auto* slot = played_.player().tree().find(path_of(request));
            return slot && slot->contains("Inserted") && slot->at("Inserted") == true;
        }
        if (when == "two sessions are open") return played_.player().open_sessions() >= 2;
        throw std::invalid_argument("when: " + when);
    }

    void note(const base::HttpRequest& request) {
        if (request.body.find("\"On\"") != std::string::npos && !course_.on_asked) course_.on_asked = now();
        const auto power = played_.player().power();
        if (power == course_.power) return;
        course_.power_before = course_.power;
        if (!course_.power.empty()) course_.power_changed = now();
        course_.power = power;
    }

    void add(const json::object& given) {
        OddAnswer odd;
        odd.is_for = [this, given](const base::HttpRequest& request) {
            note(request);
            return is_asked(request, given) && is_time(request, given);
        };
        if (const auto* times = given.if_contains("times")) odd.times = static_cast<int>(times->as_int64());
        if (const auto* delay = given.if_contains("delay_seconds")) odd.delay = seconds{delay->as_int64()};
        odd.is_lost = given.contains("connection");
        if (const auto* status = given.if_contains("status")) odd.instead = answer_of(given, *status);
        odd.alter = [this, given](const base::HttpRequest&, base::HttpResponse& response) {
            alter(given, response);
        };
        played_.odd().add(std::move(odd));
        const auto* task = given.if_contains("task");
        if (!task) return;
        OddAnswer of_task;
        of_task.is_for = redfish_simulator::requests("GET", "/TaskService/Tasks/variation");
        of_task.instead.emplace().status = 200;
        of_task.instead->body = json::serialize(*task);
        played_.odd().add(std::move(of_task));
    }

    static base::HttpResponse answer_of(const json::object& given, const json::value& status) {
        base::HttpResponse response;
        response.status = static_cast<int>(status.as_int64());
        if (const auto* error = given.if_contains("error")) {
            json::object wrapped{{"@Message.ExtendedInfo", json::array{*error}}};
            response.body = json::serialize(json::object{{"error", std::move(wrapped)}});
        }
        if (const auto* headers = given.if_contains("headers"))
            for (const auto& [name, value] : headers->as_object())
                response.headers.set(std::string(name), std::string(value.as_string()));
        if (given.contains("task"))
            response.headers.set("Location", "/redfish/v1/TaskService/Tasks/variation");
        return response;
    }

    void alter(const json::object& given, base::HttpResponse& response) const {
        const auto encoding = text_of(given, "encoding");
        if (!encoding.empty()) {
            response.headers.set("Content-Encoding", encoding);
            response.body = "\x1f\x8b compressed";
        }
        response.body += text_of(given, "append");
        const auto* merge = given.if_contains("merge");
        const auto* remove = given.if_contains("remove");
        if (response.status != 200 || (!merge && !remove)) return;
        auto document = json::parse(response.body).as_object();
        if (merge) {
            for (const auto& [name, value] : merge->as_object())
                document[name] = value == "(as before)" ? json::value(course_.power_before) : value;
        }
        if (remove)
            for (const auto& name : remove->as_array()) document.erase(std::string(name.as_string()));
        response.body = json::serialize(document);
    }

    json::object variation_;
    PlayedHost& played_;
    std::string system_;
    std::string chassis_;
    Course course_;
};

std::string ready_reason(const NodeSmithHost& host) {
    const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
    return ready ? ready->reason : std::string();
}

std::string chassis_of(redfish_player::Player& player) {
    const auto systems = player.tree().systems();
    const auto* system = systems.empty() ? nullptr : player.tree().find(systems.front());
    const auto* links = system ? system->if_contains("Links") : nullptr;
    const auto* chassis = links && links->is_object() ? links->get_object().if_contains("Chassis") : nullptr;
    if (!chassis || !chassis->is_array() || chassis->get_array().empty()) return "/none";
    return redfish_player::key_of(text_of(chassis->get_array().front().as_object(), "@odata.id"));
}

// Returns a host with every value stated that its BMC may lack, so that this does not matter here.
NodeSmithHost stated(const redfish_player::Tree& tree) {
    NodeSmithHost host;
    const auto systems = tree.systems();
    host.spec.bmc.systemID = systems.empty() ? "" : text_of(*tree.find(systems.front()), "Id");
    if (!systems.empty() && text_of(*tree.find(systems.front()), "UUID").empty())
        host.spec.systemUUID = kStatedUuid;
    host.spec.capacity.emplace().cpuCores = 8;
    host.spec.capacity->memoryMiB = 16384;
    return host;
}

json::object play(json::object documents, const json::object& variation) {
    const auto course = text_of(variation, "course");
    const bool wakes = course.starts_with("wake") || course.starts_with("as before");
    Play how;
    how.spec.boot.imageURL = kImage;
    how.spec.boot.method = course.find("VirtualMedia") != std::string::npos ? BootMethod::VirtualMedia
                           : course.find("PXE") != std::string::npos        ? BootMethod::PXE
                                                                            : BootMethod::Disk;
    const auto host = stated(redfish_player::Tree(documents));
    {
        PlayedHost names(documents, host, how);
        documents = *Variation(variation, names, chassis_of(names.player())).changed(std::move(documents));
    }
    PlayedHost played(std::move(documents), host, how);
    auto& player = played.player();
    player.set_power("Off");
    player.set_healthy();
    Variation odd(variation, played, chassis_of(player));
    if (wakes) played.examine();
    odd.begin();
    json::object result{{"name", text_of(variation, "name")}, {"finding", text_of(variation, "finding")}};
    if (wakes) {
        // The machine joins, whatever its BMC reports.
        const auto finding = text_of(variation, "finding");
        if (finding == "B-5" || finding == "B-6") played.world().inventory.ready_nodes.insert("recorded");
        result["woke"] = played.wake();
        result["outcome"] = played.outcome();
        if (result.at("woke").as_bool()) played.join();
        played.world().inventory.ready_nodes.clear();
        if (!result.at("woke").as_bool() || course.find("remove") != std::string::npos ||
            course.find("VirtualMedia") != std::string::npos) {
            result["asleep"] = played.sleep();
            result["parting"] = played.outcome();
        }
    } else {
        std::size_t most = 0;
        for (int look = 0; look < kLooks; ++look) {
            if (look == 3) odd.expire();
            played.examine();
            most = std::max(most, player.open_sessions());
            played.world().pass(minutes{1});
        }
        result["sessions"] = most;
        result["ready"] = ready_reason(played.host());
        result["status"] = api::encode(played.host());
    }
    json::array resets;
    for (const auto& each : player.exchanges())
        if (each.body.find("ResetType") != std::string::npos) resets.emplace_back(each.body);
    result["resets"] = std::move(resets);
    json::array announced;
    for (const auto& each : played.world().inventory.announced) announced.emplace_back(each);
    result["announced"] = std::move(announced);
    result["power"] = player.power();
    result["override"] = player.is_override_set();
    json::array images;
    for (const auto& image : player.tree().images()) images.emplace_back(image);
    result["images"] = std::move(images);
    return result;
}

int run(const std::string& tree, const std::string& file) {
    const auto documents = json::parse(base::read_file(tree)).as_object();
    const auto variations = json::parse(base::read_file(file)).as_object();
    json::array results;
    for (const auto& each : variations.at("cases").as_array()) {
        const auto& variation = each.as_object();
        try {
            results.push_back(play(documents, variation));
        } catch (const std::exception& error) {
            results.push_back(json::object{{"name", text_of(variation, "name")}, {"failed", error.what()}});
        }
    }
    std::cout << json::serialize(results) << '\n';
    return 0;
}

}  // namespace
}  // namespace recorded

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: play-variations TREE VARIATIONS\n";
        return 2;
    }
    try {
        return recorded::run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::cerr << "play-variations: " << error.what() << '\n';
        return 1;
    }
}
