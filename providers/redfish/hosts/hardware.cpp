#include "providers/redfish/hosts/hardware.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "providers/redfish/bmc/collection.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr std::string_view kAssetTag = "AssetTag";
constexpr std::string_view kNoResetAction = "the BMC shows no reset action of the system at the moment";

RedfishError failure(RedfishErrorKind kind, const std::string& tried, std::string message) {
    Complaint complaint;
    complaint.kind = kind;
    complaint.message = std::move(message);
    return RedfishError(tried, std::move(complaint));
}

bool can_reset_to_all(const std::vector<std::string>& types) {
    return !types.empty() && reset_type(PowerGoal::on, types) && reset_type(PowerGoal::off_by_force, types) &&
           reset_type(PowerGoal::off_gracefully, types);
}

std::string without_slash(std::string text) {
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

}  // namespace

Hardware::Hardware(Bmc& bmc, std::string system_id, std::string pinned_uuid, std::string known_uuid,
                   Quirks quirks)
    : bmc_(bmc),
      system_id_(std::move(system_id)),
      pinned_uuid_(std::move(pinned_uuid)),
      known_uuid_(std::move(known_uuid)),
      details_(bmc),
      boot_(bmc, std::move(quirks)) {}

bool Hardware::is_named(const std::string& link) const {
    const auto path = without_slash(link);
    return path == without_slash(system_id_) || path.substr(path.find_last_of('/') + 1) == system_id_;
}

// A silent system must not hide the others (a board of accelerators is silent while its host is off).
asio::awaitable<std::string> Hardware::find_by_content(std::vector<std::string> links, std::string wanted) {
    std::optional<RedfishError> silent;
    for (const auto& link : links) {
        try {
            const auto resource = co_await bmc_.get(link);
            const bool is_it = text_at(resource.body, "Id") == wanted ||
                               base::same_uuid(text_at(resource.body, "UUID"), wanted);
            if (is_it) co_return link;
        } catch (const RedfishError& error) {
            silent = error;
        }
    }
    if (!silent) co_return std::string();
    auto why = silent->complaint;
    const auto* named = system_id_.empty() ? "the UUID of the host, " : "spec.bmc.systemID ";
    why.message = silent->what() + ("; no system that answers has " + (named + wanted));
    throw RedfishError("looking for the system of " + bmc_.host(), std::move(why));
}

asio::awaitable<std::string> Hardware::find_system() {
    const std::string tried = "looking for the system of " + bmc_.host();
    const auto root = co_await bmc_.root();
    const auto all = co_await members(bmc_, link_at(root, "Systems"));
    if (all.empty()) throw failure(RedfishErrorKind::not_found, tried, "the BMC lists no system");
    const auto names = base::joined(all);
    if (system_id_.empty()) {
        if (all.size() == 1) co_return all.front();
        // A board of accelerators may be listed only since the host is on.
        if (!known_uuid_.empty()) {
            auto known = co_await find_by_content(all, known_uuid_);
            if (!known.empty()) co_return known;
        }
        throw failure(RedfishErrorKind::system_not_chosen, tried,
                      "the BMC has several; set spec.bmc.systemID to one of " + names);
    }
    const auto named = std::ranges::find_if(all, [this](const std::string& link) { return is_named(link); });
    if (named != all.end()) co_return *named;
    auto found = co_await find_by_content(all, system_id_);
    if (!found.empty()) co_return found;
    throw failure(RedfishErrorKind::system_not_chosen, tried,
                  "the BMC has no system with spec.bmc.systemID " + system_id_ + "; it has " + names);
}

asio::awaitable<System> Hardware::system() {
    const bool was_known = !system_link_.empty();
    if (!was_known) system_link_ = co_await find_system();
    try {
        const auto resource = co_await bmc_.get(system_link_);
        auto system = parse_system(resource);
        if (system.uuid.empty()) system.uuid = pinned_uuid_;
        note_offered(system.resets);
        co_return system;
    } catch (const RedfishError& error) {
        if (error.kind() == RedfishErrorKind::not_found) system_link_.clear();
        throw;
    }
}

asio::awaitable<std::optional<std::int64_t>> Hardware::power_watts(std::string meter) {
    const auto resource = co_await bmc_.find(std::move(meter));
    if (!resource) co_return std::nullopt;
    co_return watts_of(resource->body);
}

void Hardware::note_offered(const std::vector<std::string>& types) {
    for (const auto& type : types) {
        const bool is_known = std::ranges::find(offered_resets_, type) != offered_resets_.end();
        if (!is_known) offered_resets_.push_back(type);
    }
}

