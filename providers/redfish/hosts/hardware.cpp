#include "providers/redfish/hosts/hardware.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr std::size_t kMostMembers = 256;
constexpr std::size_t kMostPages = 16;
constexpr std::string_view kAssetTag = "AssetTag";

RedfishError failure(ErrorKind kind, const std::string& tried, std::string message) {
    Complaint complaint;
    complaint.kind = kind;
    complaint.message = std::move(message);
    return RedfishError(tried, std::move(complaint));
}

std::string without_slash(std::string text) {
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

}  // namespace

Hardware::Hardware(Bmc& bmc, std::string system_id, std::string uuid, Quirks quirks)
    : bmc_(bmc), system_id_(std::move(system_id)), uuid_(std::move(uuid)), quirks_(std::move(quirks)) {}

asio::awaitable<std::vector<std::string>> Hardware::members(std::string collection) {
    std::vector<std::string> links;
    for (std::size_t page = 0; page < kMostPages && !collection.empty(); ++page) {
        const auto resource = co_await bmc_.get(collection);
        const auto more = links_at(resource.body, "Members");
        links.insert(links.end(), more.begin(), more.end());
        collection = text_at(resource.body, "Members@odata.nextLink");
        if (links.size() >= kMostMembers) break;
    }
    co_return links;
}

asio::awaitable<bool> Hardware::is_wanted(std::string link) {
    const auto path = without_slash(link);
    const auto last = path.substr(path.find_last_of('/') + 1);
    if (path == without_slash(system_id_) || last == system_id_) co_return true;
    const auto resource = co_await bmc_.get(link);
    co_return text_at(resource.body, "Id") == system_id_ ||
        base::same_uuid(text_at(resource.body, "UUID"), system_id_);
}

asio::awaitable<std::string> Hardware::find_system() {
    const std::string tried = "looking for the system of " + bmc_.host();
    const auto root = co_await bmc_.root();
    const auto all = co_await members(link_at(root, "Systems"));
    if (all.empty()) throw failure(ErrorKind::not_found, tried, "the BMC tells of no system");
    const auto names = base::joined(all);
    if (system_id_.empty()) {
        if (all.size() == 1) co_return all.front();
        throw failure(ErrorKind::system_not_chosen, tried,
                      "the BMC has several; set spec.bmc.systemID to one of " + names);
    }
    for (const auto& link : all) {
        const bool wanted = co_await is_wanted(link);
        if (wanted) co_return link;
    }
    throw failure(ErrorKind::system_not_chosen, tried,
                  "the BMC has none with spec.bmc.systemID " + system_id_ + "; it has " + names);
}

asio::awaitable<System> Hardware::system() {
    const bool was_known = !system_link_.empty();
    if (!was_known) system_link_ = co_await find_system();
    try {
        const auto resource = co_await bmc_.get(system_link_);
        auto system = parse_system(resource);
        if (system.uuid.empty()) system.uuid = uuid_;
        co_return system;
    } catch (const RedfishError& error) {
        if (error.kind() == ErrorKind::not_found) system_link_.clear();
        throw;
    }
}

asio::awaitable<std::optional<std::int64_t>> Hardware::power_watts(std::string meter) {
    const auto resource = co_await bmc_.find(std::move(meter));
    if (!resource) co_return std::nullopt;
    co_return watts_of(resource->body);
}

asio::awaitable<std::vector<std::string>> Hardware::reset_types(System system) {
    if (!system.resets.empty()) co_return system.resets;
    if (resets_in_action_info_.empty() && !system.action_info_link.empty()) {
        const auto info = co_await bmc_.find(system.action_info_link);
        if (info) resets_in_action_info_ = reset_types_of(info->body);
    }
    co_return resets_in_action_info_;
}

