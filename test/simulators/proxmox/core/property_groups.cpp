// The keys of the property strings in a virtual machine's configuration (Proxmox VE 9 API definition).
#include <stdexcept>

#include "test/simulators/proxmox/core/cpu_models.hpp"
#include "test/simulators/proxmox/core/schema.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

using Groups = std::map<std::string, Schema, std::less<>>;

constexpr std::string_view kDisk = R"(
    file! format=pve-volume-id-or-qm-path default
    volume alias=file
    format enum=raw|qcow|qed|qcow2|vmdk|cloop
    aio enum=native|threads|io_uring
    backup boolean
    bps integer
    bps_max_length integer min=1
    bps_rd integer
    bps_rd_max_length integer min=1
    bps_rd_length alias=bps_rd_max_length
    bps_wr integer
    bps_wr_max_length integer min=1
    bps_wr_length alias=bps_wr_max_length
    cache enum=none|writethrough|writeback|unsafe|directsync
    detect_zeroes boolean
    discard enum=ignore|on
    iops integer
    iops_max integer
    iops_max_length integer min=1
    iops_rd integer
    iops_rd_max integer
    iops_rd_max_length integer min=1
    iops_rd_length alias=iops_rd_max_length
    iops_wr integer
    iops_wr_max integer
    iops_wr_max_length integer min=1
    iops_wr_length alias=iops_wr_max_length
    mbps number
    mbps_max number
    mbps_rd number
    mbps_rd_max number
    mbps_wr number
    mbps_wr_max number
    media enum=cdrom|disk
    replicate boolean
    rerror enum=ignore|report|stop
    serial format=urlencoded maxlen=60
    shared boolean
    size format=disk-size
    snapshot boolean
    werror enum=enospc|ignore|report|stop)";

constexpr std::string_view kSsd = R"(
    ssd boolean
    wwn pattern=(?:^(0x)[0-9a-fA-F]{16}))";

void add_disks(Groups& groups) {
    Schema disk(kDisk);
    for (const char* bus : {"ide", "sata", "scsi", "virtio"}) groups[bus] = disk;
    for (const char* bus : {"ide", "sata", "scsi"}) groups[bus].add(kSsd);
    groups["ide"].add("model format=urlencoded maxlen=120");
    groups["cdrom"] = groups["ide"];
    for (const char* bus : {"ide", "sata", "scsi", "virtio"}) {
        groups[bus].add("import-from format=pve-volume-id-or-absolute-path");
    }
    groups["scsi"].add(R"(
        iothread boolean
        product pattern=[A-Za-z0-9\-_\s]{,16}
        vendor pattern=[A-Za-z0-9\-_\s]{,8}
        queues integer min=2
        ro boolean
        scsiblock boolean)");
    groups["virtio"].add("iothread boolean\nro boolean");
    groups["efidisk"] = Schema(R"(
        file! format=pve-volume-id-or-qm-path default
        volume alias=file
        format enum=raw|qcow|qed|qcow2|vmdk|cloop
        import-from format=pve-volume-id-or-absolute-path
        efitype enum=2m|4m
        ms-cert enum=2011|2023|2023w|2023k
        pre-enrolled-keys boolean
        size format=disk-size)");
    groups["tpmstate"] = Schema(R"(
        file! format=pve-volume-id-or-qm-path default
        volume alias=file
        format enum=raw|qcow2|vmdk
        import-from format=pve-volume-id-or-absolute-path
        size format=disk-size
        version enum=v1.2|v2.0)");
    groups["unused"] = Schema("file! format=pve-volume-id default\nvolume alias=file");
}

void add_network(Groups& groups) {
    const std::string models =
        "e1000|e1000-82540em|e1000-82544gc|e1000-82545em|e1000e|i82551|i82557b|i82559er|"
        "ne2k_isa|ne2k_pci|pcnet|rtl8139|virtio|vmxnet3";
    Schema net(R"(
        macaddr format=mac-addr
        bridge format=pve-bridge-id
        firewall boolean
        host-tunnel boolean
        link_down boolean
        mtu integer min=1 max=65520
        queues integer min=0 max=64
        rate number min=0
        tag integer min=1 max=4094
        trunks pattern=(?:\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*))");
    net.add("model! default enum=" + models);
    for (const auto& model : split(models, '|')) net.add(model + " alias=macaddr keyalias=model");
    groups["net"] = std::move(net);
    groups["ipconfig"] = Schema(R"(
        ip format=pve-ipv4-config
        gw format=ipv4 requires=ip
        ip6 format=pve-ipv6-config
        gw6 format=ipv6 requires=ip6)");
}

void add_identity(Groups& groups) {
    const std::string text = R"( pattern=[A-Za-z0-9+\/]+={0,2})";
    Schema smbios(R"(
        base64 boolean
        uuid pattern=[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12})");
    for (const char* key : {"family", "manufacturer", "product", "serial", "sku", "version"})
        smbios.add(key + text);
    groups["smbios1"] = std::move(smbios);
    groups["cicustom"] = Schema(R"(
        meta format=pve-volume-id
        network format=pve-volume-id
        user format=pve-volume-id
        vendor format=pve-volume-id)");
    groups["agent"] = Schema(R"(
        enabled! boolean default
        freeze-fs boolean
        freeze-fs-on-backup alias=freeze-fs
        guest-fsfreeze alias=freeze-fs
        fstrim_cloned_disks boolean
        type enum=virtio|isa)");
}

