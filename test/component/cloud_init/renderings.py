"""Reads facts about an interface from the files of each renderer. The facts are the same for all renderers."""

import configparser
import re

import yaml

RENDERERS = ["netplan", "networkd", "eni", "sysconfig", "network-manager"]


def _prefix_of_mask(mask):
    return sum(bin(int(part)).count("1") for part in mask.split("."))


def _sections(text):
    """Returns [(section, {key: [values]})] of a file in systemd's language, whose sections repeat."""
    sections = []
    for line in text.splitlines():
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        elif "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            sections[-1][1].setdefault(key, []).append(value)
    return sections


def _fact(mac=None, dhcp=False, mtu=None):
    return {"mac": mac, "dhcp": dhcp, "addresses": set(), "gateways": set(), "routes": {}, "mtu": mtu, "dns": set(), "search": set()}


def _add_route(fact, to, via):
    if to in ("default", "0.0.0.0/0", "::/0", None):
        fact["gateways"].add(via)
    else:
        fact["routes"][to] = via


def netplan(files):
    document = yaml.safe_load(files["etc/netplan/50-cloud-init.yaml"])["network"]
    facts = {}
    for settings in document["ethernets"].values():
        fact = _fact(settings["match"]["macaddress"], settings.get("dhcp4", False), settings.get("mtu"))
        fact["addresses"] = set(settings.get("addresses", []))
        fact["gateways"] = {settings[key] for key in ("gateway4", "gateway6") if key in settings}
        for route in settings.get("routes", []):
            _add_route(fact, route["to"], route["via"])
        fact["dns"] = set(settings.get("nameservers", {}).get("addresses", []))
        fact["search"] = set(settings.get("nameservers", {}).get("search", []))
        facts[settings["set-name"]] = fact
    return facts


def networkd(files):
    facts = {}
    for path, text in files.items():
        if not path.endswith(".network"):
            continue
        sections = _sections(text)
        match = next(values for name, values in sections if name == "Match")
        fact = facts[match["Name"][0]] = _fact(match["MACAddress"][0])
        for name, values in sections:
            if name == "Network":
                fact["dhcp"] = values.get("DHCP", ["no"])[0] in ("ipv4", "yes")
                fact["dns"] |= set(" ".join(values.get("DNS", [])).split())
                fact["search"] |= set(" ".join(values.get("Domains", [])).split())
                fact["addresses"] |= set(values.get("Address", []))
            elif name == "Address":
                fact["addresses"] |= set(values["Address"])
            elif name == "Route":
                _add_route(fact, values.get("Destination", [None])[0], values["Gateway"][0])
            elif name == "Link" and "MTUBytes" in values:
                fact["mtu"] = int(values["MTUBytes"][0])
    return facts


def eni(files):
    rules = next(text for path, text in files.items() if "70-persistent-net.rules" in path)
    facts = {name: _fact(mac) for mac, name in re.findall(r'ATTR\{address\}=="([^"]+)", NAME="([^"]+)"', rules)}
    text = next(text for path, text in files.items() if "interfaces.d" in path or path.endswith("network/interfaces"))
    fact = None
    everywhere = _fact()  # settings of the loopback interface
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "iface":
            fact = everywhere if words[1] == "lo" else facts[words[1]]
            if words[2:] == ["inet", "dhcp"]:
                fact["dhcp"] = True
        elif words[0] == "address":
            fact["addresses"].add(words[1])
        elif words[0] == "gateway":
            fact["gateways"].add(words[1])
        elif words[0] == "mtu":
            fact["mtu"] = int(words[1])
        elif words[0] == "dns-nameservers":
            fact["dns"] |= set(words[1:])
        elif words[0] == "dns-search":
            fact["search"] |= set(words[1:])
        elif words[0] == "post-up":
            # The commands are route add [-A inet6|-net] TO gw VIA and ip [-family inet6] route add TO via VIA.
            to, via = re.search(r"(\S+/\d+) (?:gw|via) (\S+)", line).groups()
            fact["routes"][to] = via
    for each in facts.values():
        each["dns"] |= everywhere["dns"]
        each["search"] |= everywhere["search"]
    return facts


def sysconfig(files):
    facts = {}
    values = {}
    for path, text in files.items():
        name = path.rsplit("/", 1)[-1]
        if name.startswith("ifcfg-"):
            values[name[6:]] = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    for name, keys in values.items():
        fact = facts[keys["DEVICE"]] = _fact(keys["HWADDR"], keys["BOOTPROTO"] == "dhcp", int(keys["MTU"]) if "MTU" in keys else None)
        assert name == keys["DEVICE"]
        if "IPADDR" in keys:
            fact["addresses"].add(f"{keys['IPADDR']}/{_prefix_of_mask(keys['NETMASK'])}")
        if "IPV6ADDR" in keys:
            fact["addresses"].add(keys["IPV6ADDR"])
        fact["gateways"] = {keys[key] for key in ("GATEWAY", "IPV6_DEFAULTGW") if key in keys}
        route = dict(line.split("=", 1) for line in _text(files, f"route-{name}").splitlines() if "=" in line)
        for number in range(len(route) // 3):
            prefix = _prefix_of_mask(route[f"NETMASK{number}"])
            fact["routes"][f"{route[f'ADDRESS{number}']}/{prefix}"] = route[f"GATEWAY{number}"]
        for to, via in re.findall(r"^(\S+) via (\S+)", _text(files, f"route6-{name}"), re.MULTILINE):
            _add_route(fact, to, via)
        resolv = _text(files, "resolv.conf")
        fact["dns"] = set(re.findall(r"^nameserver (\S+)", resolv, re.MULTILINE))
        fact["search"] = set(" ".join(re.findall(r"^search (.+)", resolv, re.MULTILINE)).split())
    return facts


def _text(files, name):
    return next((text for path, text in files.items() if path.endswith("/" + name)), "")


def network_manager(files):
    facts = {}
    for path, text in files.items():
        if not path.endswith(".nmconnection"):
            continue
        keys = configparser.ConfigParser()
        keys.read_string(text)
        name = keys["connection"]["id"].removeprefix("cloud-init ")
        link = keys["ethernet"] if "ethernet" in keys else {}
        fact = facts[name] = _fact(link.get("mac-address"), mtu=int(link["mtu"]) if "mtu" in link else None)
        for family in ("ipv4", "ipv6"):
            section = keys[family] if family in keys else {}
            # If an address is given, NetworkManager adds it to those of "auto".
            fact["dhcp"] |= family == "ipv4" and section.get("method") == "auto"
            for key, value in section.items():
                if key.startswith("address"):
                    fact["addresses"].add(value)
                elif key == "gateway":
                    fact["gateways"].add(value)
                elif key.startswith("route"):
                    _add_route(fact, *value.split(",")[:2])
                elif key == "dns":
                    fact["dns"] |= set(filter(None, value.split(";")))
                elif key == "dns-search":
                    fact["search"] |= set(filter(None, value.split(";")))
    return facts


READERS = {"netplan": netplan, "networkd": networkd, "eni": eni, "sysconfig": sysconfig, "network-manager": network_manager}


def read(renderer, files):
    return READERS[renderer](files)
