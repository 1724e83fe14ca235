// The state of the simulated cluster, as values without rules.
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
    int iommugroup = -1;  // -1: no group
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
    bool sends_statistics = true;  // its pvestatd does not hang
    std::optional<TimePoint> powered_off_at;
    bool answered_since_power_off = false;  // the first call to a dead host takes longer
    bool maintenance = false;
    std::optional<TimePoint> booted_at;
    std::chrono::seconds clock_ahead{};  // of the true time; its tasks carry its own time
    unsigned next_pid = 1000;
    std::map<std::string, std::string> options;  // options of GET /nodes/{node}/config
    std::vector<PciDevice> pci_devices{
        {"0000:00:02.0", "0x1af4", "0x1042", "0x1af4", "0x1042", "0x018000", -1},
        {"0000:00:03.0", "0x1af4", "0x1041", "0x1af4", "0x1041", "0x020000", -1}};
};

// Volume is a disk image, an ISO or a snippet.
struct Volume {
    std::string name;     // part of the volume ID after the colon, without a linked clone's base
    std::string content;  // images, iso, vztmpl, import, snippets
    std::string format;
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    std::optional<int> vmid;
    std::string parent;  // name of a linked clone's base volume
    std::int64_t created = 0;
    std::string data;                // content of uploaded files and snippets
    std::uint64_t virtual_size = 0;  // size of the disk inside an image file; 0: the file's own size
};

// WebFile is a file that hosts can fetch from the web.
struct WebFile {
    std::string data;
    std::uint64_t virtual_size = 2 * kGiB;  // size of the disk in the file
};

struct Storage {
    std::string id;
    std::string type = "dir";
    std::string path = "/var/lib/vz";
    std::set<std::string> content{"images", "iso"};
    bool shared = false;
    bool enabled = true;
    bool active = true;
    std::set<std::string> hosts;  // hosts that have the storage; empty: all
    std::uint64_t total = 500 * kGiB;
    // Space that others use beside the volumes here, by host (key "" if shared).
    std::map<std::string, std::uint64_t> foreign_used;
    // Volumes by host (key "" if shared) and name.
    std::map<std::string, std::map<std::string, Volume>> volumes;
};

using Config = std::map<std::string, std::string, std::less<>>;

enum class Power { stopped, running };

// GuestProcess is a command that was started through the guest agent.
struct GuestProcess {
    bool exited = false;
    int exit_code = 0;
    std::string output, error_output;
};

// Running is the state that exists only while the machine is on.
struct Running {
    TimePoint since;        // start of QEMU
    TimePoint guest_since;  // last boot of the guest; a reset boots it again
    unsigned pid = 0;
    Config config;              // configuration at the start, which the guest sees
    bool guest_halted = false;  // QEMU runs, the guest does not
    bool is_paused = false;
    std::set<std::string> devices;          // addresses of devices that its host passes through
    std::uint64_t generation = 0;           // distinguishes one run from the next
    std::map<int, GuestProcess> processes;  // by PID in the guest
    int next_process = 2001;
};

// Guest says how the guest inside behaves; it survives restarts.
struct Guest {
    bool agent_silent = false;                 // installed, but never answers, and ignores ACPI as well
    std::optional<std::string> address;        // address that is reported for the first interface
    std::map<std::string, std::string> files;  // files that were written through the agent
};

struct Machine {
    int vmid = 0;
    std::string node;
    Config config;
    Config pending;
    std::set<std::string> pending_delete;
    std::optional<Running> running;
    Guest guest;
    // Cloud-init settings in the generated drive; nullopt before the first generation.
    std::optional<Config> generated_cloudinit;
};

// SecondFactors are what a user must show at the login beside the password. Without any, the password
// suffices.
struct SecondFactors {
    std::string totp;                     // the code of the moment; empty: none
    std::set<std::string> recovery_keys;  // each is good for one login
    bool webauthn = false;                // a security key, which needs a browser
    bool any() const { return !totp.empty() || !recovery_keys.empty() || webauthn; }
};

struct User {
    std::string id;  // name@realm
    std::string password;
    bool enabled = true;
    std::int64_t expire = 0;
    SecondFactors second_factors{};
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

// Durations says how long operations take. A task type that is not listed takes `other`.
struct Durations {
    std::map<std::string, Duration, std::less<>> tasks;
    Duration other = std::chrono::milliseconds{200};
    Duration boot = std::chrono::seconds{2};  // from the start until the guest agent answers
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
    std::string authority_fingerprint;  // fingerprint of pve-root-ca.pem, which distinguishes clusters of the
                                        // same name
    std::string authority_pem;          // pve-root-ca.pem itself; empty: not shown
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
    std::map<std::string, std::string> options;       // options of datacenter.cfg
    std::map<std::string, std::string> ha_resources;  // wanted state by sid
    std::map<std::string, HaRule> ha_rules;
    std::map<std::string, PciMapping> pci_mappings;  // by ID
    bool qemu_lacks_savevm = false;      // Debian's QEMU, which cannot write a guest's memory to a disk
    std::map<std::string, WebFile> web;  // by URL; a server without a URL here refuses connections
    Durations durations;
};

}  // namespace proxmox_simulator
