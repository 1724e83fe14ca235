"""Describes a simulated Proxmox cluster with templates, on shared and on local storage, and reads its state for tests."""

import json
import re
import ssl
import urllib.parse
import urllib.request

from stack import wait_for, wait_until

HOSTS = ("alfaromeo", "porsche", "zagato")
SHARED_TEMPLATE, LOCAL_TEMPLATE = "debian", "debian-local"


def template(vmid, node, name, storage):
    return {"vmid": vmid, "node": node, "config": {
        "name": name, "template": 1, "memory": 1024, "cores": 1, "agent": 1, "boot": "order=scsi0",
        "scsi0": f"{storage}:8", "ide2": f"{storage}:cloudinit", "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}}


def world(**durations):
    """Returns three hosts. Template 9000 is on shared storage, 9001 to 9003 are on the local storage of each host."""
    machines = [template(9000, HOSTS[0], SHARED_TEMPLATE, "shared")]
    machines += [template(9001 + i, host, LOCAL_TEMPLATE, "local") for i, host in enumerate(HOSTS)]
    return {"machines": machines, "durations": {"boot": 1, **durations}}


def api(proxmox, method, path, **parameters):
    """Sends one request to the Proxmox API with the operator's own token, as an administrator would."""
    data = urllib.parse.urlencode(parameters).encode() if parameters else None
    request = urllib.request.Request(f"{proxmox.url}/api2/json{path}", data, method=method, headers={
        "Authorization": f"PVEAPIToken={proxmox.token_id}={proxmox.token_secret}"})
    context = ssl._create_unverified_context()  # a simulator on loopback, with its own certificate
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.load(answer)["data"]


def machine_named(proxmox, name):
    return next((m for m in proxmox.machines() if m["name"] == name), None)


def wait_listed(proxmox, *names):
    """Waits until machines are listed by name. Proxmox lists a machine immediately, but its name only with the next report
    of its host."""
    listed = lambda: {guest.get("name") for guest in api(proxmox, "GET", "/cluster/resources?type=vm")}
    wait_until(f"{', '.join(names)} in the list", listed, lambda found: found >= set(names))


def volumes(proxmox):
    """Returns the names of the volumes on all storages that belong to no template."""
    names = [re.split("[:/]", v["volid"])[-1] for s in proxmox.control("GET", "/world")["storages"] for v in s["volumes"]]
    return [name for name in names if not re.search(r"-900\d-", name)]


def requests_to_make_machines(proxmox):
    """Returns all requests so far, except those that follow tasks or talk to guests."""
    return [r for r in proxmox.requests() if "/tasks/" not in r["path"] and "/agent/" not in r["path"]]


def destroy_by_hand(proxmox, machine):
    """Stops and then destroys a machine, as an administrator does."""
    path = f"/nodes/{machine['node']}/qemu/{machine['vmid']}"
    api(proxmox, "POST", f"{path}/status/stop")
    wait_for("its end", lambda: machine_named(proxmox, machine["name"])["status"] == "stopped")
    api(proxmox, "DELETE", f"{path}?purge=1")


def documented_world(page):
    """Returns the world of an administrator who followed docs/proxmox.md, or another page with such commands, on one host: the
    pool, the token with exactly the rights on the page, and the template if the page makes one."""
    text = page.read_text().replace("\\\n", "")

    def lines(pattern):
        return [tuple(part.strip() for part in found) for found in re.findall(pattern, text, re.MULTILINE)]
    user, token = lines(r"^pveum user token add (\S+) (\S+) ")[0]
    templates = [template(int(vmid), "pve1", name, "local-lvm") for vmid, name in lines(r"^qm create (\d+) --name (\S+)")]
    contents = dict(lines(r"^pvesm set (\S+) --content (\S+)"))
    return {
        "hosts": [{"name": "pve1", "cpus": 32, "memoryMiB": 131072}],
        "storages": [{"id": "local", "content": contents.get("local", "iso,snippets").split(",")},
                     {"id": "local-lvm", "type": "lvmthin", "content": ["images"], "totalGiB": 1000}],
        "pools": [{"id": pool} for pool in re.findall(r"^pveum pool add (\S+)", text, re.MULTILINE)],
        "users": [{"id": user}],
        "tokens": [{"user": user, "id": token, "secret": "00000000-1111-4222-8333-444444444444", "separated": False}],
        "roles": {role: rights.split() for role, rights in lines(r'^pveum role add (\S+) -privs "([^"]+)"')},
        "acl": [{"path": path, "user": who, "role": role}
                for path, who, role in lines(r"^pveum acl modify (\S+) --users (\S+) --roles (\S+)")],
        "machines": templates,
        "durations": {"boot": 1},
    }