asio::awaitable<ResetAnswer> Hardware::reset(System system, PowerGoal goal) {
    const std::string tried = (goal == PowerGoal::on ? "turning on " : "turning off ") + bmc_.host();
    const auto allowable = co_await reset_types(system);
    const auto type = reset_type(goal, allowable);
    if (!type || system.reset_link.empty())
        throw failure(ErrorKind::unsupported, tried, "the BMC offers no such reset type");
    json::object body;
    body["ResetType"] = *type;
    try {
        co_await bmc_.post(tried, system.reset_link, std::move(body));
        co_return ResetAnswer::taken;
    } catch (const RedfishError& error) {
        // Whether it is so already, or will be, is read back; a conflict may also pass (iDRAC10 refuses On
        // for a minute after Off).
        const bool is_lost = error.kind() == ErrorKind::outcome_unknown;
        const bool is_read_back =
            is_lost || error.kind() == ErrorKind::state_conflict || error.complaint.says("NoOperation");
        if (!is_read_back) throw;
        bmc_.note_quirk(error.complaint.known_id().value_or("ResetConflict"));
        co_return is_lost ? ResetAnswer::lost : ResetAnswer::refused;
    }
}

asio::awaitable<std::vector<TagPlace>> Hardware::tag_places(System system) {
    std::vector<TagPlace> places;
    if (system.asset_tag) places.push_back({system.link, system.etag, *system.asset_tag});
    const auto chassis = co_await bmc_.find(system.chassis);
    if (!chassis || !chassis->body.contains(kAssetTag)) co_return places;
    // An enclosure of several systems says nothing of one of them.
    const auto systems = links_at(object_at(chassis->body, "Links"), "ComputerSystems");
    const bool is_its_alone =
        systems.size() == 1 && without_slash(systems.front()) == without_slash(system.link);
    if (is_its_alone) places.push_back({chassis->target, chassis->etag, text_at(chassis->body, kAssetTag)});
    co_return places;
}

asio::awaitable<TagWrite> Hardware::write_tag(TagPlace place, std::string tag) {
    const std::string tried = "writing the AssetTag of " + bmc_.host();
    Resource read{place.link, json::object{{kAssetTag, place.tag}}, place.etag};
    TagWrite result;
    std::vector<json::value> values{json::string(tag)};
    // Some clear it by null only.
    if (tag.empty()) values.emplace_back(nullptr);
    for (const auto& value : values) {
        try {
            const auto answer = co_await bmc_.patch_if_same(tried, read, std::string(kAssetTag), value);
            result.outcome = answer ? TagWrite::Outcome::taken : TagWrite::Outcome::changed;
            result.is_promise = answer && answer->is_promise;
            co_return result;
        } catch (const RedfishError& error) {
            const auto kind = error.kind();
            if (kind == ErrorKind::outcome_unknown) co_return TagWrite{};
            const bool is_refusal = kind == ErrorKind::invalid_request || kind == ErrorKind::unsupported ||
                                    kind == ErrorKind::not_found || kind == ErrorKind::parameter_missing ||
                                    kind == ErrorKind::precondition_failed || kind == ErrorKind::other;
            if (!is_refusal) throw;
            result.outcome = TagWrite::Outcome::refused;
            result.refusal = error.complaint.message;
        }
    }
    co_return result;
}

asio::awaitable<std::vector<std::string>> Hardware::drives(System system) {
    std::vector<std::string> links;
    if (system.storage.empty()) co_return links;
    const auto controllers = co_await members(system.storage);
    for (const auto& controller : controllers) {
        try {
            const auto resource = co_await bmc_.get(controller);
            const auto more = links_at(resource.body, "Drives");
            links.insert(links.end(), more.begin(), more.end());
        } catch (const RedfishError& error) {
            // A controller that was taken out has no drives, and others have.
            if (error.kind() != ErrorKind::not_found) throw;
        }
    }
    co_return links;
}

asio::awaitable<std::string> Hardware::erase_drive(std::string drive) {
    const std::string tried = "erasing drive " + drive + " of " + bmc_.host();
    const auto resource = co_await bmc_.get(drive);
    const auto action =
        text_at(object_at(object_at(resource.body, "Actions"), "#Drive.SecureErase"), "target");
    if (action.empty()) throw failure(ErrorKind::unsupported, tried, "the BMC offers no SecureErase for it");
    const auto answer = co_await bmc_.post(tried, action, json::object());
    co_return answer.task;
}

asio::awaitable<std::optional<TaskProgress>> Hardware::task(std::string link) {
    try {
        const auto answer = co_await bmc_.poll(link);
        co_return task_progress(answer.first, answer.second);
    } catch (const RedfishError& error) {
        if (error.kind() != ErrorKind::not_found) throw;
    }
    co_return std::nullopt;
}

}  // namespace providers::redfish
