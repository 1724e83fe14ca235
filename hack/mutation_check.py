#!/usr/bin/env python3
"""Breaks the operator on purpose, one way at a time, and shows that the simulation notices.

Works on a copy of the sources (build/mutation), never on yours. Each mutation replaces one piece of text that
must occur exactly once, so that a mutation whose code has changed is noticed and not skipped. Prints a table in
Markdown (docs/simulation.md) and exits with 1 if a mutation survives.

    hack/mutation_check.py [--only NAME]... [--seeds N] [--start S] [--table FILE]
"""
import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutation" / "source"
TREE = ROOT / "build" / "mutation" / "tree"


@dataclasses.dataclass
class Mutation:
    name: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation("skip the ownership check when destroying", "providers/proxmox/remove_step.cpp",
             "        case Ownership::foreign:\n"
             "            return decide(seen.searched_elsewhere ? RemoveStep::gone : RemoveStep::search_elsewhere);\n"
             "        case Ownership::contradictory:\n            break;",
             "        case Ownership::foreign:\n        case Ownership::contradictory:\n"
             "            return for_our_machine(seen);"),
    Mutation("ignore a task's exit status", "providers/proxmox/task_status.cpp",
             "status.outcome = TaskOutcome::failed;", "status.outcome = TaskOutcome::succeeded;"),
    Mutation("report Launched before the machine exists", "controllers/claim/launch.cpp",
             "set(status, conditions::kLaunched, ConditionStatus::False, reasons::kLaunching,\n"
             "            where + \" is about to be made\", s.now);",
             "set(status, conditions::kLaunched, ConditionStatus::True, reasons::kLaunched,\n"
             "            where + \" is about to be made\", s.now);"),
    Mutation("call a machine gone while its removal is under way", "controllers/claim/cleanup.cpp",
             "set(status, conditions::kMachineDeleted, ConditionStatus::False, reasons::kDeleting, busy->message,\n"
             "            s.now);",
             "set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kDeleting, busy->message,\n"
             "            s.now);"),
    Mutation("drop the finalizer when the provider refuses", "controllers/claim/cleanup.cpp",
             "set(status, conditions::kMachineDeleted, ConditionStatus::False, blocked->reason, blocked->message,\n"
             "            s.now);",
             "set(status, conditions::kMachineDeleted, ConditionStatus::True, blocked->reason, blocked->message,\n"
             "            s.now);"),
    Mutation("forget the ledger of limits", "controllers/ledger.cpp",
             "        auto hit = admits(pool.limits, pool.used, machine);\n"
             "        if (!hit) hit = admits(control_plane.limits, control_plane.used, machine);",
             "        std::optional<LimitHit> hit;"),
    Mutation("start the next attempt before the last machine is gone", "controllers/claim/lifecycle.cpp",
             "        again.look_again = again.status.nextRetryTime;\n        return decide_cleanup(s, again);",
             "        again.look_again = again.status.nextRetryTime;\n        return again;"),
    Mutation("remove nodes without draining them", "controllers/claim/cleanup.cpp",
             "    if (progress.done && settled) {", "    if (settled || !settled) {"),
    Mutation("delete pods instead of evicting them", "controllers/drain.cpp",
             "    for (const auto& pod : plan.evict) co_await evict(pod, progress);",
             "    for (const auto& pod : plan.evict)\n"
             "        co_await kill(pod, api::Time(clock_.wall_now() + std::chrono::seconds{30}));\n"
             "    for (const auto& pod : plan.evict) progress.waiting.push_back(name_of(*pod));"),
    Mutation("know Nodes by their name", "controllers/claim/identity.cpp",
             "    if (!uuid.empty() && !status.systemUUID.empty()) return same_uuid(uuid, status.systemUUID);",
             "    if (!uuid.empty() && !status.systemUUID.empty())\n"
             "        return same_uuid(uuid.substr(1, 34), status.systemUUID.substr(1, 34));"),
    Mutation("never collect orphans", "controllers/garbage_collection.cpp",
             "            if (overdue) co_await remove(object, backend, machine);", "            (void)overdue;"),
    Mutation("forget what was bought for a pod", "controllers/provisioning/predictions.hpp",
             "inline constexpr int kMostPurchasesPerHour = 3;", "inline constexpr int kMostPurchasesPerHour = 1000;"),
    Mutation("log the bootstrap token", "controllers/claim/boot_data.cpp",
             "        auto request = co_await join_request(std::move(placed));",
             "        auto request = co_await join_request(std::move(placed));\n"
             "        base::log::info(\"Joining\", {{\"token\", request.token.text()}});"),
    Mutation("write a status on each pass", "controllers/control_plane_status.cpp",
             "    if (status != facts.object.status) status.lastSyncTime = now;", "    status.lastSyncTime = now;"),
    Mutation("say nothing about pods that get no node", "controllers/provisioning/announcements.cpp",
             "        announcer_.say(kube::target_of(*unplaced.pod), kube::EventType::warning, \"NoNodeForPod\",\n"
             "                       \"no node can be bought for the pod: \" + joined(unplaced.reasons));",
             "        (void)unplaced;"),
    Mutation("wait for ever for a machine that never joins", "controllers/claim/registration.cpp",
             "    if (deadline <= s.now) {\n        return give_up(s, reasons::kRegistrationTimeout,",
             "    if (deadline.at.time_since_epoch().count() == 1) {\n"
             "        return give_up(s, reasons::kRegistrationTimeout,"),
    Mutation("delete the Node before its machine is gone", "controllers/claim/cleanup.cpp",
             "    if (!status.machineID.empty() && !removal_ended(status)) {",
             "    if (s.node && service) return {Step::delete_node, status, std::nullopt};\n"
             "    if (!status.machineID.empty() && !removal_ended(status)) {"),
    Mutation("remove as many nodes at once as are empty", "controllers/disruption/blocks.cpp",
             "    if (most > 0 && facts.leaving >= most)", "    if (most > 0 && facts.leaving >= 1000 * most)"),
    Mutation("forget which VMID was chosen", "controllers/claim/launch.cpp",
             "    status.machineID = machine.record.machine_id;",
             "    if (machine.state != providers::MachineState::placed) status.machineID = machine.record.machine_id;"),
]


