#!/usr/bin/env python3
"""Measures how often `kubenodesmith plan` and the kube-scheduler's filter plugins disagree.

agreement.py [--clusters N] [--first SEED] [--releases newest previous]

Each cluster is a frozen state. `plan` and the plugins (test/controlplane/cmd/schedulerfilters) judge the same objects. The
rates: pods that get a machine although a Node takes them, pods that are placed where the plugins refuse them, pods that get nothing
although a new machine of a pool would take them, and pods whose machine has no room for a DaemonSet although a larger one has.
The plugins are those of the newest Kubernetes, and those of the minor version before it."""

import argparse
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from clusters import ZONES, Cluster  # noqa: E402

ROOT = HERE.parents[2]
RATES = {"needless": "get a machine although a Node takes them", "misplaced": "are placed where the plugins refuse them",
         "wronglyRefused": "get nothing although a new machine would take them",
         "crowded": "get a machine without room for a DaemonSet, although a larger one has room for all",
         "misled": "get the reason that no host has room, although all have"}
# The hosts of these clusters are larger than all pods together.
NO_ROOM = ("no host has room", "no host that suits the pod")
# The plugins of the default profile that can refuse a pending pod for a node of these clusters. NodeName refuses only pods that name
# a node, which are never pending.
PLUGINS = {"NodeDeclaredFeatures", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits",
           "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources"}


# Which plugins judge, and the folder whose go.mod pins them.
RELEASES = {"newest": ROOT / "test/controlplane", "previous": ROOT / "test/controlplane/previous"}


def judge_program(release):
    name = "schedulerfilters" if release == "newest" else f"schedulerfilters-{release}"
    given = Path(os.environ.get("CONTROLPLANE_BIN", "")) / name
    return given if given.is_file() else ROOT / "build/controlplane/bin" / name


def version_of(release):
    """Returns the Kubernetes version that the release pins."""
    lines = (RELEASES[release] / "go.mod").read_text().splitlines()
    return next(words[1] for words in map(str.split, lines) if words[:1] == ["k8s.io/kubernetes"])


class Judge:
    """Asks the plugins. The program runs until the judge is closed."""

    def __init__(self, release):
        self.process = subprocess.Popen([judge_program(release)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        verdict = json.loads(self.process.stdout.readline())
        if verdict.get("error"):
            raise RuntimeError(verdict["error"])
        return verdict


def plan_of(cluster):
    program = Path(os.environ["KUBENODESMITH_BIN"]) / "kubenodesmith"
    answer = subprocess.run([program, "plan", "-f", "-", "-o", "json"], capture_output=True, text=True,
                            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster.objects}))
    if answer.returncode not in (0, 1):
        raise RuntimeError(answer.stderr)
    return json.loads(answer.stdout)


def question_of(cluster, plan):
    """Returns what the plugins are asked about the plan."""
    objects = [o for o in cluster.objects if "kubenodesmith" not in o["apiVersion"]] + cluster.room_of_new_machines()
    question = {"objects": objects, "machines": [], "onNodes": [], "onMachines": [],
                "refused": [], "templates": list(cluster.templates())}
    for i, machine in enumerate(plan["launches"]):
        name, pool = f"planned-{i}", machine["pool"].split("/")[1]
        # A machine without a zone may be in any of them.
        zone = machine["zone"] or cluster.random.choice(ZONES)
        question["machines"].append(cluster.machine(name, pool, zone, machine["cpuCores"], machine["memoryMiB"]))
        question["onMachines"] += [{"pod": pod, "node": name} for pod in machine["pods"]]
    for pod in plan["pods"]:
        if not pod["node"]:
            question["refused"].append(pod["pod"])
        elif pod["pod"] not in {placement["pod"] for placement in question["onMachines"]}:
            question["onNodes"].append({"pod": pod["pod"], "node": pod["node"]})
    return question


def crowded(cluster, plan):
    """Returns pods of machines on which a DaemonSet has no room, although the pool's largest machine has room for all."""
    found = []
    for machine in plan["launches"]:
        pool, zone = machine["pool"].split("/")[1], machine["zone"] or ZONES[0]
        pods = [o for o in cluster.objects if o["kind"] == "Pod" and f"{o['metadata']['namespace']}/{o['metadata']['name']}" in machine["pods"]]
        made = cluster.machine("planned", pool, zone, machine["cpuCores"], machine["memoryMiB"])
        if pods and cluster.is_crowded(made, pods) and not cluster.is_crowded(cluster.largest_machine(pool, zone), pods):
            found.append({"pod": machine["pods"][0], "node": f"a machine of pool {pool} with {machine['cpuCores']} CPUs"})
    return found


def measure(seeds, release, tell=lambda text: None):
    """Returns the figures: pods judged, disagreements by rate (as texts), and refusals by plugin."""
    total, refusals, found = collections.Counter(), collections.Counter(), {rate: [] for rate in RATES}
    with Judge(release) as judge:
        for seed in seeds:
            cluster = Cluster(seed)
            plan = plan_of(cluster)
            question = question_of(cluster, plan)
            verdict = judge.ask(question)
            if verdict["version"] != version_of(release):
                raise RuntimeError(f"{judge_program(release)} has the plugins of {verdict['version']}, not of {version_of(release)}")
            total.update(clusters=1, pods=verdict["judged"], on_nodes=len(question["onNodes"]), on_machines=len(question["onMachines"]),
                         refused=len(question["refused"]), left_out=len(cluster.pending) - verdict["judged"])
            refusals.update(verdict["refusals"])
            reasons = {pod["pod"]: "; ".join(pod["reasons"]) for pod in plan["pods"]}
            verdict["misled"] = [{"pod": pod, "node": "none"} for pod, text in reasons.items() if any(words in text for words in NO_ROOM)]
            verdict["crowded"] = crowded(cluster, plan)
            for rate, texts in found.items():
                for finding in verdict[rate] or []:
                    text = f"seed {seed}: pod {finding['pod']} and {finding['node']}: {finding.get('plugin', '')} {finding.get('message', '')}" \
                        f" {reasons.get(finding['pod'], '')}"
                    texts.append(text)
                    tell(f"{rate}: {text}")
    return total, found, refusals


def table_of(total, found, refusals):
    lines = [", ".join(f"{key} {value}" for key, value in total.items())]
    lines += [f"{len(texts)} pods ({100 * len(texts) / max(1, total['pods']):.3f} %) {RATES[rate]}" for rate, texts in found.items()]
    lines.append("refusals by plugin: " + ", ".join(f"{name} {count}" for name, count in sorted(refusals.items())))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", nargs="+", choices=RELEASES, default=list(RELEASES), help="whose plugins judge")
    parser.add_argument("--clusters", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--question", action="store_true", help="print the question of the first seed and end")
    given = parser.parse_args()
    if given.question:
        cluster = Cluster(given.first)
        print(json.dumps(question_of(cluster, plan_of(cluster))))
        return 0
    status = 0
    for release in given.releases:
        print(f"plugins of {version_of(release)}, seeds {given.first} to {given.first + given.clusters - 1}", flush=True)
        total, found, refusals = measure(range(given.first, given.first + given.clusters), release, print)
        print(table_of(total, found, refusals))
        missing = sorted(name for name in PLUGINS if refusals[name] < 100)
        if missing:
            print("refused less than 100 times:", ", ".join(missing))
        if missing or any(found.values()):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
