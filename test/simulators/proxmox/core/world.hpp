// The state of the simulated cluster, as values. Rules live elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace proxmox_simulator {

using base::Duration;
using base::TimePoint;
using base::WallTime;

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr std::uint64_t kGiB = 1024 * kMiB;

struct Bridge {
    std::string name;
    std::string address;  // CIDR, may be empty
    std::string port;
};

struct PciDevice {
    std::string address;  // 0000:01:00.0
    std::string vendor, device;
    std::string subsystem_vendor, subsystem_device;
    std::string device_class;
    int iommugroup = -1;  // none
};

struct Host {
    std::string name;
    std::string ip;
    int node_id = 1;
    int cpus = 16;
    std::uint64_t memory = 64 * kGiB;
    std::uint64_t memory_used_by_host = 2 * kGiB;
    std::vector<Bridge> bridges;
    std::string certificate_fingerprint;  // SHA-256, colon-separated
    bool powered_on = true;
    std::optional<TimePoint> powered_off_at;
    bool answered_since_power_off = false;  // the first call to a dead host takes longer
    bool maintenance = false;
    std::optional<TimePoint> booted_at;
    unsigned next_pid = 1000;
    std::map<std::string, std::string> options;  // of GET /nodes/{node}/config
    std::vector<PciDevice> pci_devices{
        {"0000:00:02.0", "0x1af4", "0x1042", "0x1af4", "0x1042", "0x018000", -1},
        {"0000:00:03.0", "0x1af4", "0x1041", "0x1af4", "0x1041", "0x020000", -1}};
};

// One volume: a disk image, an ISO, a snippet.
struct Volume {
    std::string name;     // the part of the volume ID after the colon, without a linked clone's base
    std::string content;  // images, iso, vztmpl, import, snippets
    std::string format;
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    std::optional<int> vmid;
    std::string parent;  // name of the base volume of a linked clone
    std::int64_t created = 0;
    std::string data;                // bytes of uploaded files and snippets
    std::uint64_t virtual_size = 0;  // of the disk that an image file holds; 0: its own size
};

// What hosts find when they fetch something from the web.
struct WebFile {
    std::string data;
    std::uint64_t virtual_size = 2 * kGiB;  // of the disk in it
};

struct Storage {
    std::string id;
    std::string type = "dir";
    std::string path = "/var/lib/vz";
    std::set<std::string> content{"images", "iso"};
    bool shared = false;
    bool enabled = true;
    bool active = true;
    std::set<std::string> hosts;  // where it exists; empty: everywhere
    std::uint64_t total = 500 * kGiB;
    // Used by others than the volumes here; per host (key "" if shared).
    std::map<std::string, std::uint64_t> foreign_used;
    // Per host (key "" if shared), by name.
    std::map<std::string, std::map<std::string, Volume>> volumes;
};

using Config = std::map<std::string, std::string, std::less<>>;

enum class Power { stopped, running };

// A command started through the guest agent.
struct GuestProcess {
    bool exited = false;
    int exit_code = 0;
    std::string output, error_output;
};

// What runs while the machine is on; all of it is gone when the machine stops.
struct Running {
    TimePoint since;        // QEMU started
    TimePoint guest_since;  // the guest booted last (a reset starts it anew)
    unsigned pid = 0;
    Config config;              // as it was at the start: what the guest sees
    bool guest_halted = false;  // QEMU is there, the guest is not
    bool is_paused = false;
    std::set<std::string> devices;          // addresses of its host's, passed through
    std::uint64_t generation = 0;           // tells one run from the next
    std::map<int, GuestProcess> processes;  // by PID in the guest
    int next_process = 2001;
};

// How the guest inside behaves; kept over restarts.
struct Guest {
    bool agent_silent = false;                 // installed but never answers, ignores ACPI as well
    std::optional<std::string> address;        // reported for the first interface
    std::map<std::string, std::string> files;  // written through the agent
};

struct Machine {
    int vmid = 0;
    std::string node;
    Config config;
    Config pending;
    std::set<std::string> pending_delete;
    std::optional<Running> running;
    Guest guest;
    // The cloud-init settings that the generated drive holds; nullopt before the first generation.
    std::optional<Config> generated_cloudinit;
};

struct User {
    std::string id;  // name@realm
    std::string password;
    bool enabled = true;
    std::int64_t expire = 0;
};

struct Token {
    std::string id;  // the part after '!'
    std::string user;
    std::string secret;
    bool separated = true;  // privsep
    std::int64_t expire = 0;
    std::string comment;
};

struct AclEntry {
    std::string path;
    std::string type;  // user or token
    std::string subject;
    std::string role;
    bool propagate = true;
};

struct Pool {
    std::string id;
    std::string comment;
    std::set<int> vms;
    std::set<std::string> storages;
};

struct PciMapping {
    std::vector<std::string> map;  // "node=pve1,path=0000:01:00.0,id=10de:1eb8"
    std::string description;
};

struct HaRule {
    std::string type;
    std::map<std::string, std::string> settings;
};

// How long things take; a task type that is not listed takes `other`.
struct Durations {
    std::map<std::string, Duration, std::less<>> tasks;
    Duration other = std::chrono::milliseconds{200};
    Duration boot = std::chrono::seconds{2};  // from start to the guest agent answering
    Duration guest_shutdown = std::chrono::seconds{1};
    Duration request = Duration::zero();                     // added to every request
    Duration remote_shell = std::chrono::milliseconds{300};  // one command on another host, by ssh

    Duration of_task(std::string_view type) const {
        auto known = tasks.find(type);
        return known == tasks.end() ? other : known->second;
    }
};

struct World {
    std::string cluster_name = "lab";
    std::string authority_fingerprint;  // of pve-root-ca.pem, which tells clusters of one name apart
    bool standalone = false;            // one host that never joined a cluster
    std::string version = "9.2.11";
    std::vector<Host> hosts;
    std::map<std::string, Storage> storages;
    std::map<int, Machine> machines;
    std::map<std::string, User> users;
    std::map<std::string, Token> tokens;  // by user!token
    std::map<std::string, std::set<std::string>> custom_roles;
    std::vector<AclEntry> acl;
    std::map<std::string, Pool> pools;
    std::map<std::string, std::string> options;       // datacenter.cfg
    std::map<std::string, std::string> ha_resources;  // sid to wished state
    std::map<std::string, HaRule> ha_rules;
    std::map<std::string, PciMapping> pci_mappings;  // by ID
    bool qemu_lacks_savevm = false;      // it is Debian's, which cannot write a guest's memory to a disk
    std::map<std::string, WebFile> web;  // by URL; whatever server is not named there refuses connections
    Durations durations;
};

}  // namespace proxmox_simulator