void add_processor(Groups& groups) {
    auto models = cpu_models();
    const auto all = join(models, "|");
    std::erase_if(models, [](const auto& model) { return model.starts_with("x86-64-"); });
    Schema cpu(R"(
        flags pattern=(?:(?:([+-])([a-zA-Z0-9\-_\.]+))(;(?:([+-])([a-zA-Z0-9\-_\.]+)))*)
        guest-phys-bits integer min=32 max=64
        hidden boolean
        hv-vendor-id pattern=(?:[a-zA-Z0-9]{1,12})
        level integer min=0 max=4294967295
        phys-bits format=pve-phys-bits)");
    cpu.add("cputype default pattern=(?:custom-.+|" + all + ")");
    cpu.add("reported-model enum=" + join(models, "|"));
    groups["cpu"] = std::move(cpu);
    groups["memory"] = Schema("current! integer min=16 default");
    groups["numa"] = Schema(R"(
        cpus! pattern=(?:\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*)
        hostnodes pattern=(?:\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*)
        memory number
        policy enum=preferred|bind|interleave)");
    groups["machine"] = Schema(R"(
        type default maxlen=40 pattern=(pc|pc(-i440fx)?-\d+(\.\d+)+(\+pve\d+)?(\.pxe)?|q35|pc-q35-\d+(\.\d+)+(\+pve\d+)?(\.pxe)?|virt(?:-\d+(\.\d+)+)?(\+pve\d+)?)
        aw-bits number min=32 max=64
        enable-s3 boolean
        enable-s4 boolean
        viommu enum=intel|virtio)");
    groups["sev"] = Schema(R"(
        type! enum=std|es|snp maxlen=3 default
        allow-smt boolean
        kernel-hashes boolean
        no-debug boolean
        no-key-sharing boolean)");
    groups["tdx"] = Schema(R"(
        type! enum=tdx default
        attestation! boolean
        vsock-cid integer min=2
        vsock-port integer min=0)");
}

void add_devices(Groups& groups) {
    groups["boot"] = Schema("legacy pattern=[acdn]{1,4} default\norder format=pve-qm-bootdev-list");
    groups["vga"] = Schema(R"(
        type default enum=cirrus|qxl|qxl2|qxl3|qxl4|none|serial0|serial1|serial2|serial3|std|virtio|virtio-gl|vmware
        clipboard enum=vnc
        memory integer min=4 max=512)");
    groups["watchdog"] = Schema(R"(
        model enum=i6300esb|ib700 default
        action enum=reset|shutdown|poweroff|pause|debug|none)");
    groups["rng"] = Schema(R"(
        source! enum=/dev/urandom|/dev/random|/dev/hwrng default
        max_bytes integer
        period integer)");
    groups["audio"] = Schema("device! enum=ich9-intel-hda|intel-hda|AC97\ndriver enum=spice|none");
    groups["ivshmem"] = Schema("size! integer min=1\nname pattern=[a-zA-Z0-9\\-]+");
    groups["spice"] = Schema("foldersharing boolean\nvideostreaming enum=off|all|filter");
    groups["virtiofs"] = Schema(R"(
        dirid! format=pve-configid default
        cache enum=auto|always|metadata|never
        direct-io boolean
        expose-acl boolean
        expose-xattr boolean)");
    groups["usb"] = Schema(R"(
        host default pattern=(?:(?:(0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4})|(?:\d+\-\d+(\.\d+)*)|[Ss][Pp][Ii][Cc][Ee])
        mapping format=pve-configid
        usb3 boolean)");
    const std::string address = R"((?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?)";
    Schema pci(R"(
        driver enum=vfio|keep
        legacy-igd boolean
        mapping format=pve-configid
        mdev pattern=[^/\.:]+
        pcie boolean
        rombar boolean
        romfile pattern=[^,;]+
        x-vga boolean)");
    pci.add("host default pattern=" + address + "(;" + address + ")*");
    for (const char* key : {"device-id", "sub-device-id", "sub-vendor-id", "vendor-id"}) {
        pci.add(std::string(key) + " pattern=0x[0-9a-fA-F]{4}");
    }
    groups["hostpci"] = std::move(pci);
    groups["pci-map"] = Schema(R"(
        node! format=pve-node
        path! string
        id! pattern=(0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4}
        subsystem-id pattern=(0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4}
        iommugroup integer min=0
        description string)");
    groups["wakeonlan"] = Schema(R"(
        mac! format=mac-addr default
        bind-interface format=pve-iface
        broadcast-address format=ipv4)");
}

Groups make_groups() {
    Groups groups;
    add_disks(groups);
    add_network(groups);
    add_identity(groups);
    add_processor(groups);
    add_devices(groups);
    groups["next-id"] = Schema("lower integer\nupper integer");
    groups["user-tag-access"] = Schema(R"(
        user-allow enum=none|list|existing|free
        user-allow-list pattern=(?i:[a-z0-9_][a-z0-9_\-\+\.]*)(?:;(?i:[a-z0-9_][a-z0-9_\-\+\.]*))*)");
    return groups;
}

}  // namespace

const Schema& property_group(std::string_view name) {
    static const Groups groups = make_groups();
    auto group = groups.find(name);
    if (group == groups.end()) throw std::invalid_argument("unknown property group " + std::string(name));
    return group->second;
}

}  // namespace proxmox_simulator
