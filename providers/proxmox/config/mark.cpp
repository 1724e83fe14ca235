#include "providers/proxmox/config/mark.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kKey = "kubenodesmith";
constexpr std::string_view kLineStart = "{\"kubenodesmith\":";
constexpr std::string_view kEpochKey = "kubenodesmith-operator";
constexpr std::string_view kEpochLineStart = "{\"kubenodesmith-operator\":";

json::object fields_for(const MachineIdentity& identity) {
    return {{"cluster", identity.cluster_id},
            {"provider", identity.provider_uid},
            {"claim", identity.claim_namespace + "/" + identity.claim_name},
            {"uid", identity.claim_uid},
            {"attempt", identity.attempt}};
}

constexpr const char* kVmid = "vmid";
constexpr const char* kUnfinished = "unfinished";
constexpr const char* kVolumes = "volumes";
constexpr const char* kDrives = "drives";

std::set<std::string> names_in(const json::object& fields, const char* key) {
    std::set<std::string> names;
    const auto* list = fields.if_contains(key);
    if (!list || !list->is_array()) return names;
    for (const auto& name : list->get_array()) names.insert(text_of(name));
    return names;
}

// Returns the fields of the first line that begins so, and is an object with an object of that name.
std::optional<json::object> fields_of_line(std::string_view description, std::string_view start,
                                           std::string_view key) {
    while (!description.empty()) {
        const auto end = std::min(description.find('\n'), description.size());
        const auto line = description.substr(0, end);
        description.remove_prefix(std::min(end + 1, description.size()));
        if (!line.starts_with(start)) continue;
        boost::system::error_code error;
        const auto document = json::parse(line, error);
        const auto* mark = !error && document.is_object() ? document.get_object().if_contains(key) : nullptr;
        if (!mark || !mark->is_object()) return std::nullopt;
        return mark->get_object();
    }
    return std::nullopt;
}

}  // namespace

std::string describe_mark_fields(json::object fields) {
    return json::serialize(json::object{{kKey, std::move(fields)}});
}

std::optional<json::object> mark_fields(std::string_view description) {
    return fields_of_line(description, kLineStart, kKey);
}

std::optional<EpochRecord> parse_epoch(std::string_view description) {
    const auto fields = fields_of_line(description, kEpochLineStart, kEpochKey);
    if (!fields) return std::nullopt;
    EpochRecord record;
    record.epoch = foreign::shown(text_of(*fields, "epoch"));
    record.rival = foreign::shown(text_of(*fields, "rival"));
    return record.epoch.empty() ? std::nullopt : std::optional(std::move(record));
}

std::string without_epoch(std::string_view description) {
    std::string kept;
    while (!description.empty()) {
        const auto end = std::min(description.find('\n'), description.size());
        const auto line = description.substr(0, end);
        description.remove_prefix(std::min(end + 1, description.size()));
        if (!line.starts_with(kEpochLineStart)) kept.append(line).append("\n");
    }
    while (kept.ends_with('\n')) kept.pop_back();
    return kept;
}

std::string with_epoch(std::string_view description, const EpochRecord& record) {
    json::object fields{{"epoch", record.epoch}};
    if (!record.rival.empty()) fields["rival"] = record.rival;
    return without_epoch(description) + "\n" + json::serialize(json::object{{kEpochKey, std::move(fields)}});
}

std::string describe_mark(const MachineIdentity& identity) {
    return describe_mark_fields(fields_for(identity));
}

void add_vmid(json::object& fields, std::int64_t vmid) {
    fields[kVmid] = vmid;
}

void add_record(json::object& fields, const MadeVolumes& made) {
    const auto listed = [](const std::set<std::string>& names) {
        json::array list;
        for (const auto& name : names) list.emplace_back(name);
        return list;
    };
    fields[kVolumes] = listed(made.volumes);
    if (!made.drives.empty()) fields[kDrives] = listed(made.drives);
}

std::string describe_mark(const MachineIdentity& identity, std::int64_t vmid, const MadeVolumes& made) {
    auto fields = fields_for(identity);
    add_vmid(fields, vmid);
    add_record(fields, made);
    return describe_mark_fields(std::move(fields));
}

std::string describe_unfinished_mark(const MachineIdentity& identity, std::int64_t vmid,
                                     const MadeVolumes& made) {
    auto fields = fields_for(identity);
    fields[kUnfinished] = vmid;
    add_record(fields, made);
    return describe_mark_fields(std::move(fields));
}

std::optional<std::int64_t> unfinished_vmid(std::string_view description) {
    const auto fields = mark_fields(description);
    if (!fields || !fields->contains(kUnfinished)) return std::nullopt;
    return integer_of(*fields, kUnfinished);
}

std::optional<std::int64_t> marked_vmid(std::string_view description) {
    const auto fields = mark_fields(description);
    for (const auto* key : {kVmid, kUnfinished})
        if (fields && fields->contains(key)) return integer_of(*fields, key);
    return std::nullopt;
}

std::optional<MadeVolumes> recorded_volumes(std::string_view description) {
    const auto fields = mark_fields(description);
    if (!fields || !fields->contains(kVolumes)) return std::nullopt;
    return MadeVolumes{names_in(*fields, kVolumes), names_in(*fields, kDrives)};
}

std::optional<MachineIdentity> parse_mark(std::string_view description) {
    const auto fields = mark_fields(description);
    if (!fields) return std::nullopt;
    const auto claim = text_of(*fields, "claim");
    const auto slash = claim.find('/');
    MachineIdentity identity;
    identity.cluster_id = foreign::shown(text_of(*fields, "cluster"));
    identity.provider_uid = foreign::shown(text_of(*fields, "provider"));
    identity.claim_uid = foreign::shown(text_of(*fields, "uid"));
    identity.attempt = integer_of(*fields, "attempt");
    if (slash == std::string::npos || identity.claim_uid.empty() || identity.attempt < 1) return std::nullopt;
    identity.claim_namespace = foreign::shown(claim.substr(0, slash));
    identity.claim_name = foreign::shown(claim.substr(slash + 1));
    return identity;
}

}  // namespace providers::proxmox
