"""Makes random requests, right and wrong ones, from Proxmox' API definition."""

TEXTS = ["", "a", "abc", "a_b", "a-b", "x.y", "-a", "a b", "a,b", "a;b", "0", "1", "2", "5", "100", "-1", "1.5", "99999999999",
         "true", "yes", "on", "vmbr0", "local", "local:8", "local:iso/x.iso,media=cdrom", "none,media=cdrom", "local:cloudinit",
         "virtio,bridge=vmbr0", "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=12", "e1000=zz,bridge=vmbr0", "model=virtio,firewall=on",
         "virtio,virtio", "bridge=vmbr0", "ip=dhcp", "ip=10.0.0.5/24,gw=10.0.0.1", "gw=10.0.0.1", "ip=10.0.0.5", "ip6=auto",
         "ip6=fd00::1/64,gw6=fd00::2", "uuid=11111111-2222-4333-8444-555555555555", "uuid=x", "serial=YQ==,base64=1",
         "order=scsi0;net0", "order=foo", "cdn", "enabled=1,fstrim_cloned_disks=1", "1,type=isa", "host", "x86-64-v2-AES", "hosts",
         "host,flags=+aes;-pcid", "user=local:snippets/u.yaml", "10G", "+1G", "10GB", "scsi0", "scsi31", "a@pve", "a@pve!tok",
         "a@b", "images", "images,iso", "foo", "4096", "65536", "2024-01-01", "now", "socket", "/dev/ttyS0", "order=1,up=5",
         "http://x/y", "ftp://x", "10.0.0.1", "fd00::1", "example.org", "10.0.0.0/24", "%20a", "ä", "a" * 70, "network,disk"]


class Generator:
    def __init__(self, definition, rng):
        self.definition, self.rng = definition, rng

    def request(self, endpoint):
        """Returns one request for an endpoint, with valid path parameters and other parameters of all kinds."""
        path = endpoint["path"]
        for name, value in (("node", "pve1"), ("vmid", "105"), ("storage", "local"), ("upid", "UPID:x"), ("volume", "v"),
                            ("userid", "a@pve"), ("tokenid", "tok"), ("poolid", "p"), ("sid", "vm:1")):
            path = path.replace("{" + name + "}", value)
        properties = endpoint["parameters"].get("properties", {})
        in_path = {name for name in properties if "{" + name + "}" in endpoint["path"]}
        params = {}
        for name, schema in properties.items():
            optional = schema.get("optional")
            if name in in_path or self.rng.random() > (min(0.3, 6 / len(properties)) if optional else 0.9):
                continue
            params[self._index(name, schema)] = self._value(schema)
        if self.rng.random() < 0.1:
            params[self.rng.choice(["bogus", "net32", "scsi01", "ide", "Name"])] = "1"
        return {"method": endpoint["method"], "path": path, "params": params}

    def _index(self, name, schema):
        if "[n]" not in name:
            return name
        return name.replace("[n]", str(self.rng.randint(0, schema["index"]["max"] + 1)))

    def _value(self, schema):
        roll = self.rng.random()
        if roll < 0.45:
            return self.rng.choice(TEXTS)
        if "enum" in schema and roll < 0.9:
            return self.rng.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "boolean":
            return self.rng.choice(["0", "1"])
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
            return str(self.rng.choice([low, high, low - 1, high + 1, self.rng.randint(int(low), int(high))]))
        if kind == "array":
            return ["a", "b"]
        group = self._group(schema)
        return self._property_string(group) if group else self.rng.choice(TEXTS)

    def _group(self, schema):
        form = schema.get("format")
        if isinstance(form, dict):
            return form.get("property-string")
        return self.definition["formats"].get(form, {}).get("properties") if form else None

    def _property_string(self, group):
        parts = []
        for name, schema in group.items():
            wanted = 0.15 if schema.get("optional") or "alias" in schema else 0.9
            if self.rng.random() < wanted:
                value = self.rng.choice(schema["enum"]) if "enum" in schema and self.rng.random() < 0.8 else self.rng.choice(TEXTS)
                parts.append(value if schema.get("default_key") and self.rng.random() < 0.5 else f"{name}={value}")
        return ",".join(parts)
