"""Defines the initial states of the recorded scenarios, as world files of the simulator."""

AUTOSCALER = [
    "Datastore.AllocateSpace", "Datastore.Audit", "Pool.Audit", "Pool.Allocate", "SDN.Use", "Sys.Audit", "VM.Allocate",
    "VM.Audit", "VM.Clone", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Cloudinit", "VM.Config.Disk",
    "VM.Config.HWType", "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.PowerMgmt",
    "VM.GuestAgent.Audit"]
LOCAL = {"id": "local", "type": "dir", "totalGiB": 250, "usedGiB": 29,
         "content": ["iso", "vztmpl", "backup", "images", "snippets", "import", "rootdir"]}
SHARED = {"id": "shared", "type": "dir", "shared": True, "totalGiB": 250, "usedGiB": 29,
          "content": ["images", "iso", "snippets", "import"]}
TOKEN_SECRET = "aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb"
ADMIN_SECRET = "cccccccc-1111-4222-8333-dddddddddddd"


def _host(name):
    return {"name": name, "cpus": 2, "memoryMiB": 24576}


def _access():
    return {
        "users": [{"id": "autoscaler@pve", "password": "secret12"}, {"id": "root2@pve"}],
        "tokens": [{"user": "autoscaler@pve", "id": "kube", "secret": TOKEN_SECRET, "separated": True},
                   {"user": "root2@pve", "id": "admin", "secret": ADMIN_SECRET, "separated": False}],
        "roles": {"KubeAutoscaler": AUTOSCALER},
        "acl": [{"path": "/", "user": "autoscaler@pve", "role": "KubeAutoscaler"},
                {"path": "/", "token": "autoscaler@pve!kube", "role": "KubeAutoscaler"},
                {"path": "/", "user": "root2@pve", "role": "Administrator"}]}


# In the recordings the guest agent answers between 6 and 11 s after the start.
DURATIONS = {"boot": 8, "request": 0.02, "guestShutdown": 1,
             "tasks": {"qmcreate": 0.3, "qmclone": 0.8, "qmclone-full": 4, "qmstart": 0.8, "qmstop": 0.6, "qmdestroy": 0.3}}


def one_node():
    """Returns the world of scenarios 1 to 4: a single host with the machine that existed before the recording."""
    template = {"vmid": 9000, "config": {"name": "tmpl", "memory": "256", "cores": 1, "agent": "1", "tags": "kube;tmpl",
                                         "scsi0": "local:1", "ide2": "local:cloudinit", "boot": "order=scsi0",
                                         "net0": "virtio=BC:24:11:00:90:00,bridge=vmbr0",
                                         "smbios1": "uuid=11111111-2222-4333-8444-900090009000"}}
    return _access() | {"standalone": True, "hosts": [_host("pve1")], "storages": [LOCAL], "pools": [],
                        "machines": [template], "durations": DURATIONS}


def sleeping_hosts():
    """Returns the world of scenarios 11 and 12: three hosts with Debian's QEMU, and a token that has rights on a resource
    pool."""
    machines = [right for right in AUTOSCALER if right.startswith("VM.")] + ["Pool.Audit"]
    disks = ["Datastore.AllocateSpace", "Datastore.Audit"]
    return {
        "cluster": "lab", "hosts": [_host(f"pve{n}") for n in (1, 2, 3)], "storages": [LOCAL, SHARED],
        "pools": [{"id": "kubernetes"}], "durations": DURATIONS, "qemuLacksSavevm": True,
        "machines": [{"vmid": 9000, "config": {"name": "tmpl", "memory": "256"}}],
        "users": [{"id": "automation@pve", "password": "secret12"}, {"id": "root2@pve"}],
        "tokens": [{"user": "automation@pve", "id": "kubenodesmith", "secret": TOKEN_SECRET, "separated": False},
                   {"user": "root2@pve", "id": "admin", "secret": ADMIN_SECRET, "separated": False}],
        "roles": {"Machines": machines, "Disks": disks, "Hosts": ["Sys.Audit"]},
        "acl": [{"path": "/", "user": "automation@pve", "role": "Hosts"},
                {"path": "/pool/kubernetes", "user": "automation@pve", "role": "Machines"},
                {"path": "/storage", "user": "automation@pve", "role": "Disks"},
                {"path": "/", "user": "root2@pve", "role": "Administrator"}]}


def three_nodes():
    """Returns the world of scenarios 7 and 8."""
    return _access() | {"cluster": "lab", "hosts": [_host(f"pve{n}") for n in (1, 2, 3)], "storages": [LOCAL, SHARED],
                        "pools": [], "durations": DURATIONS}
