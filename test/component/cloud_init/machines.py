"""Describes the machines whose documents are tested: each form of a network configuration that we write, with the expected
result."""

KEYS = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0s7Yv5m0mG+1vYk6m4q1v3l5m0mG+1vYk6m4q1v3l5 me@home"]
NAMES = {"nameservers": ["10.0.0.53", "fd00::53"], "searchDomains": ["example.com"]}


def nic(number, *addresses):
    return {"name": f"net{number}", "mac": f"02:11:22:33:44:5{number}", "addresses": list(addresses)}


def machine(name, network, *interfaces, **more):
    return {"name": name, "network": network, "interfaces": list(interfaces), "user": "ops", "keys": KEYS,
            "format": "Kubeadm", **more}


STATIC = {"mode": "Static", "addresses": ["10.0.4.50"], "prefixLength": 22, "gateway": "10.0.4.1"}
SECOND_FAMILY = {"ipv6": {"addresses": ["fd00::5"], "prefixLength": 64, "gateway": "fd00::1"}}

MACHINES = [
    machine("silent", {}, nic(0)),
    machine("dhcp", NAMES, nic(0)),
    machine("static", STATIC | NAMES, nic(0, "10.0.4.50")),
    machine("static6", {"mode": "Static", "addresses": ["fd00::5"], "prefixLength": 64, "gateway": "fd00::1"}, nic(0, "fd00::5")),
    machine("dual", STATIC | SECOND_FAMILY | NAMES, nic(0, "10.0.4.50", "fd00::5")),
    machine("dhcp6", SECOND_FAMILY | NAMES, nic(0, "fd00::5")),
    machine("routes", STATIC | SECOND_FAMILY | {"mtu": 1450, "routes": [{"to": "10.9.0.0/16", "via": "10.0.4.254"},
                                                                         {"to": "fd09::/48", "via": "fd00::fe"}]},
            nic(0, "10.0.4.50", "fd00::5")),
    machine("two", STATIC | NAMES | {"interfaces": [{"name": "net1", "mode": "Static", "addresses": ["10.1.0.9"], "prefixLength": 24}]},
            nic(0, "10.0.4.50"), nic(1, "10.1.0.9")),
    machine("second", STATIC | {"interface": "net1", "interfaces": [{"name": "net0", "mode": "DHCP"}]},
            nic(0), nic(1, "10.0.4.50"), own="#cloud-config\nruncmd: [modprobe br_netfilter]\n"),
    *(machine(form.lower(), {}, nic(0), format=form) for form in ("K3s", "RKE2", "K0s")),
    machine("custom", {}, nic(0), format="Custom", given="#!/bin/sh\n# ü\njoin {{ .Token }} '{{ .Labels }}'\n"),
]


def interfaces_of(wish):
    """Returns the expected settings of each interface: (MAC address, DHCP, {address with prefix: gateway}, routes, MTU), by
    its name in the guest."""
    network = wish["network"]
    own = {"name": network.get("interface", "net0"), **{key: network[key] for key in network if key not in ("interface", "interfaces")}}
    expected = {}
    for settings in [own, *network.get("interfaces", [])]:
        known = next(one for one in wish["interfaces"] if one["name"] == settings["name"])
        second = settings.get("ipv6", {})
        addresses = {}
        for address in known["addresses"]:
            family = second if second and ":" in address else settings
            addresses[f"{address}/{family['prefixLength']}"] = family.get("gateway") if settings is own else None
        expected["eth" + settings["name"][3:]] = {
            "mac": known["mac"], "dhcp": settings.get("mode", "DHCP") == "DHCP", "addresses": addresses,
            "routes": {route["to"]: route["via"] for route in settings.get("routes", [])}, "mtu": settings.get("mtu")}
    return expected
