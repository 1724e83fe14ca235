// The mark that identifies a VM's owner: its SMBIOS UUID and one line of JSON in its description. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "providers/capabilities.hpp"
#include "providers/machine.hpp"

namespace providers::proxmox {

// MadeVolumes records the volumes that a VM was made with. All other volumes in its configuration belong to
// somebody else.
struct MadeVolumes {
    std::set<std::string> volumes;  // volume IDs
    std::set<std::string> drives;   // drives whose disks were made with the VM, under any names
    bool operator==(const MadeVolumes&) const = default;
};

// Returns {"kubenodesmith":{"cluster":...,"provider":...,"claim":"namespace/name","uid":...,"attempt":1}} in
// one line.
std::string describe_mark(const MachineIdentity& identity);
// Returns the same with its VMID and the record of its volumes. A backup that somebody restores under another
// VMID has the mark and the UUID too.
std::string describe_mark(const MachineIdentity& identity, std::int64_t vmid, const MadeVolumes& made);
// Parses the mark in a description, which may have other lines as well. The result's UUID is empty. Returns
// nullopt if there is no readable mark.
std::optional<MachineIdentity> parse_mark(std::string_view description);

// Returns the mark of a clone that still has its template's identity, or of a machine without tags.
// describe_mark replaces it once the machine has its own UUID and tags.
std::string describe_unfinished_mark(const MachineIdentity& identity, std::int64_t vmid,
                                     const MadeVolumes& made = {});
// Returns the VMID in such a mark; nullopt for any other mark.
std::optional<std::int64_t> unfinished_vmid(std::string_view description);
// Returns the VMID in any mark, also in that of an image's template. nullopt: it names none, like marks of
// earlier versions.
std::optional<std::int64_t> marked_vmid(std::string_view description);
// Returns the record of volumes in any mark. nullopt: it has no record, like marks of earlier versions.
std::optional<MadeVolumes> recorded_volumes(std::string_view description);

void add_vmid(boost::json::object& fields, std::int64_t vmid);
void add_record(boost::json::object& fields, const MadeVolumes& made);

// Returns one line of JSON that is a mark with those fields. mark_fields returns the fields of the first mark
// in a description.
std::string describe_mark_fields(boost::json::object fields);
std::optional<boost::json::object> mark_fields(std::string_view description);

// Returns the epoch of an operator's leader in a description, which has a line of its own; nullopt: none.
std::optional<EpochRecord> parse_epoch(std::string_view description);
// Returns the description with that epoch instead of another one.
std::string with_epoch(std::string_view description, const EpochRecord& record);
// Returns the lines of the description that are not an epoch.
std::string without_epoch(std::string_view description);

}  // namespace providers::proxmox
