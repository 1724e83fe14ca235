// What tells whose a VM is: its SMBIOS UUID and one line of JSON in its description. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "providers/machine.hpp"

namespace providers::proxmox {

// What is recorded of the volumes that a VM was made with. Whatever else stands in its configuration belongs
// to somebody else.
struct MadeVolumes {
    std::set<std::string> volumes;  // by their IDs
    std::set<std::string> drives;   // whose disks were made with it, whatever Proxmox called them
    bool operator==(const MadeVolumes&) const = default;
};

// {"kubenodesmith":{"cluster":...,"provider":...,"claim":"namespace/name","uid":...,"attempt":1}} in one
// line.
std::string describe_mark(const MachineIdentity& identity);
// The same with the record of its volumes.
std::string describe_mark(const MachineIdentity& identity, const MadeVolumes& made);
// The mark in a description, which may hold other lines as well; the UUID of the result is empty.
// nullopt: there is none, or it cannot be read.
std::optional<MachineIdentity> parse_mark(std::string_view description);

// The mark of a clone that still has its template's identity, or of a machine without tags: it names the VMID
// as well, so that a copy of it that somebody makes is told from it. Replaced by describe_mark once the
// machine has its own UUID and tags.
std::string describe_unfinished_mark(const MachineIdentity& identity, std::int64_t vmid,
                                     const MadeVolumes& made = {});
// The VMID in such a mark; nullopt for any other.
std::optional<std::int64_t> unfinished_vmid(std::string_view description);
// The record of volumes in a mark of any kind; nullopt: it has none, as marks of earlier versions.
std::optional<MadeVolumes> recorded_volumes(std::string_view description);

void add_record(boost::json::object& fields, const MadeVolumes& made);

// A line of JSON that is a mark, with those fields; and the fields of the first one in a description.
std::string describe_mark_fields(boost::json::object fields);
std::optional<boost::json::object> mark_fields(std::string_view description);

// A UUID in the form in which Proxmox keeps it.
std::string lower_case(std::string_view uuid);

}  // namespace providers::proxmox
