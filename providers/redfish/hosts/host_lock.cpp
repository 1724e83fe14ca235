#include "providers/redfish/hosts/host_lock.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "base/saturating.hpp"
#include "base/uuid.hpp"
#include "providers/foreign/shown_text.hpp"

namespace providers::redfish {

namespace {

// A written mark counts if it is still there after this time. Any other cluster that had read a free field
// has written by then.
constexpr base::Duration kSettles = std::chrono::seconds{5};

constexpr const char* kElsewhere = "put the host under a NodeSmithProvider without spec.redfish.hostLock";

std::string quoted(const TagPlace& place) {
    return "\"" + foreign::shown(place.tag) + "\"";
}

std::string whose(const TagPlace& place) {
    return "its AssetTag says that another cluster has it (" + foreign::shown(place.tag) + ")";
}

std::string in_use_by_others(const TagPlace& place) {
    return whose(place) +
           ": it is left alone; if that cluster is gone, clear the field on its BMC, or annotate it with " +
           std::string(api::annotations::kAdopt) + "=true";
}

LockAttempt unsupported(const std::string& why) {
    return {LockOutcome::unusable, "LockUnsupported", why + ": " + kElsewhere};
}

LockAttempt unreadable() {
    return unsupported(
        "its BMC shows no AssetTag of the system, and its account may not read the chassis, which may show "
        "one");
}

LockReport as_report(const LockAttempt& attempt) {
    const bool is_held = attempt.outcome == LockOutcome::held;
    const bool is_open = attempt.outcome == LockOutcome::undecided;
    return {is_held || is_open, is_held ? "Held" : is_open ? "Changing" : attempt.reason, attempt.message};
}

bool is_of_this_cluster(TagMeaning meaning) {
    return meaning == TagMeaning::mine || meaning == TagMeaning::own_claim;
}

LockAttempt held() {
    return {LockOutcome::held, "Held", "its AssetTag carries the mark of its claim"};
}

}  // namespace

TagMeaning HostLock::meaning(const TagPlace& place, const std::string& mark) const {
    return meaning_of(place.tag, mark, settings_.spec.hostLock.freeValues);
}

const TagPlace* HostLock::find(const Places& places, const std::string& mark, TagMeaning wanted) const {
    const auto found =
        std::ranges::find_if(places, [&](const TagPlace& place) { return meaning(place, mark) == wanted; });
    return found == places.end() ? nullptr : &*found;
}

MachineIdentity HostLock::owner_of(const Host& host) const {
    MachineIdentity identity;
    identity.cluster_id = settings_.cluster_id;
    if (host.use.owner) identity.claim_uid = host.use.owner->claim_uid;
    return identity;
}

// Returns why there is no place for the mark; nullopt: there is one.
std::optional<LockAttempt> HostLock::why_not(const Places& places, const std::string& mark,
                                             bool overrules_others) const {
    const auto* foreign = find(places, mark, TagMeaning::others);
    if (foreign && !overrules_others)
        return LockAttempt{LockOutcome::others, "InUseByOthers", in_use_by_others(*foreign)};
    const auto takes = [&](const TagPlace& place) { return meaning(place, mark) != TagMeaning::inventory; };
    if (std::ranges::any_of(places, takes)) return std::nullopt;
    if (places.empty())
        return unsupported("its BMC shows no AssetTag of the system, nor of a chassis that is its alone");
    return LockAttempt{
        LockOutcome::unusable, "AssetTagTaken",
        "its AssetTag is " + quoted(places.front()) +
            ", which someone else wrote, so it is not replaced: clear it on its BMC, list it in "
            "spec.redfish.hostLock.freeValues if it has no meaning, or " +
            kElsewhere};
}

asio::awaitable<std::optional<HostLock::Places>> HostLock::readable_places(std::shared_ptr<Station> station,
                                                                           System system) {
    try {
        co_return co_await station->hardware.tag_places(std::move(system));
    } catch (const RedfishError& error) {
        if (!is_closed_to_us(error.kind())) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<LockAttempt> HostLock::take(MachineIdentity identity, Host host,
                                            std::shared_ptr<Station> station, System system) {
    const auto mark = lock_mark(identity);
    auto readable = co_await readable_places(station, std::move(system));
    if (!readable) co_return unreadable();
    auto& places = *readable;
    const bool overrules = host.is_given;
    auto refusal = why_not(places, mark, overrules);
    if (refusal) co_return std::move(*refusal);
    const bool is_held = find(places, mark, TagMeaning::mine) != nullptr;
    if (is_held) co_return held();
    co_return co_await write_into_any(std::move(places), mark, overrules, std::move(station));
}

asio::awaitable<LockAttempt> HostLock::write_into_any(Places places, std::string mark, bool overrules_others,
                                                      std::shared_ptr<Station> station) {
    std::string refusal;
    station->bears_no_mark = false;
    for (const auto& place : places) {
        const auto means = meaning(place, mark);
        const bool is_own = means == TagMeaning::inventory;
        if (is_own || (means == TagMeaning::others && !overrules_others)) continue;
        const auto answer = co_await station->hardware.write_tag(place, json::string(mark));
        if (answer.outcome == TagWrite::Outcome::changed)
            co_return LockAttempt{LockOutcome::undecided, "", "its AssetTag was written by someone else"};
        refusal = answer.refusal;
        if (answer.outcome == TagWrite::Outcome::refused) continue;
        const auto outcome = co_await settle(place, mark, answer, station);
        if (outcome.outcome == LockOutcome::held) station->lock_refusals = 0;
        if (outcome.outcome != LockOutcome::unusable) co_return outcome;
        refusal = outcome.message;
    }
    base::count_up(station->lock_refusals);
    station->lock_refusal = refusal;
    station->lock_refused_at = clock_.now();
    co_return unsupported("its BMC does not take a mark as AssetTag (" + refusal + ")");
}

asio::awaitable<LockAttempt> HostLock::settle(TagPlace place, std::string mark, TagWrite answer,
                                              std::shared_ptr<Station> station) {
    const auto deadline = clock_.now() + (answer.is_promise ? kPromisePatience : kSettles);
    while (true) {
        co_await clock_.sleep_for(kSettles);
        const auto system = co_await station->hardware.system();
        const auto places = co_await station->hardware.tag_places(system);
        const auto now = std::ranges::find(places, place.link, &TagPlace::link);
        const auto* theirs = find(places, mark, TagMeaning::others);
        const bool is_new = theirs && (theirs->link != place.link || theirs->tag != place.tag);
        const auto* mine = find(places, mark, TagMeaning::mine);
        if (is_new) {
            // The last writer has the lock. If the marks are in two places, no cluster has it.
            if (mine) co_await clear(*mine, station);
            co_return LockAttempt{LockOutcome::others, "InUseByOthers", in_use_by_others(*theirs)};
        }
        if (mine) co_return held();
        const bool is_cut_off = now != places.end() && is_cut(now->tag, mark);
        if (is_cut_off) {
            co_await station->hardware.write_tag(*now, json::string(place.tag));
            co_return LockAttempt{LockOutcome::unusable, "",
                                  "it keeps " + std::to_string(now->tag.size()) + " of " +
                                      std::to_string(mark.size()) + " characters"};
        }
        if (clock_.now() < deadline) continue;
        // The request may never have reached the BMC.
        if (answer.outcome == TagWrite::Outcome::lost)
            co_return LockAttempt{
                LockOutcome::undecided, "",
                "whether its BMC takes a mark as AssetTag is not known (" + answer.refusal + ")"};
        co_return LockAttempt{LockOutcome::unusable, "", "it does not keep what it accepted"};
    }
}

bool HostLock::is_refused(const Station& station) const {
    return clock_.now() - station.lock_refused_at < kRefusalPauses.after(station.lock_refusals);
}

asio::awaitable<bool> HostLock::still_holds(MachineIdentity identity, std::shared_ptr<Station> station,
                                            System system) {
    const auto mark = lock_mark(identity);
    const auto places = co_await station->hardware.tag_places(std::move(system));
    const bool is_contested = find(places, mark, TagMeaning::others) != nullptr;
    co_return find(places, mark, TagMeaning::mine) != nullptr && !is_contested;
}

asio::awaitable<bool> HostLock::is_of_others(MachineIdentity identity, std::shared_ptr<Station> station,
                                             System system) {
    if (!is_wanted()) co_return false;
    const auto mark = lock_mark(identity);
    const auto places = co_await station->hardware.tag_places(std::move(system));
    co_return find(places, mark, TagMeaning::others) && !find(places, mark, TagMeaning::mine);
}

// Reports whether the BMC shows another tag there, or none. A BMC may show a write only after a moment.
asio::awaitable<bool> HostLock::shows_other_tag(TagPlace& place, std::shared_ptr<Station> station) {
    for (const auto wait : {base::Duration::zero(), kSettles}) {
        if (wait > base::Duration::zero()) co_await clock_.sleep_for(wait);
        const auto system = co_await station->hardware.system();
        const auto places = co_await station->hardware.tag_places(system);
        const auto now = std::ranges::find(places, place.link, &TagPlace::link);
        if (now == places.end() || now->tag != place.tag) co_return true;
        place = *now;
    }
    co_return false;
}

asio::awaitable<bool> HostLock::clear(TagPlace place, std::shared_ptr<Station> station) {
    // Some BMCs clear it only with null.
    std::vector<json::value> values{json::string(), nullptr};
    for (const auto& value : settings_.spec.hostLock.freeValues) values.emplace_back(json::string(value));
    for (const auto& value : values) {
        const auto answer = co_await station->hardware.write_tag(place, value);
        if (answer.outcome == TagWrite::Outcome::changed) co_return true;
        if (answer.outcome == TagWrite::Outcome::refused) continue;
        // The answer may be lost, and it may have been a refusal. Only what the BMC shows is proof.
        const bool is_gone = co_await shows_other_tag(place, station);
        if (is_gone) co_return true;
    }
    co_return false;
}

asio::awaitable<void> HostLock::release(MachineIdentity identity, Host host,
                                        std::shared_ptr<Station> station) {
    if (!is_wanted()) co_return;
    const auto mark = lock_mark(identity);
    // Another operator of the same machines may have written the mark of a claim that nobody knows here.
    const bool is_sole = fleet_.why_not_destroy().why.empty();
    // The mark may have been written after the caller's last look.
    auto system = co_await station->hardware.system();
    const auto places = co_await station->hardware.tag_places(std::move(system));
    for (const auto& place : places) {
        const auto means = meaning(place, mark);
        const bool is_ours = means == TagMeaning::mine || (means == TagMeaning::own_claim && is_sole);
        const bool is_gone = !is_ours || co_await clear(place, station);
        if (!is_gone) report_left(host, "its BMC does not clear it");
    }
}

void HostLock::report_left(const Host& host, const std::string& why) {
    fleet_.inventory().announce(
        host, "LockLeft",
        "may still carry the mark of this cluster as AssetTag, and other clusters leave it "
        "alone: " +
            why + "; if the NodeSmithHost is deleted, clear the field on its BMC");
}

asio::awaitable<std::optional<LockReport>> HostLock::look(Host host, std::shared_ptr<Station> station,
                                                          System system) {
    if (!is_wanted()) co_return std::nullopt;
    auto places = co_await readable_places(station, system);
    if (!places) co_return as_report(unreadable());
    note_own_mark(*station, *places);
    // The mark to write depends on the current owner.
    const auto fresh = co_await fleet_.inventory().read(settings_.namespace_, host.name);
    if (!fresh) co_return std::nullopt;
    const bool is_known = !fresh->use.owner && is_refused(*station);
    auto report = co_await mend(*fresh, std::move(*places), station, std::move(system));
    if (report.reason == "Held" && station->refuses_epoch(clock_.now()))
        report.message += ", but not the epoch of the operator, which its BMC does not take (" +
                          station->epoch_refusal + ")";
    // A mark that appeared after all was removed, and that of another cluster is reported.
    if (!is_known || !report.is_usable) co_return report;
    co_return as_report(unsupported("its BMC does not take a mark as AssetTag (" + station->lock_refusal +
                                    "), which is tried again after pauses that grow from a minute to a day"));
}

void HostLock::note_own_mark(Station& station, const Places& places) const {
    const auto mark = lock_mark({.cluster_id = settings_.cluster_id});
    station.bears_no_mark = std::ranges::none_of(
        places, [&](const TagPlace& place) { return is_of_this_cluster(meaning(place, mark)); });
}

asio::awaitable<std::optional<HostLock::OwnPlace>> HostLock::own_place(Host host,
                                                                       std::shared_ptr<Station> station,
                                                                       System system) {
    const auto places = co_await station->hardware.tag_places(std::move(system));
    note_own_mark(*station, places);
    const auto mark = lock_mark(owner_of(host));
    for (const auto& place : places) {
        const auto means = meaning(place, mark);
        if (is_of_this_cluster(means)) co_return OwnPlace{place, host.use.owner && means == TagMeaning::mine};
    }
    co_return std::nullopt;
}

asio::awaitable<LockReport> HostLock::mend(Host host, Places places, std::shared_ptr<Station> station,
                                           System system) {
    const auto mark = lock_mark(owner_of(host));
    const bool is_it = base::same_uuid(system.uuid, host.system_uuid);
    const bool serves = is_it && host.use.owner && system.power == PowerState::on &&
                        (host.use.woken.has_value() || host.is_given);
    const auto refusal = why_not(places, mark, host.is_given);
    if (refusal) co_return as_report(*refusal);
    if (find(places, mark, TagMeaning::mine)) co_return as_report(held());
    const auto* ours = find(places, mark, TagMeaning::own_claim);
    // The mark may be that of another operator of the same machines, whose claims nobody knows here.
    const bool is_sole = fleet_.why_not_destroy().why.empty();
    if (serves && (!ours || is_sole)) {
        const auto* free = find(places, mark, TagMeaning::free);
        const auto* theirs = find(places, mark, TagMeaning::others);
        const auto* place = ours ? ours : theirs ? theirs : free;
        co_return co_await mend_used(*place, mark, std::move(station));
    }
    // Two looks saw it off.
    const bool is_off = system.power == PowerState::off && host.power_state == "Off";
    const bool is_left = ours && !host.use.owner && is_it && is_off && is_sole;
    if (is_left) co_return co_await mend_free(*ours, std::move(station));
    if (ours) co_return LockReport{true, "Held", "its AssetTag carries a mark of this cluster"};
    co_return LockReport{true, "Free", "its AssetTag carries no mark"};
}

asio::awaitable<LockReport> HostLock::mend_free(TagPlace place, std::shared_ptr<Station> station) {
    const bool is_free = co_await clear(place, std::move(station));
    if (!is_free)
        co_return LockReport{true, "NotReleased",
                             "its AssetTag still carries the mark of this cluster (" +
                                 foreign::shown(place.tag) + "), because its BMC does not clear it"};
    co_return LockReport{true, "Free", "its AssetTag carries no mark"};
}

asio::awaitable<LockReport> HostLock::mend_used(TagPlace place, std::string mark,
                                                std::shared_ptr<Station> station) {
    station->bears_no_mark = false;
    // Another operator of the same machines may know of another claim.
    const auto record = meaning(place, mark) == TagMeaning::own_claim ? epoch_in(place.tag) : std::nullopt;
    if (record) mark = with_epoch(mark, *record);
    const auto answer = co_await station->hardware.write_tag(place, json::string(mark));
    if (answer.outcome == TagWrite::Outcome::lost)
        co_return as_report(
            {LockOutcome::undecided, "", "the next query will show whether its BMC accepted the mark"});
    if (answer.outcome == TagWrite::Outcome::refused)
        co_return as_report(unsupported("its BMC does not take a mark as AssetTag (" + answer.refusal + ")"));
    co_return LockReport{true, "Held", "its AssetTag carries the mark of its claim"};
}

}  // namespace providers::redfish
