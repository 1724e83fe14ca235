#include "test/simulators/proxmox/core/vm_options.hpp"

#include <algorithm>
#include <array>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::string_view kOptions = R"(
    acpi boolean
    affinity format=pve-cpuset
    agent props=agent
    allow-ksm boolean
    amd-sev props=sev
    arch enum=x86_64|aarch64
    args string
    audio0 props=audio
    autostart boolean
    balloon integer min=0
    bios enum=seabios|ovmf
    boot props=boot
    bootdisk format=pve-qm-bootdisk pattern=(ide|sata|scsi|virtio)\d+
    cdrom props=cdrom
    cicustom props=cicustom
    cipassword string
    citype enum=configdrive2|nocloud|opennebula
    ciupgrade boolean
    ciuser string
    cores integer min=1
    cpu props=cpu
    cpulimit number min=0 max=128
    cpuunits integer min=1 max=262144
    description maxlen=8192
    efidisk0 props=efidisk
    freeze boolean
    hookscript format=pve-volume-id
    hostpci[0..15] props=hostpci
    hotplug format=pve-hotplug-features
    hugepages enum=any|2|1024
    ide[0..3] props=ide
    intel-tdx props=tdx
    ipconfig[0..31] props=ipconfig
    ivshmem props=ivshmem
    keephugepages boolean
    keyboard enum=de|de-ch|da|en-gb|en-us|es|fi|fr|fr-be|fr-ca|fr-ch|hu|is|it|ja|lt|mk|nl|no|pl|pt|pt-br|sv|sl|tr
    kvm boolean
    localtime boolean
    lock enum=backup|clone|create|migrate|rollback|snapshot|snapshot-delete|suspending|suspended
    machine props=machine
    memory props=memory
    migrate_downtime number min=0
    migrate_speed integer min=0
    name format=dns-name
    nameserver format=address-list
    net[0..31] props=net
    numa boolean
    numa[0..7] props=numa
    onboot boolean
    ostype enum=other|wxp|w2k|w2k3|w2k8|wvista|win7|win8|win10|win11|l24|l26|solaris
    parallel[0..2] pattern=/dev/parport\d+|/dev/usb/lp\d+
    protection boolean
    reboot boolean
    rng0 props=rng
    sata[0..5] props=sata
    scsi[0..30] props=scsi
    scsihw enum=lsi|lsi53c810|virtio-scsi-pci|virtio-scsi-single|megasas|pvscsi
    searchdomain string
    serial[0..3] pattern=(/dev/[^,]+|socket)
    shares integer min=0 max=50000
    smbios1 props=smbios1 maxlen=512
    smp integer min=1
    sockets integer min=1
    spice_enhancements props=spice
    sshkeys format=urlencoded
    startdate pattern=(now|\d{4}-\d{1,2}-\d{1,2}(T\d{1,2}:\d{1,2}:\d{1,2})?)
    startup format=pve-startup-order
    tablet boolean
    tags format=pve-tag-list
    tdf boolean
    template boolean
    tpmstate0 props=tpmstate
    unused[0..255] props=unused
    usb[0..13] props=usb
    vcpus integer min=1
    vga props=vga
    virtio[0..15] props=virtio
    virtiofs[0..9] props=virtiofs
    vmgenid pattern=(?:[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}|[01])
    vmstatestorage format=pve-storage-id
    watchdog props=watchdog)";

// Each entry names privileges and the options that need them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPrivileges{{
    {"VM.Config.CPU", "cores cpu cpulimit cpuunits numa smp sockets vcpus"},
    {"VM.Config.Memory", "allow-ksm balloon memory shares"},
    {"VM.Config.HWType", "acpi audio0 hotplug kvm machine rng0 scsihw smbios1 tablet vga watchdog"},
    {"VM.Config.Options",
     "agent autostart bios description keyboard localtime migrate_downtime migrate_speed name onboot ostype "
     "protection reboot startdate startup tdf template tags"},
    {"VM.Config.Disk", "boot bootdisk vmstatestorage"},
    {"VM.PowerMgmt", "freeze"},
}};

std::string_view without_number(std::string_view option) {
    return option.substr(0, option.find_last_not_of("0123456789") + 1);
}

bool listed(std::string_view words, std::string_view option) {
    auto all = split_list(words);
    return std::find(all.begin(), all.end(), option) != all.end();
}

}  // namespace

const Schema& vm_options() {
    static const Schema schema(kOptions);
    return schema;
}

const std::vector<std::string>& drive_options() {
    static const auto names = [] {
        std::vector<std::string> all;
        for (auto [bus, count] : {std::pair{"ide", 4}, {"scsi", 31}, {"virtio", 16}, {"sata", 6}}) {
            for (int i = 0; i < count; ++i) all.push_back(bus + std::to_string(i));
        }
        all.insert(all.end(), {"efidisk0", "tpmstate0"});
        return all;
    }();
    return names;
}

bool is_drive(std::string_view option) {
    const auto& all = drive_options();
    return std::find(all.begin(), all.end(), option) != all.end();
}

std::string_view drive_group(std::string_view option) {
    return without_number(option);
}

bool is_network_interface(std::string_view option) {
    return without_number(option) == "net" && option != "net";
}

bool is_cloudinit_option(std::string_view option) {
    return without_number(option) == "ipconfig" ||
           listed("cicustom cipassword citype ciuser ciupgrade nameserver searchdomain sshkeys", option);
}

std::vector<std::string_view> option_privileges(std::string_view option) {
    if (is_cloudinit_option(option)) return {"VM.Config.Cloudinit", "VM.Config.Network"};
    if (is_network_interface(option)) return {"VM.Config.Network"};
    auto kind = without_number(option);
    if (option != kind && kind == "numa") return {"VM.Config.CPU"};
    if (option != kind && (kind == "serial" || kind == "usb")) return {"VM.Config.HWType"};
    if (option != kind && kind == "unused") return {"VM.Config.Disk"};
    for (const auto& [privilege, options] : kPrivileges) {
        if (listed(options, option)) return {privilege};
    }
    return {};
}

bool is_hotpluggable(std::string_view option) {
    return is_drive(option) || is_network_interface(option) || is_cloudinit_option(option) ||
           without_number(option) == "unused" ||
           listed(
               "name description tags onboot protection startup hookscript autostart shares cpuunits "
               "cpulimit "
               "lock migrate_downtime migrate_speed hotplug vmstatestorage",
               option);
}

}  // namespace proxmox_simulator
