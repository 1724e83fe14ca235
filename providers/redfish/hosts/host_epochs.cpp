#include "providers/redfish/hosts/host_epochs.hpp"

#include <algorithm>

#include "base/saturating.hpp"
#include "base/uuid.hpp"
#include "providers/errors.hpp"

namespace providers::redfish {

namespace {

// A host that cannot be read is waited for this long, as it may carry the record.
constexpr base::Duration kPatience = std::chrono::minutes{3};
// After this time without a failure a BMC that fails again is waited for as at first.
constexpr base::Duration kForgotten = std::chrono::minutes{15};
// A BMC shows what it was told after this time.
constexpr base::Duration kShows = std::chrono::seconds{5};

}  // namespace

asio::awaitable<EpochLook> HostEpochs::read_epoch(ExpectedUuid) {
    EpochLook look;
    look.is_empty = true;
    std::string unread;  // why the first host with a claim could not be read
    bool has_read = false;
    std::optional<RedfishError> awaited;
    for (const auto& host : fleet_.inventory().hosts(settings_.namespace_, settings_.name)) {
        Sight sight;
        try {
            sight = co_await look_at(*host);
        } catch (const RedfishError& error) {
            // The time that the others are waited for begins meanwhile.
            if (!awaited) awaited = error;
            continue;
        }
        // A reserved host was never on for its claim, so it bears no record of that claim.
        const bool is_claimed = host->use.owner && host->use.stage != HostStage::reserved;
        if (host->use.owner || sight.is_marked || !sight.unread.empty()) look.is_empty = false;
        if (is_claimed && sight.unread.empty()) has_read = true;
        if (is_claimed && unread.empty()) unread = sight.unread;
        // Another operator may have passed over a host that did not take its record.
        const bool has_record = sight.slot && sight.slot->record;
        if (has_record || (sight.slot && !look.slot)) look.slot = std::move(sight.slot);
        if (has_record) break;
    }
    if (awaited) throw RedfishError(*awaited);
    const bool is_blind = !look.slot && !unread.empty() && !has_read;
    if (is_blind) throw ProviderError("no host with a claim can be read: " + unread);
    co_return look;
}

asio::awaitable<HostEpochs::Sight> HostEpochs::look_at(Host host) {
    Sight sight;
    std::shared_ptr<Station> station;
    try {
        station = co_await fleet_.station(host);
        sight = co_await visit(host, station);
        if (sight.unread.empty()) station->unread_since.reset();
    } catch (const RedfishError& error) {
        if (!station->unread_since) station->unread_since = clock_.now();
        const bool is_waited_for = host.is_reachable && clock_.now() < *station->unread_since + kPatience;
        if (is_waited_for) throw;
        sight.unread = error.what();
    } catch (const std::invalid_argument& error) {
        sight.unread = "host " + host.name + ": " + error.what();  // only a person can correct it
    }
    co_return sight;
}

asio::awaitable<HostEpochs::Sight> HostEpochs::visit(Host host, std::shared_ptr<Station> station) {
    Sight sight;
    if (station->bears_no_mark) co_return sight;
    const bool was_examined = !host.system_uuid.empty();
    if (was_examined && !host.is_reachable) {
        sight.unread = "the BMC of host " + host.name + " did not answer the last look at the host";
        co_return sight;
    }
    const auto turn = co_await station->bmc.visit();
    const auto system = co_await station->hardware.system();
    const auto found = co_await lock_.own_place(host, station, system);
    if (!found) co_return sight;
    sight.is_marked = true;
    const auto record = epoch_in(found->place.tag);
    // What it bears counts, also if it takes no other text.
    const bool is_refused = !record && station->refuses_epoch(clock_.now());
    const bool serves = system.power == PowerState::on && base::same_uuid(system.uuid, host.system_uuid);
    if (is_refused || !serves) co_return sight;
    auto& slot = sight.slot.emplace();
    slot.machine.host = host.name;
    slot.machine.machine_id = host.name;
    if (found->is_of_owner) slot.claim_uid = host.use.owner->claim_uid;
    slot.text = found->place.tag;
    slot.record = record;
    slot.takes_none = record && station->refuses_epoch(clock_.now());
    co_return sight;
}

// Another host gets the record at once. Otherwise a new leader would hold removals for minutes by each host.
asio::awaitable<void> HostEpochs::write_epoch(EpochSlot slot, EpochRecord record) {
    const auto first = slot.machine.host;
    const bool is_fresh = !slot.record;
    const auto refusal = co_await write_at(std::move(slot), record);
    if (refusal.empty()) co_return;
    // A record stays where the other operators read it.
    std::vector<EpochSlot> others;
    if (is_fresh) others = co_await free_slots();
    for (auto& other : others) {
        if (other.machine.host == first) continue;
        const auto next = co_await write_at(std::move(other), record);
        if (next.empty()) co_return;
    }
    throw ProviderError(refusal + (is_fresh ? ", so it is written elsewhere" : ""));
}

asio::awaitable<std::vector<EpochSlot>> HostEpochs::free_slots() {
    std::vector<EpochSlot> slots;
    for (const auto& host : fleet_.inventory().hosts(settings_.namespace_, settings_.name)) {
        auto sight = co_await look_at(*host);
        if (!sight.slot) continue;
        if (sight.slot->record) co_return std::vector<EpochSlot>();
        slots.push_back(std::move(*sight.slot));
    }
    co_return slots;
}

bool HostEpochs::has_patience() {
    const auto now = clock_.now();
    // The leader looks every minute. Failures that are further apart have nothing to do with each other.
    if (!failures_ || now - failures_->last > kForgotten) failures_ = Failures{now, now};
    failures_->last = now;
    return now < failures_->since + kPatience;
}

asio::awaitable<std::string> HostEpochs::write_at(EpochSlot slot, EpochRecord record) {
    const auto name = slot.machine.host;
    const auto host = fleet_.inventory().find(settings_.namespace_, settings_.name, name);
    if (!host) throw ProviderError(changed_meanwhile(name));
    const auto station = co_await fleet_.station(*host);
    const auto turn = co_await station->bmc.visit();
    const auto system = co_await station->hardware.system();
    const auto found = co_await lock_.own_place(*host, station, system);
    if (!found || found->place.tag != slot.text) throw ProviderError(changed_meanwhile(name));
    const auto text = with_epoch(slot.text, record);
    const auto attempt = co_await try_to_write(station, found->place, text);
    if (attempt.refusal.empty()) {
        station->epoch_refusal.clear();
        station->epoch_refusals = 0;
        failures_.reset();
        co_return std::string();
    }
    if (attempt.may_pass && has_patience())
        throw ProviderError("writing the operator's epoch into the AssetTag of host " + name + ": " +
                            attempt.refusal);
    base::count_up(station->epoch_refusals);
    station->epoch_refusal = attempt.refusal;
    station->epoch_refused_at = clock_.now();
    co_return "the BMC of host " + name + " does not take the operator's epoch as AssetTag (" +
        attempt.refusal + ")";
}

asio::awaitable<HostEpochs::Attempt> HostEpochs::try_to_write(std::shared_ptr<Station> station,
                                                              TagPlace place, std::string text) {
    try {
        const auto answer = co_await station->hardware.write_tag(place, json::string(text));
        if (answer.outcome == TagWrite::Outcome::changed)
            throw ProviderError(changed_meanwhile(station->bmc.host()));
        if (answer.outcome == TagWrite::Outcome::refused) co_return Attempt{answer.refusal, false};
        const auto patience = answer.is_promise ? kPromisePatience : kShows;
        const bool is_there = co_await is_kept(station, place, text, patience);
        if (is_there) co_return Attempt{};
        if (answer.outcome == TagWrite::Outcome::lost) co_return Attempt{answer.refusal, true};
        co_return Attempt{"it does not keep what it accepted", false};
    } catch (const RedfishError& error) {
        if (error.kind() == RedfishErrorKind::unreachable) throw;
        co_return Attempt{error.complaint.message, true};
    }
}

asio::awaitable<bool> HostEpochs::is_kept(std::shared_ptr<Station> station, TagPlace place, std::string text,
                                          base::Duration patience) {
    const auto deadline = clock_.now() + patience;
    while (true) {
        co_await clock_.sleep_for(kShows);
        const auto system = co_await station->hardware.system();
        const auto places = co_await station->hardware.tag_places(system);
        const auto now = std::ranges::find(places, place.link, &TagPlace::link);
        const auto record = now == places.end() ? std::nullopt : epoch_in(now->tag);
        if (record && record == epoch_in(text)) co_return true;
        if (record && record != epoch_in(place.tag)) throw ProviderError("another operator wrote its epoch");
        if (clock_.now() < deadline) continue;
        // Only what the BMC kept of our text is ours to replace.
        const bool is_cut_off = now != places.end() && now->tag != place.tag && is_cut(now->tag, text);
        if (is_cut_off) co_await station->hardware.write_tag(*now, json::string(place.tag));
        co_return false;
    }
}

}  // namespace providers::redfish