asio::awaitable<std::vector<std::string>> Hardware::current_reset_types(System system) {
    auto types = system.resets;
    // An ActionInfo that offered all that is needed does so whatever the power state.
    const bool is_known = can_reset_to_all(offered_resets_);
    if (types.empty() && !system.action_info_link.empty() && !is_known) {
        const auto info = co_await bmc_.find(system.action_info_link);
        if (info) types = reset_types_of(info->body);
    }
    note_offered(types);
    co_return types;
}

asio::awaitable<std::vector<std::string>> Hardware::reset_types(System system) {
    const auto current = co_await current_reset_types(std::move(system));
    // What it offered in another power state says nothing about the rest.
    if (current.empty() && !can_reset_to_all(offered_resets_)) co_return std::vector<std::string>();
    co_return offered_resets_;
}

void Hardware::require_reset_action(const System& system) const {
    if (system.reset_link.empty())
        throw failure(RedfishErrorKind::unreadable, "resetting " + bmc_.host(),
                      std::string(kNoResetAction) + "; it is asked again");
}

asio::awaitable<ResetOutcome> Hardware::reset(System system, PowerGoal goal) {
    const std::string tried = (goal == PowerGoal::on ? "turning on " : "turning off ") + bmc_.host();
    require_reset_action(system);
    const auto current = co_await current_reset_types(system);
    // If the BMC offered it before, its answer to the request shows whether it can do it.
    auto type = current.empty() ? std::nullopt : reset_type(goal, current);
    if (!type) type = reset_type(goal, offered_resets_);
    if (!type && current.empty()) type = reset_type(goal, {});
    if (!type) co_return ResetOutcome{ResetAnswer::impossible, "the BMC offers no such reset type", ""};
    json::object body;
    body["ResetType"] = *type;
    try {
        const auto answer = co_await bmc_.post(tried, system.reset_link, std::move(body));
        auto refusal = bmc_.refusal_in(answer.body);
        if (!refusal.empty()) co_return ResetOutcome{ResetAnswer::refused, std::move(refusal), ""};
        co_return ResetOutcome{ResetAnswer::taken, "", answer.task};
    } catch (const RedfishError& error) {
        const auto& complaint = error.complaint;
        const bool is_for_others = complaint.kind == RedfishErrorKind::unreachable ||
                                   complaint.kind == RedfishErrorKind::session_limit ||
                                   complaint.kind == RedfishErrorKind::doubted ||
                                   (is_permanent(complaint.kind) && goal != PowerGoal::off_gracefully) ||
                                   complaint.kind == RedfishErrorKind::unauthorized;
        if (is_for_others) throw;
        // A later read shows whether the state is or will be reached. A conflict may also pass: iDRAC10
        // refuses On for a minute after Off.
        bmc_.note_quirk(complaint.known_id().value_or("ResetConflict"));
        auto outcome = ResetAnswer::refused;
        if (complaint.kind == RedfishErrorKind::outcome_unknown) outcome = ResetAnswer::lost;
        if (is_impossibility(complaint)) outcome = ResetAnswer::impossible;
        co_return ResetOutcome{outcome, complaint.message, ""};
    }
}

asio::awaitable<TaskReport> Hardware::read_task(std::string link) {
    const auto answer = co_await bmc_.poll(std::move(link));
    TaskReport report{task_progress(answer.first, answer.second), ""};
    if (report.progress == TaskProgress::failed) report.words = bmc_.words_of_task(answer.second);
    if (report.progress == TaskProgress::running) report.words = state_of_task(answer.second);
    if (report.progress != TaskProgress::succeeded) co_return report;
    // A monitor finally answers as the request itself would have been answered.
    report.words = bmc_.refusal_in(answer.second);
    if (!report.words.empty()) report.progress = TaskProgress::failed;
    co_return report;
}

namespace {

// Reports whether a task's monitor has ended: it finally answers what the request would have been answered.
bool is_final_answer(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::invalid_request || kind == RedfishErrorKind::state_conflict ||
           kind == RedfishErrorKind::other || kind == RedfishErrorKind::unsupported;
}

}  // namespace

asio::awaitable<std::optional<TaskReport>> Hardware::reset_task(std::string link) {
    try {
        co_return co_await read_task(link);
    } catch (const RedfishError& error) {
        if (is_final_answer(error.kind()))
            co_return TaskReport{TaskProgress::failed, error.complaint.message};
    }
    co_return std::nullopt;
}

