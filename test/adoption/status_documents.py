"""Made-up documents of the status page, for its pictures and for states that no small cluster has."""

import math
import random
from datetime import datetime, timedelta, timezone

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=timezone.utc)


def at(**ago):
    return (NOW - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def history(nodes_now, troubles, minutes=1440):
    """Returns a day with more work in office hours and two bursts, which ends with what is so now."""
    chance = random.Random(7)
    times, nodes, waiting = [], [], []
    count = 10.0
    for minute in range(minutes):
        hour = (12 + minute / 60) % 24
        burst = 9 * math.exp(-(((minute - 300) / 50) ** 2)) + 6 * math.exp(-(((minute - 1260) / 40) ** 2))
        wanted = 5 + 6 * max(0, math.sin((hour - 6) / 14 * math.pi)) + burst
        waiting.append(max(0, round(14 * (wanted - count) + 3 * chance.random() - 2)) if wanted > count else 0)
        count += max(-.02, min(.06, wanted - count))
        nodes.append(round(count))
        times.append(int(NOW.timestamp()) - 60 * (minutes - 1 - minute))
    nodes[-20:] = [round(nodes[-20] + (nodes_now - nodes[-20]) * i / 19) for i in range(20)]
    for trouble in troubles:
        since = int(datetime.fromisoformat(trouble["since"].replace("Z", "+00:00")).timestamp())
        for i, time in enumerate(times):
            waiting[i] += trouble["count"] if trouble["kind"] == "pod" and time >= since - 60 else 0
    price = [24 * count for count in nodes]
    return {"intervalSeconds": 60, "keptBy": "operator", "times": times, "nodes": nodes, "waitingPods": waiting, "price": price}


def stages(*seconds, since):
    """Returns stages that took so long; the last one goes on. `since` is the claim's age in seconds."""
    found = []
    for name, lasted in zip(("Launch", "Register", "Initialize", "Serve"), (*seconds, None)):
        found.append({"name": name, "begin": at(seconds=since), **({"end": at(seconds=since - lasted)} if lasted is not None else {})})
        since -= lasted or 0
    return found


def claim(number, phase="Ready", host="ford", since=7200, size=(4, 8192), pool="workers", **more):
    letters = "bcdfghjklmnpqrstvwxz"
    name = pool + "-" + "".join(letters[number * 7919 // len(letters) ** i % len(letters)] for i in range(5))
    lasted = {"Launching": (), "Registering": (14,), "Initializing": (14, 41)}.get(phase, (14, 41, 6))
    return {"namespace": "lab", "name": name, "pool": pool, "provider": "proxmox", "host": host, "node": name if phase == "Ready" else "",
            "size": f"{size[0]}c/{size[1] // 1024}Gi", "cpuCores": size[0], "memoryMiB": size[1], "phase": phase,
            "stages": stages(*lasted, since=since), **more}


def provider(name, claims, hosts, **more):
    found = []
    for host, cores, memory, others in hosts:
        ours = [c for c in claims if c["host"] == host]
        found.append({"name": host, "online": True, "evacuating": False, "message": "", "cpuCores": cores, "memoryMiB": memory,
                      "freeCPUCores": max(0, 4 * cores - 1 - sum(c["cpuCores"] for c in ours)), "freeMemoryMiB": max(0, memory - others - sum(c["memoryMiB"] for c in ours)),
                      "machines": [{"claim": c["name"], "phase": c["phase"], "cpuCores": c["cpuCores"], "memoryMiB": c["memoryMiB"]} for c in ours]})
    return {"namespace": "lab", "name": name, "type": "proxmox", "ready": "True", "reason": "Ready", "message": "", "version": "9.1.2",
            "machines": len([c for c in claims if c["provider"] == name]), "hosts": found, **more}


def pool(name, claims, most=24, **more):
    mine = [c for c in claims if c["pool"] == name]
    return {"namespace": "lab", "name": name, "provider": "proxmox", "ready": "True", "reason": "Ready", "message": "", "reconciling": False,
            "limits": {"minNodes": 1, "maxNodes": most, "cpuCores": 0, "memoryMiB": most * 8192},
            "used": {"nodes": len(mine), "cpuCores": sum(c["cpuCores"] for c in mine), "memoryMiB": sum(c["memoryMiB"] for c in mine)},
            "readyNodes": len([c for c in mine if c["phase"] == "Ready"]),
            "pendingNodes": len([c for c in mine if c["phase"] in ("Launching", "Registering", "Initializing")]), **more}


def document(claims, troubles=(), **more):
    hosts = [("ford", 16, 65536, 6144), ("fiat", 16, 65536, 20480), ("saab", 32, 131072, 12288)]
    waiting = sum(t["count"] for t in troubles if t["kind"] == "pod")
    return {"apiVersion": "cli.kubenodesmith.parawell.cloud/v1alpha1", "kind": "StatusPage", "time": at(), "program": "kubenodesmith 0.1.0",
            "notes": [], "managedNamespaces": "", "counts": {"nodes": len(claims) + 3, "pods": 2140, "waitingPods": waiting, "claims": len(claims)},
            "troubles": list(troubles),
            "controlPlanes": [{"namespace": "lab", "name": "main", "mode": "Active", "ready": "True", "reason": "Ready", "message": "",
                               "pools": 2, "nodes": len(claims), "readyNodes": len(claims)}],
            "providers": [provider("proxmox", claims, hosts)], "pools": [pool("workers", claims), pool("gpu", claims, 4)],
            "hosts": [], "claims": claims, "stays": [], "decisions": [], "history": history(len([c for c in claims if c["node"]]), troubles), **more}


def small():
    return document([claim(i, host=("ford", "fiat")[i], since=3600 * (i + 2)) for i in range(2)])


def well():
    return document([claim(i, host=("ford", "fiat", "saab")[i % 3], since=3600 * (i + 2)) for i in range(9)])


def troubled():
    """A cluster on a bad day, with something in each section."""
    claims = [claim(1, "Launching", "saab", 9, waitsFor={"reason": "Cloning", "message": "the clone of template 9000 is under way, 40 %"}),
              claim(2, "Registering", "ford", 45, waitsFor={"reason": "WaitingForNode", "message": "the machine runs since 31 s and has not joined yet"}),
              claim(3, "Failed", "fiat", 1900, size=(8, 16384), pool="gpu", waitsFor={"reason": "JoinTimeout", "message": "the machine fetched its boot data but never joined"}),
              claim(4, "Draining", "fiat", 90000, leavingSince=at(seconds=75), waitsFor={"reason": "BudgetExhausted", "message": "PodDisruptionBudget shop/web allows no further eviction"}),
              *(claim(i, host=("ford", "fiat", "saab", "saab")[i % 4], since=4000 * (i + 1)) for i in range(5, 16))]
    for each in claims:
        each.setdefault("leavingSince", None)
    troubles = [
        {"kind": "provider", "reason": "StorageLow", "message": "storage local-lvm on host fiat has 4 % left; no machine is placed there",
         "since": at(minutes=52), "count": 1, "objects": [{"namespace": "lab", "name": "proxmox"}]},
        {"kind": "claim", "reason": "JoinTimeout", "message": "the machine fetched its boot data but never joined; see its console on host fiat",
         "since": at(minutes=16), "count": 1, "objects": [{"namespace": "lab", "name": claims[2]["name"]}]},
        {"kind": "pod", "reason": "Unschedulable", "message": "0/18 nodes are available: 18 Insufficient nvidia.com/gpu.", "since": at(minutes=31), "count": 21,
         "objects": [{"namespace": "train", "name": f"resnet-{i}"} for i in range(21)]},
        {"kind": "pod", "reason": "Unschedulable", "message": "0/18 nodes are available: 3 node(s) had untolerated taint(s), 15 Insufficient memory.", "since": at(seconds=48),
         "count": 6, "objects": [{"namespace": "shop", "name": f"web-5d8c7-{i}"} for i in range(6)]}]
    made = document(claims, troubles)
    made["pools"][1].update(ready="False", reason="BackingOff", message="two machines in a row never joined", failures=2, nextRetry=(NOW + timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%SZ"))
    made["pools"][0].update(lastScaleUp=at(seconds=45), lastScaleDown=at(hours=5))
    made["providers"][0]["hosts"][1].update(message="storage local-lvm has 4 % left")
    made["providers"].append({**provider("racks", [], []), "type": "redfish", "version": "", "machines": 1})
    made["hosts"] = [{"namespace": "lab", "name": "anvil", "provider": "racks", "ready": "True", "phase": "InUse", "power": "On", "model": "Dell PowerEdge R660",
                      "cpuCores": 64, "memoryMiB": 524288, "claim": claims[5]["name"], "reason": "", "message": ""},
                     {"namespace": "lab", "name": "bellows", "provider": "racks", "ready": "True", "phase": "Available", "power": "Off", "model": "Dell PowerEdge R660",
                      "cpuCores": 64, "memoryMiB": 524288, "claim": "", "reason": "", "message": ""}]
    made["stays"] = [{"node": claims[6]["name"], "kind": "Underutilized", "reason": "LocalVolume", "message": "pod shop/db has a volume that exists on this node only"}]
    made["decisions"] = [{"time": at(seconds=9), "warning": False, "about": f"NodeSmithClaim lab/{claims[0]['name']}", "reason": "Created",
                          "message": "a machine with 4 CPUs and 8192 MiB is launched for pods shop/web-5d8c7-0, shop/web-5d8c7-1", "count": 1},
                         {"time": at(minutes=16), "warning": True, "about": f"NodeSmithClaim lab/{claims[2]['name']}", "reason": "JoinTimeout",
                          "message": "the machine never joined; it is shut down and kept for inspection", "count": 2}]
    return made


def large(count=500):
    """A cluster with many claims, of which all hosts are full."""
    claims = [claim(i, ("Ready", "Ready", "Ready", "Registering")[i % 4], f"host-{i % 40:02}", 100 * i + 60, (2, 4096)) for i in range(count)]
    made = document(claims, [{"kind": "pod", "reason": "Unschedulable", "message": f"0/500 nodes are available: {n} Insufficient cpu, {500 - n} Insufficient memory.",
                              "since": at(minutes=n), "count": 50, "objects": [{"namespace": "batch", "name": f"job-{n}-{i}"} for i in range(50)]} for n in range(40)])
    made["providers"] = [provider("proxmox", claims, [(f"host-{i:02}", 64, 65536, 2048) for i in range(40)])]
    return made