def run(command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **options)


def copy_sources():
    """The files that git tracks, as they are in the working tree; unchanged ones keep their time and are not rebuilt."""
    listed = run(["git", "-C", ROOT, "ls-files", "-z"]).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for old in COPY.rglob("*"):
        if old.is_file() and old.relative_to(COPY).as_posix() not in wanted:
            old.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def build():
    if not (TREE / "build.ninja").exists():
        configured = run(["cmake", "--preset", "release", "-B", TREE], cwd=COPY)
        if configured.returncode:
            sys.exit(configured.stdout + configured.stderr)
    return run(["ninja", "-C", TREE, "bin/simulation"])


def simulate(seeds, start):
    return run([TREE / "bin" / "simulation", "--seeds", seeds, "--start", start, "--violations", 3])


def judge(mutation, seeds, start):
    """What the simulation says of the mutated operator: (caught, by which invariants, after how many seeds)."""
    path = COPY / mutation.file
    original = path.read_text()
    if original.count(mutation.old) != 1:
        return False, f"the text to replace occurs {original.count(mutation.old)} times", 0
    path.write_text(original.replace(mutation.old, mutation.new))
    try:
        built = build()
        if built.returncode:
            return False, "does not compile: " + built.stdout[-600:], 0
        result = simulate(seeds, start)
    finally:
        path.write_text(original)
    found = re.findall(r"^seed (\d+): ([^:]+):", result.stdout, re.M)
    if result.returncode == 0:
        return False, "survived", seeds
    if not found:
        return True, "the program ended: " + (result.stderr.strip().splitlines() or ["?"])[-1][:80], 0
    names = sorted({name for _, name in found})
    return True, ", ".join(names), int(found[0][0]) - start + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="mutations whose name contains this")
    parser.add_argument("--seeds", type=int, default=300, help="at most so many for each mutation")
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--table", type=pathlib.Path, help="write the table to this file as well")
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if not args.only or any(part in m.name for part in args.only)]
    copy_sources()
    if build().returncode:
        sys.exit("the unchanged sources do not build")
    sound = simulate(args.seeds, args.start)
    if sound.returncode:
        sys.exit("the unchanged operator violates invariants:\n" + sound.stdout[-2000:])
    lines = ["| mutation | in | caught by | seeds needed |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    survivors = 0
    for mutation in chosen:
        began = time.monotonic()
        caught, by, needed = judge(mutation, args.seeds, args.start)
        survivors += not caught
        lines.append(f"| {mutation.name} | {mutation.file} | {by if caught else '**' + by + '**'} | {needed} |")
        print(lines[-1], f"<!-- {time.monotonic() - began:.0f} s -->", flush=True)
    if args.table:
        args.table.write_text("\n".join(lines) + "\n")
    print(f"{len(chosen) - survivors} of {len(chosen)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