asio::awaitable<std::string> Hardware::boot_obstacle(System system, BootWish wish) {
    if (system.reset_link.empty()) co_return std::string(kNoResetAction);
    const auto resets = co_await reset_types(system);
    if (!reset_type(PowerGoal::on, resets)) co_return "the BMC offers no reset type that turns it on";
    co_return co_await boot_.obstacle(std::move(system), std::move(wish));
}

asio::awaitable<std::vector<TagPlace>> Hardware::tag_places(System system) {
    std::vector<TagPlace> places;
    if (system.asset_tag) places.push_back({system.link, system.etag, *system.asset_tag});
    std::optional<RedfishResource> chassis;
    try {
        chassis = co_await bmc_.find(system.chassis);
    } catch (const RedfishError& error) {
        // If the account may not read the chassis, the system gets the mark. A temporary error may hide
        // somebody else's mark.
        if (places.empty() || !is_closed_to_us(error.kind())) throw;
    }
    if (!chassis || !chassis->body.contains(kAssetTag)) co_return places;
    // The tag of an enclosure with several systems says nothing about one of them.
    const auto systems = links_at(object_at(chassis->body, "Links"), "ComputerSystems");
    const bool is_its_alone =
        systems.size() == 1 && without_slash(systems.front()) == without_slash(system.link);
    if (is_its_alone) places.push_back({chassis->target, chassis->etag, text_at(chassis->body, kAssetTag)});
    co_return places;
}

asio::awaitable<TagWrite> Hardware::write_tag(TagPlace place, json::value tag) {
    const std::string tried = "writing the AssetTag of " + bmc_.host();
    RedfishResource read{place.link, json::object{{kAssetTag, place.tag}}, place.etag};
    TagWrite result;
    try {
        const auto answer =
            co_await bmc_.patch_if_same(tried, std::move(read), std::string(kAssetTag), std::move(tag));
        result.outcome = answer ? TagWrite::Outcome::taken : TagWrite::Outcome::changed;
        result.is_promise = answer && answer->is_promise;
    } catch (const RedfishError& error) {
        const auto kind = error.kind();
        const bool is_lost = kind == RedfishErrorKind::outcome_unknown;
        const bool is_refusal =
            kind == RedfishErrorKind::invalid_request || kind == RedfishErrorKind::unsupported ||
            kind == RedfishErrorKind::not_found || kind == RedfishErrorKind::parameter_missing ||
            kind == RedfishErrorKind::precondition_failed || kind == RedfishErrorKind::other;
        if (!is_lost && !is_refusal) throw;
        result.outcome = is_lost ? TagWrite::Outcome::lost : TagWrite::Outcome::refused;
        result.refusal = error.complaint.message;
    }
    co_return result;
}

asio::awaitable<std::vector<std::string>> Hardware::drives(System system) {
    std::vector<std::string> links;
    if (system.storage.empty()) co_return links;
    const auto controllers = co_await members(bmc_, system.storage);
    for (const auto& controller : controllers) {
        // BMCs may hide a controller for a moment. One that is not shown may have drives with data.
        const auto resource = co_await bmc_.get(controller);
        const auto more = links_at(resource.body, "Drives");
        links.insert(links.end(), more.begin(), more.end());
    }
    co_return distinct(links);
}

asio::awaitable<Erasure> Hardware::erase_drive(std::string drive) {
    const std::string tried = "erasing drive " + drive + " of " + bmc_.host();
    const auto resource = co_await bmc_.get(drive);
    const auto action =
        text_at(object_at(object_at(resource.body, "Actions"), "#Drive.SecureErase"), "target");
    if (action.empty())
        throw failure(RedfishErrorKind::unsupported, tried, "the BMC offers no SecureErase for it");
    const auto answer = co_await bmc_.post(tried, action, json::object());
    Erasure erasure;
    erasure.words = bmc_.refusal_in(answer.body);
    if (!erasure.words.empty()) co_return erasure;
    erasure.task = answer.task;
    erasure.is_done = !answer.is_promise;
    if (answer.is_promise && answer.task.empty())
        erasure.words = "the BMC accepted it without a task, so nothing shows when it is done";
    co_return erasure;
}

asio::awaitable<std::optional<TaskReport>> Hardware::task(std::string link) {
    try {
        co_return co_await read_task(std::move(link));
    } catch (const RedfishError& error) {
        if (is_final_answer(error.kind()))
            co_return TaskReport{TaskProgress::failed, error.complaint.message};
        if (error.kind() != RedfishErrorKind::not_found) throw;
    }
    co_return std::nullopt;
}

}  // namespace providers::redfish
